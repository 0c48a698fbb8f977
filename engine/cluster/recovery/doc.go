// Package recovery is page recovery between agents (Boldi, Codenotti, Santini, Vigna: UbiCrawler, 2004, section 6.1.1):
// before an agent asks a site for pages that another agent may have, it asks that agent.
//
//	Pages          asks other agents, and answers them
//	Stabilisation  marks captures that another agent has as well, when the crawl has ended
//	FetchedURLs   the URLs with an answer, of this agent and of agents that left permanently; on disk
//	UnfetchedURLs   URLs that no asked agent has, in the current view
//	Unanswering   agents that did not answer the last question, and when to ask them again
//
// The package starts no goroutines. All types except Stabilisation are safe for concurrent use.
//
// # Units and limits
//
// FetchedURLs is a dedup.Map whose digests are URL fingerprints, 24 bytes an entry on disk. UnfetchedURLs remembers
// 65,536 URLs. An agent that does not answer is asked once a second for a minute; after that its pages are fetched
// again.
//
// # The part marks
//
// This part writes the lists of captures that captures of other agents supersede. A list is a file of CDXJ lines in
// the crawl directory; docs/formats.md describes it. Several agents may have stored the same page when hosts moved
// between them. At the end of a crawl each agent marks its own copies, and engine/check/audit marks what is left.
package recovery
