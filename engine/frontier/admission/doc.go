// Package admission decides which discovered URLs enter the crawl. Links of pages, seeds, URLs that an operator adds
// and URLs that other agents send all pass the Frontier, which gives new ones to the sieve.
//
// The checks, in this order, each with its counter: depth, length, host rules, host lists, scope. Then the fingerprint
// cache is asked; then a URL of this agent goes to the sieve, and one of another agent to the router. The chain:
//
//	parsers.Worker -> PageLinks.AddLinks -> Frontier.AddAll -> check -> admit -> sieve.Sieve.Add
//	Seeder.Run, Injector.Add -----------> Frontier.Add ----> check -> admit -> cluster.Router.Route
//	another agent ----------------------> Frontier.Receive
//
// Frontier and its parts are safe for many goroutines; a Scratch belongs to one. The Seeder keeps the seeds of all runs
// in a file of the crawl directory, one URL in normal form a line, and offers them once.
//
// Admission is a part of promise E1 of package engine: the counters change only within the step that moves the URL.
// A URL is at most delayed by a full sieve (WaitRoom), and dropped only with a counter.
package admission
