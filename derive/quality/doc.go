// Package quality measures the order in which a crawl has visited pages: how soon it had the important ones, and how
// near the order is to others of the same pages.
//
// It fetches nothing and knows no policy of a crawler: it reads the archive. Of a simulated web, the graph and the
// visits are known from the server instead: NewCrawl.
//
//	Record --> product: fingerprint, date, links --> DIR/quality/STEM.visits
//	                                                        | all files: by date, the first capture of each page
//	                                                        v
//	                  Crawl: nodes in the order of visits, successors in the order of the page
//	                     |                    |                              |
//	          PageRank, in-degree    breadth-first, depth-first     discovery, site by site
//	                     +------ Curve of each order ------+-------- Tau --------+
//
// A revisit has the links of its payload, which another capture has: so the files of a run keep the links as they are
// written, beside their fingerprints.
//
// A node is a page or redirect that has a capture with a status from 200 to 399. An answer that broke off is no capture
// of it. The ranks and curves are those of documents: HTML pages, and redirects. Page requisites count in one figure,
// Report.SitesAll. The orders follow links through all nodes, also those of feeds and style sheets.
//
// A root is a seed: of the lists of a crawl directory (Product.AddSeeds), or by the field seed of a metadata record.
// Roots are the first level of the breadth-first order, which takes links in the order of their page. The depth-first
// order takes the first unvisited link of a page before the second. A sitemap that no root reaches is a late root.
//
// What no root reaches is left out of all figures but Report.Unlinked, as the truth of a Web leaves it out. Such pages
// were found by strings in scripts, by mining or by a hook; links were changed by --normal-form or --strip-params; or
// the page with the link is in another archive. The archive does not say when the crawl found them.
//
// If no seed is known, documents that no earlier visited page links to are late roots. An order takes a late root after
// as many nodes as the crawl had visited before it.
//
// The figures (Cho, Garcia-Molina and Page, 1998; Boldi, Codenotti, Santini and Vigna, 2004): C(k) is the part of all
// rank that the first k documents have. Area is the mean of C, AtFifth is C at 20 % of the documents. Gain is where
// the area lies between breadth-first, 0, and omniscient, 1: the order by falling rank. The random order has C(k) =
// k/n. Tau is Kendall's rank correlation: 1 for the same order, -1 for the reverse one. Pages of a Web that were not
// visited count as missing.
//
// Skew is a power law that is fitted to the in-degrees. A Fit of more than some 0.1 says that they are not near one.
//
// # Costs
//
// Memory: some 140 to 170 bytes for each page, garbage included: 339 MB at 2 * 10^6 pages with 2 * 10^7 links among
// them, and 1,379 MB at 10^7 pages with 10^8 links (TestMeasure_large, without the WARC files: 14 minutes on two cores
// with other work).
// Links take 4 bytes each in a temporary file, and none in memory. Breadth-first and depth-first read it in their
// order, PageRank some 50 times from begin to end. A page whose first capture is a revisit takes some 100 bytes more.
// Further captures of pages take at most 48 bytes for each page, however many they are.
//
// Pages are told apart by 63 bits of xxh3, with a seed of the run. Of 10^7 pages, two are taken for one with a
// probability of 6 * 10^-6.
package quality
