// Package visits measures the order of the requests of a crawl of a simulated web by the truth: all pages that the
// seeds reach, fetched or not.
//
//	origin.Web, seeds --> all pages and their links --+--> quality.Web --> quality.Crawl --> Report
//	arrivals.Log      --> first answer of each page --+
//
// The archive is not read: the figures are those of a server.
package visits
