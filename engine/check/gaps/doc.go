// Package gaps proves from WARC files alone that a crawl was polite. It reads when each exchange began and ended, and
// compares the time between two exchanges with the delay that was in force, for each site and each IP address.
//
//	records --reader--> exchanges --+--> sorted by site -----judge--+--> Report
//	                                +--> sorted by address --judge--+
//
// The delay after an exchange with a site is the largest of:
//
//   - the host delay: of the record, else of the file's warcinfo record, else of Options
//   - the Crawl-delay of the stored robots.txt of the site, up to its limit
//   - Retry-After of the exchange, if its status is 429 or 503, up to its limit; beyond 5 minutes only that of
//     robots.txt and of the root page
//
// The delay of an address is the IP delay. An IPv6 address counts by its network.
//
// A record says when its exchange began (WARC-Date). It says how long the exchange took in Orbweaver-Exchange
// (docs/warc.md), or fetchTimeMs of the metadata record beside it. All times are intervals: a date without a fraction
// is good to a second, and the clocks of two crawl directories may differ.
//
// Each gap gets one verdict. It is kept if the shortest gap that fits the records is long enough, and violated if the
// longest one is too short. Otherwise it is not provable, with a reason (Reason). An exchange without an answer leaves
// no record. The next record of its site or address says how long that had been left alone. If this is shorter than the
// time between the records, a request without a record lies between: then the gap before it is not provable, and the
// gap behind it is judged. If the record does not say, the gap is not provable.
//
// Cost: each file is read once. The lists are sorted on disk (extsort) if they exceed the memory of Options: about 150
// bytes for each exchange. Memory does not grow with the number of records; it grows with the number of redirected
// robots.txt files, up to the limit of robotsanswer.Chains.
package gaps
