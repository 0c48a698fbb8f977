package changes

import (
	"testing"

	"orbweaver/engine/frontier/admission"
	"orbweaver/internal/options"
	"orbweaver/internal/urlx"
)

// A change of --strip-params leaves --normal-form as it is.
func TestSetStripParams_keepsTheForm(t *testing.T) {
	for _, form := range []urlx.Form{urlx.WHATWG, urlx.Sorted} {
		of := admission.Options{NormalForm: form, StripParams: []string{"x"}}
		d := &draft{}
		d.pages.Links.Strip = of.Params()
		for _, names := range []string{"sid,utm_*", "", "sid"} {
			setting, _ := options.Find(&of, "strip-params")
			if err := setting.Set(names); err != nil {
				t.Fatal(err)
			}
			if err := setStripParams(d, setting); err != nil {
				t.Fatal(err)
			}
			strip := d.pages.Links.Strip
			if (strip == nil) != (names == "" && form == urlx.WHATWG) || strip != nil && strip.Form() != form {
				t.Errorf("%v with %q: %+v", form, names, strip)
			}
			if strip != nil && strip.Has([]byte("sid")) != (names != "") {
				t.Errorf("%v with %q: %+v", form, names, strip)
			}
		}
	}
}
