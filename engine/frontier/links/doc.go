// Package links finds the links of a page, of a redirect and of the sitemaps that a robots.txt names, and passes them
// through the filters of the crawl. A Budget bounds what the links of one page cost in bytes and CPU time
// (docs/hostile.md). A Finder belongs to one goroutine.
package links
