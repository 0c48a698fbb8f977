package quality

import (
	"path"
	"testing"

	"orbweaver/derive/derivetest"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// The seeds of a crawl directory are whole lines of its two lists. What is no crawl directory has none.
func TestProduct_addsSeeds(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll(path.Join("crawl", layout.FrontierDir)); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		layout.SeedsFile: "http://a.test/\nhttp://b.test/\n", layout.AddedSeeds: "http://c.test/\nhttp://d.te",
	} {
		derivetest.Put(t, fsys, path.Join("crawl", name), []byte(text))
	}
	p := New(fsys, "temporary")
	for _, name := range []string{"crawl", "elsewhere"} {
		if err := p.AddSeeds(name); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.seeds) != 3 || p.seeds[2] != fingerprint(p.seed, []byte("http://c.test/")) {
		t.Errorf("%d seeds", len(p.seeds))
	}
}
