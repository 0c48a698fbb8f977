// Package graph makes the graphs of pages, hosts and domains from WARC files, in the forms that web-graph researchers
// and the tools of WebGraph and Common Crawl read.
//
// It computes no ranks: package centrality does, from the files that are made here. It knows no Parquet and no text.
//
//	Record --> links in normal form --> collector: names with local numbers by fingerprint, arcs
//	                                       | full, or end of the file: sort
//	                                       v
//	DIR/graph/parts/STEM.runs   run: sorted names (front coded), arcs (gaps)
//	                                       |
//	          Finish: merge of the names of all runs --> numbers of nodes --> arcs, renumbered --> merge
//	                                       v
//	DIR/graph/NAME.urls.gz  NAME.arcs.gz  NAME.graph .offsets .properties              pages
//	DIR/graph/NAME-host-vertices.txt.gz  NAME-host-edges.txt.gz  NAME-host.graph ...   hosts
//	DIR/graph/NAME-domain-vertices.txt.gz ...                                          domains
//
// Names are sorted by bytes, and a node is the position of its name. Arcs are sorted by source, then by target, each
// once. A page is a node if a capture of it has a status from 200 to 399; with Options.All, targets of links are nodes
// too. Links are those of the parser, of every kind, targets of redirects, and the fields Refresh, Link and
// Content-Location. robots.txt files have none. A revisit is a node; the links of its payload are those of the capture
// that it refers to.
//
// The graph of hosts has the conventions of Common Crawl: names are reversed (com.example.sub), a leading "www." is
// removed, addresses have no node, hosts without links are kept, and loops are not. Names below unknown top-level
// domains are kept, so that graphs of intranets exist. Domains are one label below a public suffix.
//
// # Costs
//
// Memory of each worker: Options.Memory for names and arcs. With the garbage of growing and sorting, a process was
// measured at six times that. Of Finish: 24 KiB for each run, 8 bytes for each name of one run, and Options.Memory for
// sorting the domains of hosts. One file is open for each part. Disk: the parts, 2 bytes for each name of a run, and
// up to 6 bytes for each arc of a graph while it is merged.
//
// A Product may be used by several goroutines; everything else belongs to one.
package graph
