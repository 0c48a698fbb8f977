package traps

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/traps"
	"orbweaver/internal/invariants"
)

var (
	honestPages = flag.Int("honest", testbed.Reduce(5000, 2500), "honest pages beside each trap")
	seed        = flag.Uint64("seed", 1, "of the web")
	floor       = flag.Int("floor", 400, "--trap-floor of the crawl")
)

// bounds are the most trap pages that a case may cost, whatever the size of its honest part: so many before it looks
// like a trap or for its new kinds of URLs, and so many times the floor. docs/traps.md states them.
var bounds = map[string]struct{ before, floors int }{
	"T01": {500, 10}, "T02": {500, 10}, "T03": {250, 2}, "T04": {1000, 2}, "T05": {700, 2}, "T06": {1000, 3},
	"T07": {1000, 6}, "T08": {250, 2}, "T09": {0, 0}, "T10": {250, 2}, "R02": {1000, 2}, "LARGE": {0, 0},
	"E01": {500, 10}, "R03": {500, 10}, "T11": {500, 10}, "T12": {500, 2}, "T13": {500, 2}, "T14": {500, 10},
	"T15": {500, 10}, "T16": {500, 20}, "T18": {500, 10}, "T19": {500, 10}, "T20": {500, 10},
}

func boundOf(id string) int {
	b := bounds[id]
	switch id {
	case "T09": // each page is one that an honest one links to, and what these lead to: it has an end
		return size().Honest + 500 + 2**floor
	}
	return b.before + b.floors**floor
}

func size() Size {
	s := Size{Honest: *honestPages, Farm: 1000}
	if invariants.Race { // races are looked for: the bounds do not hold beside so few pages
		s.Honest = min(s.Honest, 400)
	}
	return s
}

func caseOf(t *testing.T, id string) Case {
	t.Helper()
	for _, c := range Cases(*seed, size()) {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no case %s", id)
	return Case{}
}

// judge crawls a case in virtual time: every honest page is fetched, and a bounded number of trap pages is.
func judge(t *testing.T, id string, change func(*engine.Config), check func(w *web, r report.Report)) {
	t.Helper()
	judgeCase(t, caseOf(t, id), change, check)
}

func judgeCase(t *testing.T, c Case, change func(*engine.Config), check func(w *web, r report.Report)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, honest := newWeb(t, c), c.Honest
		r := w.crawl(t, func(c *engine.Config) {
			c.Traps.TrapFloor = *floor
			c.Limits.MaxPages = int64(2*honest + 30**floor + 4000) // a trap that is not found ends here
			if change != nil {
				change(c)
			}
		})
		s := w.Score()
		t.Logf(
			"%-5s %-24s waste %5.2f %%: %d trap pages beside %d of %d honest ones; hosts %d, questions %d, outcomes %v, "+
				"skipped %v, delayed %d, dropped %v",
			c.ID,
			c.Name,
			100*s.Waste(),
			s.Trap,
			s.Honest,
			c.Honest,
			s.Hosts,
			w.net.Stats().Questions,
			r.Outcomes,
			r.Skipped,
			r.NoveltyDelayed,
			r.Dropped,
		)
		if s.Honest != c.Honest {
			t.Errorf("%d of %d honest pages were fetched", s.Honest, c.Honest)
		}
		if s.Trap > boundOf(c.ID) && !invariants.Race {
			t.Errorf("%d trap pages were fetched, more than %d", s.Trap, boundOf(c.ID))
		}
		if r.State != lifecycle.Finished || r.Reason != "complete" {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
		if check != nil {
			check(w, r)
		}
	})
}

// refused says that the crawl counted what it left out, by the name of an outcome or of a rule.
func refused(t *testing.T, what string) func(*web, report.Report) {
	t.Helper()
	return func(_ *web, r report.Report) {
		if r.Outcomes[what]+r.Skipped[what] == 0 && !invariants.Race {
			t.Errorf("nothing is counted as %s: %v, %v", what, r.Outcomes, r.Skipped)
		}
		listed := int64(0)
		for _, n := range r.Skipped {
			listed += n
		}
		if listed != r.Outcomes["novelty"] {
			t.Errorf("%d URLs are listed, and %d have the outcome", listed, r.Outcomes["novelty"])
		}
	}
}

func TestHostile_T01_anEndlessCalendarIsBounded(t *testing.T) {
	judge(t, "T01", nil, refused(t, "novelty"))
}

