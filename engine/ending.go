package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/counters"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outcome"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
)

// ending gives the final state and the reason of a crawl that has nothing queued. One agent of several cannot say that
// no seed could be fetched: it knows only its own hosts. givenUp counts the sites that were given up.
func ending(c *counters.Totals, alone bool, givenUp func() (int, error)) (lifecycle.State, string) {
	if why := noSeedFetched(c); alone && why != "" {
		return lifecycle.Failed, why
	}
	urls := c.Outcomes[outcome.GivenUp]
	if urls == 0 {
		return lifecycle.Finished, lifecycle.ReasonComplete
	}
	of := "sites"
	if sites, err := givenUp(); err == nil {
		of = count(int64(sites), "site")
	}
	return lifecycle.Finished, fmt.Sprintf("%s, except %s of %s that failed for longer than --give-up: outcome %s in %s/%s",
		lifecycle.ReasonComplete, count(urls, "URL"), of, outcome.GivenUp, layout.LogsDir, crawllog.FileName)
}

// givenUp counts the sites that failed for --give-up, in memory and in the cold store. All loops have ended.
func (h *hosts) givenUp() (sites int, err error) {
	h.bench.Each(func(vs *visit.State, state workbench.State) bool {
		if state == workbench.Dead {
			h.bench.ReadSite(vs, func(s *site.State) {
				if s.DeadOutcome == outcome.GivenUp {
					sites++
				}
			})
		}
		return true
	})
	var bad error
	err = h.cold.Each(func(_, form []byte) bool {
		_, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, h.rules) })
		if bad = err; s.DeadOutcome == outcome.GivenUp {
			sites++
		}
		return bad == nil
	})
	return sites, errors.Join(err, bad)
}

// noSeedFetched says why a crawl that has ended has fetched nothing: no server has answered, or no seed has entered the
// frontier. It is empty if a server has answered, and for a crawl whose rules refuse what they were asked about.
func noSeedFetched(c *counters.Totals) string {
	if c.Stored()+c.NotStored > 0 {
		return ""
	}
	var found []outcome.Outcome
	for n := range outcome.Count {
		switch o := outcome.Outcome(n); {
		case c.Outcomes[o] == 0:
		case !isNoAnswer(o):
			return ""
		default:
			found = append(found, o)
		}
	}
	if len(found) == 0 {
		return noSeedAdmitted(c)
	}
	slices.SortStableFunc(found, func(a, b outcome.Outcome) int { return int(c.Outcomes[b] - c.Outcomes[a]) })
	var parts []string
	for _, o := range found {
		parts = append(parts, fmt.Sprintf("%d of %d %s", c.Outcomes[o], c.Finished(), o))
	}
	return fmt.Sprintf("no seed could be fetched: %s. %s", strings.Join(parts, ", "), remedyOf(found))
}

// noSeedAdmitted says that the crawl's own rules have refused all seeds.
func noSeedAdmitted(c *counters.Totals) string {
	if c.Admitted > 0 || c.DroppedScope+c.DroppedLong == 0 {
		return ""
	}
	return fmt.Sprintf("no seed entered the frontier: %d refused by --scope or by lists of hosts, SURTs and extensions, %d longer than --max-url. "+
		"'crawl --dry-run' names the rule", c.DroppedScope, c.DroppedLong)
}

// isNoAnswer says that a URL with this outcome has brought no answer of its site that counts as one: see site.State.HasAnswered.
func isNoAnswer(o outcome.Outcome) bool {
	switch o {
	case outcome.BlockedAddress, outcome.BlockedPort, outcome.RobotsUnreachable, outcome.SiteGone, outcome.GivenUp:
		return true
	default:
		return o.Class() == outcome.ClassFault || o.Class() == outcome.ClassHost || o.Class() == outcome.ClassBusy
	}
}

// remedyOf says what to do about the first of these outcomes that has a remedy of its own.
func remedyOf(found []outcome.Outcome) string {
	for _, o := range found {
		switch o {
		case outcome.NameNotFound:
			return "Check the spelling of the names, and the name servers (--resolver)"
		case outcome.NameFault:
			return "Check the network and the name servers (--resolver)"
		case outcome.BlockedAddress:
			return "These addresses are private or special: --allow-net lifts that for a range"
		case outcome.BlockedPort:
			return "--allow-port allows a port that is not among the usual ones"
		case outcome.ProxyFault:
			return "Check the proxy (--proxy)"
		case outcome.TLSFault:
			return "Check that the servers speak TLS at these ports"
		case outcome.RobotsUnreachable:
			return "A robots.txt that cannot be had forbids all: check that the servers answer"
		case outcome.SiteGone, outcome.GivenUp:
		default:
			return "Check that the servers run and that this machine reaches them"
		}
	}
	return "crawl.log has a line for each"
}

// count is a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
