// Package explain collects what a crawl knows about one URL, and says in one sentence what became of it.
//
// A Source has the parts of a crawl: those of a running crawl (operator.Operator), or those of a stopped one, which
// OpenStopped opens at its last checkpoint without changing the directory.
//
//	command explain -> control -> Operator -> Source.Collect    the crawl runs
//	                -> OpenStopped -> Source.Collect            it does not
//	Source.Collect: exchange under way, sieve, queue and robots.txt (package hosts), log, index, skipped URLs; conclude
//
// The rules that admit or refuse a URL are engine/operate/dryrun's.
//
// # Costs
//
// The sieve is asked with one read for each run, an index of the archive with a binary search. crawl.log is read from
// its end, 16 MiB at most, or as much as the caller allows. Older lines are looked for at the times of the captures.
// The queue of the host is read up to 10^6 URLs, in slices; the list of skipped URLs up to 10^5. The answer says where
// it stopped. A stopped crawl is opened first: the file of its workbench is read twice, and only the sites of the URLs
// are loaded. The owner of a host that another agent has gets 5 s to answer.
package explain