// A calendar whose days say something else each time, of few words, repeats itself when their pairs are exhausted.
func TestHostile_T01_aCalendarWithChangingTextIsBounded(t *testing.T) {
	l := newLanguage(*seed, 60)
	days := strings.Fields("sunny cloudy rain open closed market music lunch tour free sold late")
	h := newHonest(l, size().Honest, func(int) []string { return []string{"/day?date=1"} })
	judgeCase(t, one("T01", "calendar of changing days", h, func(target string) Answer {
		var n int
		if k, _ := fmt.Sscanf(target, "/day?date=%d", &n); k == 0 {
			return Answer{Status: 404}
		}
		r := rand.New(rand.NewPCG(uint64(n), 5))
		var text []string
		for range 20 {
			text = append(text, days[r.IntN(len(days))])
		}
		next := fmt.Sprintf("/day?date=%d", n+1)
		return Answer{Kind: Trap, Body: page("Day", strings.Join(text, " "), next)}
	}), nil, refused(t, "endless-part"))
}

// The order of parameters makes no new part of a site, and names that come again and again make a nested one.
func TestHostile_T04_permutedParametersAreBounded(t *testing.T) {
	l := newLanguage(*seed, 60)
	h := newHonest(l, size().Honest, func(int) []string { return []string{"/list?sort=name"} })
	names := []string{"sort", "filter", "view", "page"}
	judgeCase(t, one("T04", "permuted parameters", h, func(target string) Answer {
		if !strings.HasPrefix(target, "/list?") {
			return Answer{Status: 404}
		}
		links := []string{
			target + "&" + names[fingerprint(target)%4] + "=name",
			target + "&" + names[fingerprint(target)/4%4] + "=date",
		}
		return Answer{Kind: Trap, Body: page("List", "All items in the order that you like", links...)}
	}), nil, refused(t, "endless-part"))
}

func TestHostile_T02_sessionsInURLsAreBounded(t *testing.T) {
	judge(t, "T02", nil, refused(t, "novelty"))
}

func TestHostile_T02_parametersThatAreNamedAreNeverAskedFor(t *testing.T) {
	judge(t, "T02", func(c *engine.Config) { c.Admission.StripParams = []string{"session"} }, func(w *web,
		_ report.Report) {
		if s := w.Score(); s.Trap > 0 {
			t.Errorf("%d pages were asked for twice", s.Trap)
		}
	})
}

func TestHostile_T03_pathsThatGrowAreLeftOutByOption(t *testing.T) {
	judge(
		t,
		"T03",
		func(c *engine.Config) { c.Traps.Novelty, c.Traps.MaxPathRepeats = traps.NoveltyOff, 4 },
		refused(t,
			"path-repeats"),
	)
}

func TestHostile_T03_pathsThatGrowAreBounded(t *testing.T) {
	judge(t, "T03", func(c *engine.Config) { c.Admission.MaxURL = 8192 }, refused(t, "endless-part"))
}

func TestHostile_T03_theLimitOfAURLsLengthEndsAGrowingPath(t *testing.T) {
	judge(t, "T03", nil, func(w *web, r report.Report) {
		if n := w.Score().Trap; n > 250 || r.Dropped["too-long"] == 0 {
			t.Errorf("%d trap pages were fetched, dropped: %v", n, r.Dropped)
		}
	})
}

func TestHostile_T04_combinationsOfFacetsAreBounded(t *testing.T) {
	judge(t, "T04", nil, refused(t, "novelty"))
}

func TestHostile_T05_endlessSubdomainsAreBounded(t *testing.T) {
	judge(t, "T05", nil, refused(t, "novelty"))
}

// With a limit on the sites of a domain the names beyond it are not even looked up.
func TestHostile_D10_aWildcardZoneIsAskedForNoMoreNamesThanSites(t *testing.T) {
	judge(
		t,
		"T05",
		func(c *engine.Config) { c.Limits.MaxHostsPerDomain, c.Traps.Novelty = 50, traps.NoveltyOff },
		func(w *web, r report.Report) {
			s, questions := w.Score(), w.net.Stats().Questions
			if s.Hosts > 51 || questions > 6*51 || r.Outcomes["quota-domain"] == 0 {
				t.Errorf("%d hosts and %d questions; %v", s.Hosts, questions, r.Outcomes)
			}
		},
	)
}

func TestHostile_T05_theLimitOfPagesHoldsOverAllSitesOfADomain(t *testing.T) {
	judge(t, "T05", func(c *engine.Config) {
		c.Limits.MaxPerDomain, c.Traps.Novelty = size().Honest+1, traps.NoveltyOff
		c.Limits.MaxHostsPerDomain = 200
	}, nil)
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, caseOf(t, "T05"))
		r := w.crawl(t, func(c *engine.Config) { c.Limits.MaxPerDomain, c.Traps.Novelty = 40, traps.NoveltyOff })
		// Pages that are under way when the limit is reached come home.
		if r.PagesStored+r.RevisitsStored > 2*40+16 || r.Outcomes["quota-domain"] == 0 {
			t.Errorf("%d pages of two domains; %v", r.PagesStored+r.RevisitsStored, r.Outcomes)
		}
	})
}

// A tarpit holds one fetch worker while it is asked, and none when it is known.
func TestHostile_T06_aTarpitIsBounded(t *testing.T) {
	judge(t, "T06", nil, refused(t, "novelty"))
}

