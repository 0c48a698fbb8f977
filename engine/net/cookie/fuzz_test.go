package cookie

import (
	"net/http"
	"strings"
	"testing"
)

// What net/http reads of a field, which is what servers should send, is read, too; it treats spaces in its own way.
// Control characters never are.
func FuzzReadSetCookie(f *testing.F) {
	for _, field := range []string{
		"a=1; Path=/; Domain=.b.test; Secure; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:01 GMT",
		`a="x y"`, "=", "a", "a=\x00",
	} {
		f.Add(field)
	}
	isControl := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	noSpaces := strings.NewReplacer(" ", "", "\t", "")
	f.Fuzz(func(t *testing.T, field string) {
		got, ok := readSetCookie([]byte(field))
		if ok && strings.ContainsFunc(string(got.name)+string(got.value)+string(got.path)+string(got.domain), isControl) {
			t.Errorf("%q has become %+v", field, got)
		}
		want, err := http.ParseSetCookie(field)
		if err != nil || len(field) > attributeMax || strings.ContainsFunc(field, isControl) {
			return
		}
		value := want.Value
		if want.Quoted {
			value = `"` + value + `"`
		}
		if !ok || string(got.name) != want.Name || noSpaces.Replace(string(got.value)) != noSpaces.Replace(value) {
			t.Errorf("%q: %q=%q, %v; net/http reads %q=%q", field, got.name, got.value, ok, want.Name, value)
		}
		if want.Secure && !got.secure {
			t.Errorf("%q: not secure", field)
		}
	})
}
