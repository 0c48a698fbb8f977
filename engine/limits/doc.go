// Package limits ends the crawl at its limit of pages, time or disk.
package limits
