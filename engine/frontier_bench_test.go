package engine

import (
	"fmt"
	"testing"

	"orbweaver/engine/filter"
	"orbweaver/sieve/fpcache"
)

// What the door asks of a page's twenty links, before it looks whether they are known.
func BenchmarkDoorChecks(b *testing.B) {
	scope, err := filter.CompileScope("all", nil)
	if err != nil {
		b.Fatal(err)
	}
	var links []byte
	for i := range 20 {
		links = appendLink(links, fmt.Appendf(nil, "https://www.site%d.example/archive/2004/section-%d/page.html", i%5, i))
	}
	f := &Frontier{scope: scope, maxDepth: -1, cache: fpcache.New(1<<16, 1), n: new(counters)}
	var d door
	b.ReportAllocs()
	for b.Loop() {
		d.begin()
		if err := eachLink(links, func(url []byte) { f.check(&d, url, &Item{Depth: 1}) }); err != nil {
			b.Fatal(err)
		}
	}
}
