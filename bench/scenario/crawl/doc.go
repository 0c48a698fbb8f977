// Package crawl holds the scenarios of one crawl and its network: completeness, politeness, robots.txt, name servers,
// outages, back-off and hostile hosts. Package testbed describes how they run.
package crawl
