// Package politeness decides what follows from an attempt: when site and IP address may be asked again, whether the URL
// is tried again, and whether the site is given up. It is a table (table.go) and arithmetic.
//
// It reads no clock, keeps no state between calls and knows no HTTP. The workbench keeps the due times. The engine
// keeps the failure counts and slowdowns (site.State) and supplies random bits.
//
//	Outcome --> Rule (a row of the table)
//	               |   Contact: the delays run          Effect: ResetsFailures, Busy, Unreachable or NoEffect
//	               |   Retry, Tries, GiveUpAfter            |
//	               v                                        v
//	Attempt --> Decide --> Decision      SiteFailures: 0, -1, -2 ... consecutive requests to slow down,
//	                                                      1,  2 ... consecutive failures to reach the site
//
// The waits of a site count from the end of the attempt and are never shorter than the host delay:
//
//	host delay            max(HostDelay, Crawl-delay up to CrawlDelayMax)
//	retry                 RetryDelays, by try: 1 s, 5 s
//	asked to slow down    Retry-After up to RetryAfterMax; without it BackoffMin, doubling up to BackoffMax
//	not reached           HostBackoff, by consecutive failures: 10 s, 1 min, 5 min, three times 15 min, 30 min, 1 h
//	slowdown              host delay times 2^(n/4) for the slowdown n, up to SlowedDelayMax
//
// The wait of an IP address is IPDelay, lengthened by its slowdown up to SlowedIPDelayMax. Back-off waits and slowdowns
// are lengthened by a random part of up to a quarter (jitter), host delay and RetryDelays are not.
//
// Slowdown of a site: after a 429 or 503 the host delay stays longer for a time. Each one multiplies the delay by 2, or
// by the square root of 2 if it came with Retry-After. A 503 counts once for each URL, because it may concern that page
// only. Each answer that needs no retry divides the delay by the fourth root of 2. So the crawl returns to its full
// rate step by step.
//
// Slowdown of an IP address: it grows when several of its sites fail one after the other, without a good answer in
// between. These outcomes count: 429, 502, 503, no connection, header timeout, reset, and a body that exceeds the
// deadline.
//
// Guarantees, which TestDecideKeepsItsPromises checks:
//
//   - A due time is never before the delays allow.
//   - A Decision never has both Retry and GiveUpSite.
//   - A larger delay, Retry-After or failure count never makes a due time earlier.
//   - A duration that a server sends (Crawl-delay, Retry-After) counts up to its limit only.
//
// Decide takes some nanoseconds and allocates nothing. A Policy is read-only once in use and may be shared.
package politeness
