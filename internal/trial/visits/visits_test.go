package visits

import (
	"math"
	"slices"
	"testing"
	"time"

	"orbweaver/derive/quality"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/origin"
)

// web is a small web with redirects and denied pages, and its seeds.
func web(t *testing.T) (w *origin.Web, seeds []string) {
	t.Helper()
	c := simweb.Faulty()
	c.Hosts, c.PagesPerHostMean, c.LinksMean = 40, 12, 6
	w, err := origin.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w, w.Seeds(3)
}

// measure measures requests for nodes, one after another. Each takes a second, unless another end is given.
func measure(t *testing.T, w *origin.Web, seeds []string, nodes []simweb.Target, end func(i int) int) *quality.Report {
	t.Helper()
	log, begin := w.NewLog(), time.Unix(1000, 0)
	log.Connect(begin)
	for i, target := range nodes {
		log.Add(&arrivals.Entry{
			Start: begin.Add(time.Duration(i) * time.Second), End: begin.Add(time.Duration(end(i)) * time.Second),
			Target: target, Status: 200, Flags: arrivals.FlagWhole,
		})
	}
	r, err := Measure(t.Context(), w, log, seeds)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A crawl in breadth-first order has the figures of breadth-first, as far as it went. A page that is asked for again
// counts once.
func TestMeasure_breadthFirst(t *testing.T) {
	w, seeds := web(t)
	all := walk(w, seeds).targets
	next := func(i int) int { return i + 1 }
	r := measure(t, w, seeds, append(slices.Clone(all), all[0]), next)
	if r.Unvisited != 0 || r.Documents < 300 || r.Requisites < 5 || r.Outside != 0 || r.Skew.Top < 0.01 {
		t.Errorf("%d pages, %d not visited, %d requisites, skew %+v", r.Documents, r.Unvisited, r.Requisites, r.Skew)
	}
	for _, f := range []quality.Figures{r.Figures, r.InDegree} {
		if f.Curves[quality.Visited] != f.Curves[quality.BreadthFirst] || f.Gain[quality.Visited] != 0 {
			t.Errorf("gain %v", f.Gain)
		}
	}
	if r.Tau[quality.Visited] != 1 || r.SitesAll.Mean != 1 {
		t.Errorf("tau %v, at sites %+v", r.Tau, r.SitesAll)
	}
	half := measure(t, w, seeds, all[:len(all)/2], next)
	if half.Documents != r.Documents || half.Unvisited < r.Documents/3 || half.Tau[quality.Visited] != 1 ||
		math.Abs(half.AtFifth[quality.Visited]-r.AtFifth[quality.Visited]) > 1e-9 {
		t.Errorf("half: %d of %d pages not visited, %v", half.Unvisited, half.Documents, half.AtFifth)
	}
	curve := half.Curves[quality.Visited]
	if curve[60] != curve[100] || curve[100] > 0.9 || half.Area[quality.Omniscient] != r.Area[quality.Omniscient] {
		t.Errorf("half: the curve ends with %v", curve[40:])
	}
}

// The in-degrees of the simulated webs are near a power law. Package simweb states the figures.
func TestMeasure_skewOfTheWebs(t *testing.T) {
	for name, c := range map[string]simweb.Config{"plain": simweb.Plain(), "skewed": simweb.Skewed(1000)} {
		w, err := origin.New(c)
		if err != nil {
			t.Fatal(err)
		}
		r := measure(t, w, w.Seeds(10), nil, nil)
		s := r.Skew
		t.Logf("%s: %d pages, %+v; omniscient has %.3f of the PageRank at 20 %%, breadth-first %.3f", name, r.Documents, s,
			r.AtFifth[quality.Omniscient], r.AtFifth[quality.BreadthFirst])
		if s.Exponent < 2.4 || s.Exponent > 2.8 || s.Fit > 0.03 || s.Top < 0.11 || s.Top > 0.19 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// What the first page links to is discovered when its answer ends: all visits in between were discovered otherwise.
func TestMeasure_discoveryIsAtTheEnd(t *testing.T) {
	w, seeds := web(t)
	all := walk(w, seeds).targets
	slices.Reverse(all[1:])
	last := measure(t, w, seeds, all, func(i int) int { return len(all) + i })
	if last.SitesAll.Sites != 0 {
		t.Errorf("discovered before any answer ended: %+v", last.SitesAll)
	}
	first := measure(t, w, seeds, all, func(i int) int { return i + 1 })
	if first.SitesAll.Sites == 0 || first.SitesAll.Mean > 0.9 {
		t.Errorf("the reverse order: %+v", first.SitesAll)
	}
}
