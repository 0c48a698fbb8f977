// Package simweb is the model of a simulated web with ground truth: which hosts and pages there are, how they link to
// each other, and how each is answered.
//
// A page is a pure function of (seed, URL); a hundred million hosts take no storage. The packages below it make a web
// of it. None shares code with the crawler, so that the judge does not repeat an error of the crawler.
//
//	seed --> Host   (pages, scheme, port, kind of robots.txt)   Model.HostAt
//	     --> Page   (shape, media type, area, path, size)       Host.PageAt
//	     --> links  (tree + extra)                              Host.AppendLinks --+--> judge.Expected: the truth
//	     --> bytes  (spellings, text of package corpus)         content.Writer ----+
//	                                                                    |
//	       crawler <---- origin.Web.Serve (one connection, any shape of answer)
//	          |             |
//	       archive     arrivals.Log
//	          +--> judge.Judge <--+--- judge.Truth
//
// The graph. Page p of a host hangs on page (p-1)/PageFanout, root of host h on the root of (h-1)/HostFanout. What has
// others hanging on it is plain, whole and allowed; faults, denials and other content are those of leaves. So from the
// root of host 0 everything can be reached by links over good pages, whatever the rates are. Extra links are Zipf-like,
// inside the host and across hosts. Measured (internal/trial/visits): in-degrees of Plain, from 11 links on, are near a
// power law of exponent 2.6, and one page in a hundred has 17 % of all links. Skewed: 2.6, from 31 on; 13 %. With
// Topics, each host has one, and extra links prefer hosts of the same topic.
//
// Hidden is off by default. Separate components are hosts that link to each other only; Seeds has a seed for each.
// Series are leaf pages in one folder with neighbouring numbers. No page links to a share of them (Unlinked), and
// --mine siblings finds 95 to 98 % of these. It takes 1.7 to 1.8 requests for each if all hosts have series, and 4 to 7
// if 30 % have (seeds 1 to 3, 120 hosts, Unlinked 0.4).
//
// Folders are pairs of leaf pages, such as /word/12/ and /word/12/item-13.html. No page links to the first one. --mine
// ancestors finds 92 to 96 % of these if all hosts have some, at 5.6 to 6.3 requests for each. If 30 % have some, it is
// 86 to 95 %, at 10 to 16. Most requests are for folders without a page, such as /word/. The judge counts the finds and
// the requests for what is not there. The figures: go -C bench test -tags scenario ./scenario/crawl -run TestMining_ -v
//
// Tools is off by default. A share Drawn of the hosts that no other hangs on have pages that a browser must draw. Nine
// tools make them, such as React, Next.js and Nuxt, as these do today. Such a page has no link but the script, so links
// of other hosts alone lead to further pages of the host. A share Served of the other hosts have pages of the same
// tools with text and links from the server; half of these pages are short. The judge says which part of the drawn
// pages the archive names for a browser (recall), and which part of the named ones is drawn (precision). Both are 1
// (seeds 1 to 60 of the test). By the signs before this test, recall was 0.18 and precision 0.19 (seed 1). The figures:
// go -C bench test -tags scenario ./scenario/crawl -run TestDrawn_ -v
//
// Names. A path ends in the page's number, behind words that hold no digit. Model.Locate reads it, writes the path
// again and compares, so there is one name for one page. /~hop, /~land and /~loop are steps of redirects, /~robots
// another host's robots.txt, /nowhere pages that never were. /trap is text that looks like a link and is none: a
// crawler that asks for it has read a comment, a script, a template or an address of another scheme as a link.
//
// Time passes. The same world in a later Edition differs in a share Changing of its pages; links stay as they are.
//
// Addresses. AddrOf(name) = AddrBase + xxh3(name) mod IPs, with the 64-bit xxh3 of the lower-case name. A resolver that
// knows this formula agrees with the judge without asking. Sites that are not drawn from the seed are guests (package
// guest).
//
// Promises, whose tests are in package origin: G1: the bytes served hold the links of the model, and no others, by any
// sound tokenizer and URL parser. G2: every page is reached from one seed, except behind robots.txt, and what is Hidden
// or drawn. G3: the judge finds each kind of misconduct, and finds none in a sound crawl.
//
// A Model is read only.
package simweb
