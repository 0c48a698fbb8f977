package testbed

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"orbweaver/derive"
	"orbweaver/derive/centrality"
	"orbweaver/derive/quality"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/visits"
	"orbweaver/internal/vfs"
)

// Order measures the order of visits of the crawl whose directory is a disk.
func Order(t *testing.T, disk vfs.FS) *quality.Report {
	t.Helper()
	const scratch = "order-of-visits"
	product := quality.New(disk, scratch)
	if err := product.AddSeeds("crawl"); err != nil {
		t.Fatal(err)
	}
	_, err := derive.Run(t.Context(), disk, []string{"crawl"}, derive.Options{
		Dir: scratch, Products: []derive.Product{product}, Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := product.Crawl().Measure(t.Context(), func(int) {})
	if err := errors.Join(err, product.Crawl().Close()); err != nil {
		t.Fatal(err)
	}
	return r
}

// OrderOfAll measures the order of requests that the servers saw, by all pages of the web.
func OrderOfAll(t *testing.T, rig *Rig) *quality.Report {
	t.Helper()
	r, err := visits.Measure(t.Context(), rig.World, rig.Log, rig.Seeds)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// FirstFifth is what the first fifth of the pages of a skewed web has: of the PageRank of all pages but those of spam
// farms, whose rank is 0, and of the pages of farms. The value of each field is between 0 and 1, or a number of pages.
type FirstFifth struct {
	Visited, BreadthFirst, Omniscient   float64
	VisitedOfFarms, BreadthFirstOfFarms int
}

// Gain is 0 for breadth-first, and 1 for the order by falling rank.
func (f *FirstFifth) Gain() float64 {
	return (f.Visited - f.BreadthFirst) / (f.Omniscient - f.BreadthFirst)
}

// Graph is what seeds reach on a web without faults.
type Graph struct {
	URLs       []string       // in breadth-first order
	Numbers    map[string]int // the place of each URL
	Hosts      []int          // of each URL
	Successors [][]uint32     // of each URL, each once, by number
}

// GraphOf walks the model of a web.
func GraphOf(t *testing.T, m *simweb.Model, seeds []string) *Graph {
	t.Helper()
	g := &Graph{Numbers: map[string]int{}}
	number := func(url string) uint32 {
		if _, known := g.Numbers[url]; !known {
			g.Numbers[url] = len(g.URLs)
			g.URLs = append(g.URLs, url)
		}
		return uint32(g.Numbers[url])
	}
	for _, seed := range seeds {
		number(seed)
	}
	for n := 0; n < len(g.URLs); n++ {
		target, ok := m.Find(g.URLs[n])
		if !ok {
			t.Fatalf("the web has no %s", g.URLs[n])
		}
		h := m.HostAt(int(target.Host))
		page := h.PageAt(int(target.Page))
		var to []uint32
		for _, l := range h.AppendLinks(nil, target, &page) {
			to = append(to, number(string(m.AppendURL(nil, l.Target))))
		}
		slices.Sort(to)
		g.Hosts, g.Successors = append(g.Hosts, h.Index), append(g.Successors, slices.Compact(to))
	}
	return g
}

// MeasureFifth compares visits with breadth-first order from the seeds, by the truth of the model.
func MeasureFifth(t *testing.T, m *simweb.Model, seeds, visits []string) (f FirstFifth) {
	t.Helper()
	g := GraphOf(t, m, seeds)
	urls, numbers := g.URLs, g.Numbers
	each := func(_ context.Context, f func(int64, []uint32)) error {
		for n, to := range g.Successors {
			f(int64(n), to)
		}
		return nil
	}
	ranks, err := centrality.PageRank(t.Context(), int64(len(urls)), each, centrality.Options{
		OnRound: func(string, int, float64) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	isOfFarm := func(url string) bool { return strings.Contains(url, ".farm") }
	sum, fifth := 0.0, len(urls)/5
	for n, url := range urls {
		if isOfFarm(url) {
			ranks[n] = 0
		}
		sum += ranks[n]
	}
	count := func(order []string, part *float64, farms *int) {
		for _, url := range order[:fifth] {
			*part += ranks[numbers[url]] / sum
			if isOfFarm(url) {
				*farms++
			}
		}
	}
	count(visits, &f.Visited, &f.VisitedOfFarms)
	count(urls, &f.BreadthFirst, &f.BreadthFirstOfFarms)
	slices.SortFunc(ranks, func(a, b float64) int { return cmp.Compare(b, a) })
	for _, rank := range ranks[:fifth] {
		f.Omniscient += rank / sum
	}
	return f
}
