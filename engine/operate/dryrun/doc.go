// Package dryrun says what would become of a URL, and which rule decides, before or beside a crawl. It is what
// `crawl --dry-run` prints.
//
// An Explainer compiles the filters as the engine does, and reads the seeds and the host rules of the crawl directory.
// It sends no packet, resolves no name and writes no file. What only the crawl can know is answered with Undecided:
// whether the URL is known, robots.txt, the address of a name, novelty, and filters that look at the response.
//
//	New: admission.LoadScope, settings.ReadHostRules, filter.Compile
//	Explainer.Explain   -> syntax, scheme, strip, follow, depth, length, lists, host rules, scope, repeats
//	                    -> fetch filter, address, then what is undecided
//
// The order is that of admission.Frontier, then that of engine/workers/fetchers. A test compares the answers with those
// of a Frontier. An Explainer is not safe for concurrent use.
package dryrun
