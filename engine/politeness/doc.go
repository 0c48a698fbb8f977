// Package politeness answers one question: after this attempt, when next, and what next? It is a table and some
// arithmetic. Given what became of an attempt, how long the delays are and how often the site has failed in a row, it says
// when site and IP may be asked again, whether the URL is to be tried again, and whether the site is given up.
//
// What it is not: it reads no clock, sleeps on nothing, keeps nothing between calls and knows no HTTP. The bench
// keeps the due times (workbench), the engine the number of failures and the random bits.
//
// The picture:
//
//	Outcome --> Rule (a row of the table)
//	               |   Contact: the delays run          Effect: Forgives, Busy, Unreachable or none
//	               |   Retry, Tries, KillAfter              |
//	               v                                        v
//	Attempt --> Decide --> Decision      SiteFailures: 0, -1, -2 ... asked to slow down in a row,
//	                                                      1,  2 ... not reached in a row
//
// The waits, all from the end of the attempt and never less than the delay of the site:
//
//	the delay of the site   max(HostDelay, Crawl-delay up to CrawlDelayMax)
//	tried again             RetryDelays, by try: 1 s, 5 s
//	asked to slow down      Retry-After up to RetryAfterMax; or BackoffMin doubling up to BackoffMax
//	not reached             HostBackoff, by failures in a row: 10 s, 1 min, 5 min, 15 min three times, 30 min, 1 h
//	with a strain           the delay, times the fourth root of two for each step, up to StretchMax
//
// and those of the IP: IPDelay, stretched by its strain up to IPStretchMax. All but the delays and the quick retries are
// lengthened by up to a quarter, by the caller's bits.
//
// The strain of a site is what remains of its requests to slow down (429, 503) when they are over: each is worth a factor of two,
// of the root of two if it said itself for how long, a 503 but once for a URL, since it may be the page's; and each answer that need not be asked for again takes back the fourth root of two. So a
// site is not asked at full pace again because it has answered once. The strain of an IP rises in the same way when one after
// the other, without such an answer in between, several of its sites are in trouble: 429, 503, no connection, no answer in time, a
// reset, a body that does not end.
//
// What it keeps: the due times of a Decision are never before the delays allow; a Decision never both tries a URL again and
// gives its site up; a larger delay, Retry-After or number of failures never brings a due time forward; no duration that
// a stranger sends (Crawl-delay, Retry-After) counts for more than its cap.
//
// What it costs: some nanoseconds, no allocation. A Policy is a value that is read only: share it.
package politeness
