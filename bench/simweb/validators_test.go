package simweb

import (
	"testing"
	"time"
)

// A page that says by what it is known again is 304 to who knows it, and whole to who knows an older one.
func TestValidators_knowWhatHasChanged(t *testing.T) {
	world := func(edition int) *World {
		c := Plain()
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
		h := old.hostAt(i)
		for p := range min(h.pages, 20) {
			at := target{host: int32(i), kind: kindPage, page: uint32(p)}
			f := old.pageAt(&h, p)
			was, is := old.validatorsOf(&h, at, &f, false), now.validatorsOf(&h, at, &f, false)
			before, _ := old.payload(nil, new(doc), at, false)
			after, _ := now.payload(nil, new(doc), at, false)
			same := string(before) == string(after)
			q := request{match: []byte(was.tag)}
			if !was.modified.IsZero() {
				q.since = was.modified.AppendFormat(nil, dateForm)
			}
			switch {
			case was == validators{}:
				counts["none"]++
				if q.since = time.Now().UTC().AppendFormat(nil, dateForm); is.met(&q) {
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
