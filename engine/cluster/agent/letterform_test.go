package agent

import (
	"errors"
	"slices"
	"testing"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
)

// A letter is taken if all that it says can be: one item that cannot be read, or whose URL has another normal form, and
// nothing of it counts.
func TestALetterIsReadBeforeItCounts(t *testing.T) {
	p := &agent{sites: &sites.Table{Rules: site.NewRulesPool(0)}}
	link := func(url string) []byte { return queued.Append([]byte{letterLink}, &queued.URL{Rest: []byte(url)}) }
	good := [][]byte{link("http://a.example/"), link("https://www.b.example:8443/c?d=e"),
		link("http://a.example/%C3%A9")}
	letter := func(items ...[]byte) (b []byte) {
		for _, item := range items {
			b = outbox.AppendItem(b, item)
		}
		return b
	}
	if err := p.readLetter(letter(good...)); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"dots": link("http://a.example/b/../c"), "no path": link("http://a.example"),
		"capitals":            link("http://A.example/"),
		"a port that is none": link("http://a.example:80/"),
		"a scheme":            link("ftp://a.example/"), "a fragment": link("http://a.example/#b"),
		"nothing": link(""),
		"a path":  link("/b"), "no item": {}, "another kind": []byte("Xabc"),
		"half an item": link("http://a.example/")[:3], "a robots.txt": queued.Append([]byte{letterLink},
			&queued.URL{Rest: []byte("/robots.txt"), RobotsOf: []byte("http://a.example")}),
	} {
		for at := range len(good) + 1 {
			if err := p.readLetter(letter(slices.Insert(slices.Clone(good), at, bad)...)); !errors.Is(err,
				cluster.ErrMalformed) {
				t.Errorf("%s, item %d: %v", name, at, err)
			}
		}
	}
	if err := p.readLetter(append(letter(good...), 200)); !errors.Is(err, cluster.ErrMalformed) {
		t.Errorf("a letter that ends within an item: %v", err)
	}
}
