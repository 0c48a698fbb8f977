package rooms

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"
)

func TestCache(t *testing.T) {
	o := small(t, 100_000)
	o.Hosts = 10_000
	r, err := Cache(t.Context(), o, []int64{64 << 10, 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	gone(t, o)
	if len(r.Runs) != 4 {
		t.Fatalf("%d runs", len(r.Runs))
	}
	figures := map[string]float64{}
	for _, f := range r.Runs[2].Figures {
		figures[f.Name] = f.Value
	}
	hits := figures["hits"]
	if lru := figures["hits of a true LRU of as many fingerprints"]; hits < 0.9*lru || hits > 100 || lru == 0 {
		t.Errorf("%v", figures)
	}
	saved, loaded := figures["hits of the next 65536, the one saved"], figures["hits of the next 65536, the one loaded"]
	if saved != loaded || loaded <= figures["hits of the next 65536, an empty one"] {
		t.Errorf("after a restart: %v", figures)
	}
}

func TestCacheStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	o := small(t, 1000)
	if _, err := Cache(ctx, o, []int64{1 << 16}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	gone(t, o)
}

// The yardstick itself is held against the plainest LRU there is.
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
