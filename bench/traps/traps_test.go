package traps

import (
	"flag"
	"testing"
	"testing/synctest"

	"orbweaver/engine"
)

var honestPages = flag.Int("honest", 5000, "honest pages beside each trap")

func TestSuite(t *testing.T) {
	for _, c := range Cases(1, Size{Honest: *honestPages, Farm: 1000}) {
		t.Run(c.ID, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(c)
				r := w.crawl(t, func(c *engine.Config) { c.MaxPages = int64(2 * *honestPages) })
				s := w.tally.Score()
				t.Logf("%-5s %-26s waste %5.2f%%  honest %d of %d, trap %d, hosts %d, questions %d; %s %v %v", c.ID, c.Name, 100*s.Waste(), s.Honest,
					c.Honest, s.Trap, s.Hosts, s.Questions, r.Reason, r.Outcomes, r.Dropped)
			})
		})
	}
}
