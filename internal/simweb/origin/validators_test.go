package origin

import (
	"testing"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/content"
)

// A page with validators is 304 to a client that has it, and whole to a client that has an older one.
func TestValidators_knowWhatHasChanged(t *testing.T) {
	world := func(edition int) *Web {
		c := simweb.Plain()
		c.Hosts, c.Validators, c.Changing, c.Edition = 30, 0.9, 0.3, edition
		w, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	old, now := world(0), world(2)
	counts := map[string]int{}
	for i := range 30 {
		h, later := old.HostAt(i), now.HostAt(i)
		for p := range min(h.Pages, 20) {
			at := simweb.Target{Host: int32(i), Kind: simweb.KindPage, Page: uint32(p)}
			f := h.PageAt(p)
			was, is := validatorsOf(&h, at, &f, false), validatorsOf(&later, at, &f, false)
			before, _ := old.writer.AppendPayload(nil, new(content.Document), at, false)
			after, _ := now.writer.AppendPayload(nil, new(content.Document), at, false)
			same := string(before) == string(after)
			q := request{ifNoneMatch: []byte(was.tag)}
			if !was.modified.IsZero() {
				q.ifModifiedSince = was.modified.AppendFormat(nil, dateForm)
			}
			switch {
			case was == validators{}:
				counts["none"]++
				if q.ifModifiedSince = time.Now().UTC().AppendFormat(nil, dateForm); is.met(&q) {
					t.Errorf("%d/%d is unchanged, and says nothing of itself", i, p)
				}
			case is.met(&q) != same || !was.met(&q):
				t.Errorf("%d/%d: %+v, then %+v; the same: %v", i, p, was, is, same)
			case same:
				counts["same"]++
			default:
				counts["changed"]++
			}
		}
	}
	if counts["none"] == 0 || counts["same"] == 0 || counts["changed"] == 0 {
		t.Error(counts)
	}
}
