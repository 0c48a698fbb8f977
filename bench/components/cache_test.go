package components

import (
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

// checkCache checks the largest cache, in one goroutine, against a true LRU, and a restart.
func checkCache(t *testing.T, r *Result) {
	figures := map[string]float64{}
	for _, f := range r.Runs[6].Figures {
		figures[f.Name] = f.Value
	}
	hits := figures["hits"]
	if lru := figures["hits of a true LRU of as many fingerprints"]; hits < 0.9*lru || hits > 100 || lru == 0 {
		t.Errorf("%v", figures)
	}
	const next = "hits of the next 65536, "
	saved, loaded := figures[next+"the saved cache"], figures[next+"the loaded cache"]
	if saved != loaded || loaded <= figures[next+"an empty cache"] {
		t.Errorf("after a restart: %v", figures)
	}
}

// The true LRU agrees with the simplest implementation.
func TestTrueLRUIsOne(t *testing.T) {
	l := newTrueLRU(5)
	var list []xxh3.Uint128 // newest last
	s := newLinkStream(20, 4, 1)
	for step := range 5000 {
		fp := s.link()
		at := slices.Index(list, fp)
		if l.seen(fp) != (at >= 0) {
			t.Fatalf("step %d", step)
		}
		if at >= 0 {
			list = slices.Delete(list, at, at+1)
		} else if len(list) == 5 {
			list = list[1:]
		}
		list = append(list, fp)
	}
}

func TestLinkStreamKeepsToItsWeb(t *testing.T) {
	s := newLinkStream(1000, 100, 1)
	known := map[xxh3.Uint128]int{}
	for range 200_000 {
		known[s.link()]++
	}
	most := 0
	for _, n := range known {
		most = max(most, n)
	}
	if len(known) != 1000 || most < 5_000 {
		t.Errorf("%d URLs, the most popular %d times in 200000", len(known), most)
	}
}
