// Package fetchers contains the fetch workers: each takes a Visit, makes at most one exchange with its site, and
// returns the Visit with what follows from the outcome. A Page goes to the parse workers.
//
//	Worker         the loop: Visit -> checks -> exchange -> what follows -> return (worker.go)
//	checker        the ordered table of the checks that a Visit passes (checks.go)
//	request        what a site is asked for: cookies, login, conditions (request.go)
//	exchange       one request and its response, and how long its parts took (exchange.go)
//	observer       what stood before the site: an outage of the network, a closed way, a wall (way.go)
//	consequences   what follows from an outcome: due times, retries, proofs, giving a site up
//	robotsVisits   robots.txt and its redirects (robots.go)
//	settlement     outcome -> counters and journal, and the return of the Visit (settlement.go)
//
// Each of them has the parts of the crawl that it uses; NewWorker gives them out of a Crawl.
//
// What the workers need from other agents is cluster.VisitGate; cluster.Alone if there are none.
//
// # Chains of decisions
//
// Delay between two requests to a site:
//
//	--host-delay -> politeness.Policy.HostDelay; a host rule -> filter.HostSettings.HostDelay;
//	Crawl-delay -> robots.Rules.CrawlDelay
//	consequences.decide -> Policy.Decide -> Policy.SiteDelay -> Decision.SiteDue -> workbench.Release.SiteDue -> Acquire
//
// Retry-After of a response:
//
//	fetch.Head.RetryAfter -> consequences.retryAfter -> politeness.Attempt.RetryAfter, at most Policy.RetryAfterMax
//	-> Policy.Decide -> Decision.SiteDue; and consequences.note -> site.State.NoteFailure -> FailureStreak.RetryAt
//
// Limit of a body:
//
//	--max-body -> fetch.Options.BodyMax -> fetch.Fetcher reads at most so many bytes -> warc.TruncatedLength
//	-> outcome.TruncatedLength -> parsers: WARC-Truncated: length
//
// # The part counts
//
// This part has the options of the loops of an agent by number: fetch workers, parse workers and resolve loops,
// and what memory the connections and pages take that they hold at most.
package fetchers