// No probe is sent: what such a site says about pages that are not there repeats itself, wherever it is asked.
func TestHostile_T07_pagesForAnyPathAreBounded(t *testing.T) {
	judge(t, "T07", nil, refused(t, "novelty"))
}

// A farm whose pages differ is no repetition: it takes a limit in plain numbers.
func TestHostile_T08_aFarmOnFewAddressesHasALimit(t *testing.T) {
	judge(t, "T08", func(c *engine.Config) { c.Limits.MaxHostsPerIP = 50 }, refused(t, "quota-address"))
}

func TestHostile_T09_onePageUnderManyURLsIsStoredOnce(t *testing.T) {
	judge(t, "T09", nil, func(w *web, r report.Report) {
		if s := w.Score(); r.RevisitsStored < int64(s.Trap)-1 {
			t.Errorf("%d revisits of %d copies; %v", r.RevisitsStored, s.Trap, r.Outcomes)
		}
	})
}

func TestHostile_T10_redirectsToOneVictimAreBounded(t *testing.T) {
	judge(t, "T10", nil, refused(t, "novelty"))
}

func TestHostile_R08_theVictimOfAFarmIsAskedAsPolitelyAsAnybody(t *testing.T) {
	judge(t, "T10", nil, func(w *web, _ report.Report) {
		asked := w.times["victim.test"]
		if len(asked) == 0 {
			t.Error("the victim was never asked")
		}
		for i := 1; i < len(asked); i++ {
			if gap := asked[i].Sub(asked[i-1]); gap < hostDelay {
				t.Errorf("the victim was asked again after %v", gap)
			}
		}
	})
}

// Each chain ends after ten redirects, and many such chains are left out.
func TestHostile_R02_chainsWhoseQueryGrowsAreBounded(t *testing.T) {
	judge(t, "R02", nil, refused(t, "novelty"))
	one := chain(newLanguage(*seed, 60), Size{Honest: 10, Farm: 1})
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, one)
		r := w.crawl(t, func(c *engine.Config) { c.Traps.Novelty = traps.NoveltyOff })
		if s := w.Score(); s.Trap != 11 || r.Outcomes["too-many-redirects"] != 1 {
			t.Errorf("%d steps of a chain; %v", s.Trap, r.Outcomes)
		}
	})
}

func TestALargeHonestSiteLosesNothing(t *testing.T) {
	judge(t, "LARGE", nil, func(_ *web, r report.Report) {
		if r.Outcomes["novelty"] > 0 {
			t.Errorf("outcomes %v", r.Outcomes)
		}
	})
}

// Without the watch the same web is a trap: the suite can fail.
func TestWithoutTheWatchAllIsWasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, caseOf(t, "T04"))
		w.crawl(t, func(c *engine.Config) {
			c.Traps.Novelty, c.Limits.MaxPages = traps.NoveltyOff, int64(4*size().Honest/5)
		})
		if s := w.Score(); s.Waste() < 0.2 { // a half of all and more on a site of 5,000 pages, less on a small one
			t.Errorf("waste of %.1f %% only", 100*s.Waste())
		}
	})
}

// A kill forgets what sites have said, and not what looked like a trap: the honest part is whole, and the traps do not
// begin again.
func TestAKillLosesNoHonestPageAndFewVerdicts(t *testing.T) {
	for _, id := range []string{"T01", "T04", "T05"}[:testbed.Reduce(3, 1)] {
		t.Run(id, func(t *testing.T) {
			c := caseOf(t, id)
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(t, c)
				w.crawlKilled(t, time.Duration(size().Honest/2)*hostDelay, func(c *engine.Config) {
					c.Intervals.Checkpoint, c.Traps.TrapFloor = 20*time.Second, *floor
				})
				s := w.Score()
				t.Logf("%s: %d trap pages beside %d of %d honest ones", id, s.Trap, s.Honest, c.Honest)
				if s.Honest != c.Honest || s.Trap > 2*boundOf(id) && !invariants.Race {
					t.Errorf("%d of %d honest pages, %d trap pages", s.Honest, c.Honest, s.Trap)
				}
			})
		})
	}
}

// The counts of quotas are in no checkpoint: a resume computes them again.
func TestQuotasHoldAfterAKill(t *testing.T) {
	c := caseOf(t, "T05")
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, c)
		w.crawlKilled(t, time.Duration(size().Honest/2)*hostDelay, func(c *engine.Config) {
			c.Intervals.Checkpoint = 20 * time.Second
			c.Traps.Novelty = traps.NoveltyOff
			c.Limits.MaxHostsPerDomain, c.Limits.MaxHostsPerIP = 50, 40
		})
		if s := w.Score(); s.Hosts > 51 || s.Honest != c.Honest {
			t.Errorf("%d hosts, %d of %d honest pages", s.Hosts, s.Honest, c.Honest)
		}
	})
}
