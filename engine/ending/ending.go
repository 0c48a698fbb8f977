package ending

import (
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/counters"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/internal/outcome"
)

// StateOf returns the final state and the reason of a crawl that has no queued URLs. An agent of a cluster cannot know
// that no seed was fetched, since it knows only its own sites: isAlone is then false. sitesGivenUp counts the sites
// with the outcome given-up.
func StateOf(c *counters.Totals, isAlone bool, sitesGivenUp func() (int, error)) (lifecycle.State, string) {
	if why := noSeedFetched(c); isAlone && why != "" {
		return lifecycle.Failed, why
	}
	urls := c.Outcomes[outcome.GivenUp]
	if urls == 0 {
		return lifecycle.Finished, lifecycle.ReasonComplete
	}
	of := "sites"
	if sites, err := sitesGivenUp(); err == nil {
		of = count(int64(sites), "site")
	}
	return lifecycle.Finished, fmt.Sprintf(
		"%s, except %s of %s that failed for longer than --give-up: outcome %s in %s/%s",
		lifecycle.ReasonComplete, count(urls, "URL"), of, outcome.GivenUp, layout.LogsDir, crawllog.FileName,
	)
}

// noSeedFetched returns why an ended crawl has fetched nothing: no server has answered, or no seed was admitted. It
// returns "" if a server has answered, or if rules such as robots.txt have refused URLs.
func noSeedFetched(c *counters.Totals) string {
	if c.Stored()+c.PagesNotStored > 0 {
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

// noSeedAdmitted returns that the crawl's own rules have refused all seeds; "" if they have not.
func noSeedAdmitted(c *counters.Totals) string {
	if c.URLsAdmitted > 0 || c.DroppedScope+c.DroppedLong == 0 {
		return ""
	}
	return fmt.Sprintf("no seed entered the frontier: %d refused by --scope or by lists of hosts, SURTs and extensions, "+
		"%d longer than --max-url. "+
		"'crawl --dry-run' names the rule", c.DroppedScope, c.DroppedLong)
}

// isNoAnswer reports whether an outcome means that the site has not answered: see site.State.HasAnswered.
func isNoAnswer(o outcome.Outcome) bool {
	switch o {
	case outcome.BlockedAddress, outcome.BlockedPort, outcome.RobotsUnreachable, outcome.SiteGone, outcome.GivenUp:
		return true
	default:
		return o.Class() == outcome.ClassFault || o.Class() == outcome.ClassHost || o.Class() == outcome.ClassBusy
	}
}

// remedyOf returns what to do about the first of the outcomes that has a remedy.
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

// count returns a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
