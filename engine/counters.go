package engine

import (
	"sync/atomic"

	"orbweaver/engine/outcome"
)

// Counters are what the crawl has done, as plain numbers; they belong to the cut, so that after a crash they say what
// the manifest and the journal say. Whenever the house is quiet they balance (E1):
//
//	Found    = DroppedSyntax + DroppedScheme + DroppedLong + DroppedScope + DroppedDepth + DroppedFollow + DroppedLoop + DroppedCache + Sieved + Sent
//	Sieved   = still in the sieve's buckets + Known + Admitted
//	Admitted = sum of Outcomes + queued + in flight
type Counters struct {
	Found    int64 // links and seeds seen at the door, whatever became of them
	Sieved   int64 // handed to the sieve
	Sent     int64 // handed to other agents, who are responsible for them
	Received int64 // of those found, what other agents sent
	LinksOut int64 // of those found, links to another host than where they were; counted when there are other agents
	Known    int64 // dropped by the sieve: in its store, or twice in a bucket
	Admitted int64 // new: let through by the sieve

	DroppedSyntax int64 // no URL
	DroppedScheme int64 // of a scheme other than http and https: mailto, javascript, data, ...
	DroppedLong   int64 // longer than --max-url
	DroppedScope  int64 // outside the scope, or refused by a list of hosts, SURT prefixes or extensions
	DroppedFollow int64 // links that --follow refused
	DroppedDepth  int64 // deeper than --max-depth
	DroppedLoop   int64 // with the same folders more often in a row than --max-path-repeats, by versions that kept no list of them
	DroppedCache  int64 // seen lately: the fingerprint cache knew it
	DroppedLinks  int64 // beyond the number of links taken from one page
	DroppedBytes  int64 // links of one page whose URLs would be longer than its size allows
	Userinfo      int64 // references with a user or a password, which are left out

	Attempts      int64 // exchanges begun for pages, failed or not
	Retries       int64 // of these, those that are to be tried again
	Pages         int64 // pages stored as response records
	Revisits      int64 // pages stored as revisit records, since their payload was there
	Unchanged     int64 // pages stored as revisit records, since the server said that they have not changed
	NotStored     int64 // pages that --store refused
	Unparsed      int64 // pages whose links were known, since the same bytes came from the same directory
	NotParsed     int64 // pages that --parse refused to search for links
	Unclaimed     int64 // responses that content-seen could not note: copies of them are stored whole
	BadEncodings  int64 // pages searched for links whose content encoding is not what it is said to be, is damaged, unpacks to too much, or costs too much
	ParseFaults   int64 // pages whose parse panicked: a bug, saved for the fuzzers
	RobotsFetched int64 // exchanges for robots.txt
	DelayCapped   int64 // robots.txt files with a Crawl-delay longer than the cap
	RetryClamped  int64 // answers with a Retry-After below nothing or beyond what is kept
	IPsSlowed     int64 // exchanges after which the IP waited for longer than its delay, since several of its sites were in trouble
	BytesReceived int64 // of responses, as on the wire
	BytesSent     int64 // of requests

	Skipped  Skips                // URLs in the list of those left out, by rule
	Outcomes [outcome.Count]int64 // of admitted URLs, final ones only
	Statuses [600]int64           // of responses, pages and robots.txt; index 0 counts those outside 100 to 599
}

// Finished is the number of admitted URLs that have their outcome.
func (c *Counters) Finished() int64 {
	var n int64
	for _, v := range c.Outcomes {
		n += v
	}
	return n
}

// stored is the number of pages that have a record of this pass.
func (c *Counters) stored() int64 { return c.Pages + c.Revisits + c.Unchanged }

