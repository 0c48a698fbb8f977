// Package limits holds what a crawl may have at most. Limits ends the crawl at its limit of pages, time or disk. Quotas
// bound the hosts and pages of one registrable domain, and the hosts of one address.
package limits
