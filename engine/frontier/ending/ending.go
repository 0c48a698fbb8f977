package ending

import (
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
)

// StateOf returns the final state and the reason of a crawl that has no queued URLs. A crawl without a page has failed.
// An agent of a cluster cannot know that, since it knows only its own sites: isAlone is then false. sitesGivenUp counts
// the sites with the outcome given-up.
func StateOf(c *counters.Totals, isAlone bool, sitesGivenUp func() (int, error)) (lifecycle.State, string) {
	if isAlone && c.Stored()+c.PagesNotStored == 0 {
		return lifecycle.Failed, noPage(c)
	}
	urls := c.Outcomes[outcome.GivenUp]
	if urls == 0 {
		return lifecycle.Finished, lifecycle.ReasonComplete
	}
	of := "sites"
	if sites, err := sitesGivenUp(); err == nil {
		of = plural.Count(sites, "site")
	}
	return lifecycle.Finished, fmt.Sprintf(
		"%s, except %s of %s that failed for longer than --give-up: outcome %s in %s/%s",
		lifecycle.ReasonComplete, plural.Count(urls, "URL"), of, outcome.GivenUp, layout.LogsDir, crawllog.FileName,
	)
}

// noPage returns why an ended crawl has no page, and what to do about it.
func noPage(c *counters.Totals) string {
	var found []outcome.Outcome
	noAnswer := true
	for n := range outcome.Count {
		if o := outcome.Outcome(n); c.Outcomes[o] > 0 {
			found = append(found, o)
			noAnswer = noAnswer && isNoAnswer(o)
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
	what := "no page could be fetched"
	if noAnswer {
		what = "no seed could be fetched"
	}
	return fmt.Sprintf("%s: %s. %s", what, strings.Join(parts, ", "), remedyOf(found))
}

// noSeedAdmitted returns that no URL entered the frontier.
func noSeedAdmitted(c *counters.Totals) string {
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

// remedyOf returns what to do about the first of the outcomes that has a remedy. A redirect comes last: its target may
// be another of the URLs.
func remedyOf(found []outcome.Outcome) string {
	for _, redirects := range []bool{false, true} {
		for _, o := range found {
			if remedy := Remedy(o); remedy != "" && (o == outcome.Redirect) == redirects {
				return remedy
			}
		}
	}
	return "logs/crawl.log has a line for each"
}

// Remedy returns what an operator can do about URLs without a page that have an outcome; "" if nothing.
func Remedy(o outcome.Outcome) string {
	switch o {
	case outcome.NameNotFound:
		return "Check the spelling of the names, and the name servers (--resolver)"
	case outcome.NameFault:
		return "Check the network and the name servers (--resolver)"
	case outcome.BlockedAddress:
		return "These addresses are private or special. If they are yours, allow their range: " +
			"--allow-net 127.0.0.0/8 for this machine, --allow-net 10.0.0.0/8 for a network"
	case outcome.BlockedPort:
		return "--allow-port allows a port that is not among the usual ones"
	case outcome.ProxyFault:
		return "Check the proxy (--proxy)"
	case outcome.TLSFault:
		return "Check that the servers speak TLS at these ports. With --tls strict, certificates must verify: " +
			"--tls tolerant fetches all the same, and SSL_CERT_FILE names a file with an authority of your own"
	case outcome.RobotsUnreachable:
		return "A robots.txt that cannot be had forbids all: check that the servers answer"
	case outcome.RobotsDenied:
		return "robots.txt of the sites forbids these URLs to this crawler: 'orbweaver robots test' names the line"
	case outcome.Filtered, outcome.Blocked, outcome.QuotaHost, outcome.QuotaDomain, outcome.QuotaAddress:
		return "Rules of this crawl refuse these URLs: 'crawl --dry-run' names the rule"
	case outcome.Redirect, outcome.TooManyRedirects:
		return "The seeds redirect to URLs that do not belong to the crawl, or back to where they came from: see their " +
			"targets with 'orbweaver report DIR seeds', and --scope. A site that wants a cookie needs --cookies site"
	case outcome.Transient, outcome.Unasked:
		return "The servers answer with a status that does not belong to the request: see crawl.log, and try again later"
	case outcome.ClientError, outcome.OtherStatus:
		return "The servers answer that they do not have these URLs: check their spelling"
	default:
		if isNoAnswer(o) && o.Class() != outcome.ClassRefusal {
			return "Check that the servers run and that this machine reaches them"
		}
		return ""
	}
}