// counters is the live form: many goroutines add, each under the cut's shared lock; the checkpointer copies it under
// the exclusive one.
type counters struct {
	found, sieved, known, admitted                            atomic.Int64
	droppedSyntax, droppedScope, droppedDepth                 atomic.Int64
	droppedCache, droppedFollow, droppedLoop, notParsed       atomic.Int64
	droppedScheme, droppedLong, userinfo                      atomic.Int64
	droppedBytes                                              atomic.Int64
	droppedLinks, attempts, retries, pages, revisits          atomic.Int64
	notStored, unparsed, unclaimed, parseFaults, badEncodings atomic.Int64
	robotsFetched, delayCapped, bytesReceived, bytesSent      atomic.Int64
	retryClamped, ipsSlowed, unchanged, sent, received        atomic.Int64
	linksOut                                                  atomic.Int64
	finished                                                  atomic.Int64 // sum of outcomes
	skipped                                                   [skipRules]atomic.Int64
	outcomes                                                  [outcome.Count]atomic.Int64
	statuses                                                  [600]atomic.Int64
}

// finish counts n admitted URLs as done with outcome o.
func (c *counters) finish(o outcome.Outcome, n int64) {
	c.outcomes[o].Add(n)
	c.finished.Add(n)
}

func (c *counters) status(code int) {
	if code < 100 || code > 599 {
		code = 0
	}
	c.statuses[code].Add(1)
}

// pairs lists each live counter with its place in the plain form.
func (c *counters) pairs(p *Counters) []counterPair {
	list := []counterPair{
		{&c.found, &p.Found}, {&c.sieved, &p.Sieved}, {&c.known, &p.Known}, {&c.admitted, &p.Admitted},
		{&c.droppedSyntax, &p.DroppedSyntax}, {&c.droppedScope, &p.DroppedScope}, {&c.droppedDepth, &p.DroppedDepth}, {&c.droppedCache, &p.DroppedCache},
		{&c.droppedFollow, &p.DroppedFollow}, {&c.droppedLoop, &p.DroppedLoop}, {&c.notParsed, &p.NotParsed},
		{&c.droppedScheme, &p.DroppedScheme}, {&c.droppedLong, &p.DroppedLong}, {&c.userinfo, &p.Userinfo},
		{&c.droppedLinks, &p.DroppedLinks}, {&c.droppedBytes, &p.DroppedBytes}, {&c.attempts, &p.Attempts}, {&c.retries, &p.Retries},
		{&c.pages, &p.Pages}, {&c.revisits, &p.Revisits}, {&c.notStored, &p.NotStored}, {&c.unparsed, &p.Unparsed},
		{&c.unclaimed, &p.Unclaimed}, {&c.parseFaults, &p.ParseFaults}, {&c.badEncodings, &p.BadEncodings}, {&c.robotsFetched, &p.RobotsFetched}, {&c.delayCapped, &p.DelayCapped},
		{&c.retryClamped, &p.RetryClamped}, {&c.ipsSlowed, &p.IPsSlowed},
		{&c.bytesReceived, &p.BytesReceived}, {&c.bytesSent, &p.BytesSent}, {&c.unchanged, &p.Unchanged},
		{&c.sent, &p.Sent}, {&c.received, &p.Received}, {&c.linksOut, &p.LinksOut},
	}
	for i := range c.skipped {
		list = append(list, counterPair{&c.skipped[i], &p.Skipped[i]})
	}
	for i := range c.outcomes {
		list = append(list, counterPair{&c.outcomes[i], &p.Outcomes[i]})
	}
	for i := range c.statuses {
		list = append(list, counterPair{&c.statuses[i], &p.Statuses[i]})
	}
	return list
}

type counterPair struct {
	live  *atomic.Int64
	plain *int64
}

func (c *counters) load() Counters {
	var p Counters
	for _, pair := range c.pairs(&p) {
		*pair.plain = pair.live.Load()
	}
	return p
}

func (c *counters) store(p Counters) {
	for _, pair := range c.pairs(&p) {
		pair.live.Store(*pair.plain)
	}
	c.finished.Store(p.Finished())
}
