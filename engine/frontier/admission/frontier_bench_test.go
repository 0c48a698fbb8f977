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

// The checks of a page's twenty links, sixteen of them to its own host, before the cache is asked.
func BenchmarkChecks(b *testing.B) {
	seeds := new(filter.Seeds)
	pages := make([][]byte, 1024)
	for i := range pages {
		host := i * 7919 % 200_000
		if err := seeds.Add(fmt.Appendf(nil, "https://www.site%d.example/", host)); err != nil {
			b.Fatal(err)
		}
		for k := range 20 {
			if k%5 == 4 {
				host = (i*20 + k) * 104729 % 200_000
			}
			pages[i] = journal.AppendLink(pages[i], parse.Anchor,
				fmt.Appendf(nil, "https://www.site%d.example/archive/2004/section-%d/page.html", host, k))
		}
	}
	for _, n := range []int{0, 100_000, 1_000_000} {
		for _, what := range []string{"all", "domain", "in_domain && depth < 5", "exclude-hosts", "surts",
			"extensions"} {
			lists := benchLists(b, what, n)
			if (n > 0) != (lists != nil && lists.ExcludeExtensions == nil) {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", what, n), func(b *testing.B) { benchChecks(b, what, seeds, lists, pages) })
		}
	}
}

// benchLists makes a list of n rules; half of them are about hosts that links lead to; nil for a scope.
func benchLists(b *testing.B, what string, n int) *filter.Lists {
	b.Helper()
	l := new(filter.Lists)
	rules := filter.Rules{Lines: make([]int, n)}
	var err error
	switch what {
	case "exclude-hosts":
		for i := range n {
			rules.Texts = append(rules.Texts, fmt.Sprintf(".site%d.example", i*2))
		}
		l.ExcludeHosts, err = filter.CompileHosts(rules)
	case "surts":
		for i := range n {
			rules.Texts = append(rules.Texts, fmt.Sprintf("-http://(example,site%d,www,)/private/", i*2))
		}
		l.SURTs, err = filter.CompileSURTs(rules)
	case "extensions":
		l.ExcludeExtensions, err = filter.CompileExtensions([]string{"jpg", "png", "gif", "mp4", "zip"})
	default:
		return nil
	}
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func benchChecks(b *testing.B, what string, seeds *filter.Seeds, lists *filter.Lists, pages [][]byte) {
	b.Helper()
	text := what
	if lists != nil {
		text = filter.All
	}
	scope, err := filter.CompileScope(text, seeds)
	if err != nil {
		b.Fatal(err)
	}
	f := &Frontier{
		Router: cluster.Alone{}, Views: cluster.Alone{}.Views(),
		Rules: Rules{Scope: scope, Lists: lists, MaxDepth: -1, MaxURL: urlx.LengthMax},
		Cache: fpcache.New(1<<16, 1), Counters: new(counters.Live), HostRules: new(settings.HostRules),
	}
	var d Scratch
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.begin(&d)
		if err := journal.EachLink(pages[i%len(pages)],
			func(_ parse.Kind, url []byte) { f.check(&d, url, &queued.URL{Depth: 1}) }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20, "ns/link")
}
