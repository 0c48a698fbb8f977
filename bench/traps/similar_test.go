package traps

import (
	"fmt"
	"testing"
	"testing/synctest"

	"orbweaver/engine"
	"orbweaver/internal/invariants"
)

// keepsAll crawls a finite site of similar pages with the default floor: every page is fetched, and nothing is left
// out.
func keepsAll(t *testing.T, c Case) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, c)
		r := w.crawl(t, func(*engine.Config) {})
		s := w.Score()
		t.Logf("%s: %d of %d fetched, %d delayed, %d revisits", c.Name, s.Honest, c.Honest, r.NoveltyDelayed,
			r.RevisitsStored)
		if s.Honest != c.Honest || len(r.Skipped) > 0 || r.Reason != "complete" {
			t.Errorf("%d of %d pages; skipped %v; %s: %s", s.Honest, c.Honest, r.Skipped, r.State, r.Reason)
		}
	})
}

func TestSimilarPagesOfAFiniteSiteAreKept(t *testing.T) {
	for _, shape := range []Shape{Lists, Paged, Chain, Tree} {
		for _, query := range []bool{false, true} {
			for _, same := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s-query=%v-same=%v", shape, query, same), func(t *testing.T) {
					keepsAll(t, Similar(shape, 400, query, same))
				})
			}
		}
	}
}

func TestFiveThousandSimilarPagesAreKept(t *testing.T) {
	for i, shape := range []Shape{Lists, Paged, Chain, Tree} {
		query := i%2 == 1
		for _, same := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-same=%v", shape, same), func(t *testing.T) {
				if invariants.Race {
					t.Skip("400 pages are enough with the race detector") // CI runs all 5,000 without it
				}
				if reduced && same == query {
					t.Skip("make scenario runs all")
				}
				keepsAll(t, Similar(shape, 5000, query, same))
			})
		}
	}
}
