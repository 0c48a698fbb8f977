package admission

import (
	"fmt"
	"testing"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
	"orbweaver/sieve/fpcache"
)

// A page whose links are all known passes admission without an allocation, also in a crawl of several agents.
func TestFrontier_knownLinksAllocateNothing(t *testing.T) {
	scope, err := filter.CompileScope(filter.All, new(filter.Seeds))
	if err != nil {
		t.Fatal(err)
	}
	f := &Frontier{
		Router: cluster.Alone{}, Views: cluster.Alone{}.Views(),
		Rules: Rules{Scope: scope, MaxDepth: -1, MaxURL: urlx.LengthMax},
		Cache: fpcache.New(1<<16, 1), Counters: new(counters.Live),
		HostRules: new(settings.HostRules),
	}
	var links []byte
	for i := range 20 {
		url := fmt.Appendf(nil, "https://www.site%d.example/page.html", i)
		links = journal.AppendLink(links, parse.Anchor, url)
		f.Cache.Put(urlx.Fingerprint(f.HashSeed, url))
	}
	d, page := new(Scratch), queued.URL{Rest: []byte("https://www.site.example/")}
	add := func() {
		if _, err := f.AddAll(d, links, page); err != nil {
			t.Fatal(err)
		}
	}
	add() // the scratch grows
	if n := testing.AllocsPerRun(100, add); n != 0 {
		t.Errorf("%v allocations for a page", n)
	}
	if n := f.Counters.DroppedCache.Load(); n%20 != 0 || n == 0 {
		t.Errorf("%d links were known", n)
	}
}
