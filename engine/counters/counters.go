package counters

import (
	"sync/atomic"

	"orbweaver/engine/outcome"
	"orbweaver/engine/skipped"
)

// Totals are what the crawl has done, as plain numbers; they belong to the cut, so that after a crash they say what
// the manifest and the journal say. Whenever the house is quiet they balance (E1):
//
//	Found    = DroppedSyntax + DroppedScheme + DroppedLong + DroppedScope + DroppedDepth + DroppedFollow + DroppedLoop + DroppedCache + Sieved + Sent
//	Sieved   = still in the sieve's buckets + Known + Admitted
//	Admitted = sum of Outcomes + queued + in flight
type Totals struct {
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

	Skipped  skipped.Counts       // URLs in the list of those left out, by rule
	Outcomes [outcome.Count]int64 // of admitted URLs, final ones only
	Statuses [600]int64           // of responses, pages and robots.txt; index 0 counts those outside 100 to 599
}

// Finished is the number of admitted URLs that have their outcome.
func (c *Totals) Finished() int64 {
	var n int64
	for _, v := range c.Outcomes {
		n += v
	}
	return n
}

// Stored is the number of pages that have a record of this pass.
func (c *Totals) Stored() int64 { return c.Pages + c.Revisits + c.Unchanged }

// Live is the live form: many goroutines add, each under the cut's shared lock; the checkpointer copies it under
// the exclusive one.
type Live struct {
	Found, Sieved, Known, Admitted                            atomic.Int64
	DroppedSyntax, DroppedScope, DroppedDepth                 atomic.Int64
	DroppedCache, DroppedFollow, droppedLoop, NotParsed       atomic.Int64
	DroppedScheme, DroppedLong, Userinfo                      atomic.Int64
	DroppedBytes                                              atomic.Int64
	DroppedLinks, Attempts, Retries, Pages, Revisits          atomic.Int64
	NotStored, Unparsed, Unclaimed, ParseFaults, BadEncodings atomic.Int64
	RobotsFetched, DelayCapped, BytesReceived, BytesSent      atomic.Int64
	RetryClamped, IpsSlowed, Unchanged, Sent, Received        atomic.Int64
	LinksOut                                                  atomic.Int64
	Finished                                                  atomic.Int64 // sum of outcomes
	Skipped                                                   [skipped.RuleCount]atomic.Int64
	Outcomes                                                  [outcome.Count]atomic.Int64
	statuses                                                  [600]atomic.Int64
}

// Finish counts n admitted URLs as done with outcome o.
func (c *Live) Finish(o outcome.Outcome, n int64) {
	c.Outcomes[o].Add(n)
	c.Finished.Add(n)
}

// Status counts a response by its HTTP status.
func (c *Live) Status(code int) {
	if code < 100 || code > 599 {
		code = 0
	}
	c.statuses[code].Add(1)
}

// pairs lists each live counter with its place in the plain form.
func (c *Live) pairs(p *Totals) []counterPair {
	list := []counterPair{
		{&c.Found, &p.Found}, {&c.Sieved, &p.Sieved}, {&c.Known, &p.Known}, {&c.Admitted, &p.Admitted},
		{
			&c.DroppedSyntax,
			&p.DroppedSyntax,
		}, {&c.DroppedScope, &p.DroppedScope}, {&c.DroppedDepth, &p.DroppedDepth}, {&c.DroppedCache, &p.DroppedCache},
		{&c.DroppedFollow, &p.DroppedFollow}, {&c.droppedLoop, &p.DroppedLoop}, {&c.NotParsed, &p.NotParsed},
		{&c.DroppedScheme, &p.DroppedScheme}, {&c.DroppedLong, &p.DroppedLong}, {&c.Userinfo, &p.Userinfo},
		{
			&c.DroppedLinks,
			&p.DroppedLinks,
		}, {&c.DroppedBytes, &p.DroppedBytes}, {&c.Attempts, &p.Attempts}, {&c.Retries, &p.Retries},
		{&c.Pages, &p.Pages}, {&c.Revisits, &p.Revisits}, {&c.NotStored, &p.NotStored}, {&c.Unparsed, &p.Unparsed},
		{
			&c.Unclaimed,
			&p.Unclaimed,
		}, {&c.ParseFaults, &p.ParseFaults}, {&c.BadEncodings, &p.BadEncodings}, {&c.RobotsFetched, &p.RobotsFetched}, {&c.DelayCapped, &p.DelayCapped},
		{&c.RetryClamped, &p.RetryClamped}, {&c.IpsSlowed, &p.IPsSlowed},
		{&c.BytesReceived, &p.BytesReceived}, {&c.BytesSent, &p.BytesSent}, {&c.Unchanged, &p.Unchanged},
		{&c.Sent, &p.Sent}, {&c.Received, &p.Received}, {&c.LinksOut, &p.LinksOut},
	}
	for i := range c.Skipped {
		list = append(list, counterPair{&c.Skipped[i], &p.Skipped[i]})
	}
	for i := range c.Outcomes {
		list = append(list, counterPair{&c.Outcomes[i], &p.Outcomes[i]})
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

// Load returns the counts of now. They agree with each other only while no step is under way.
func (c *Live) Load() Totals {
	var p Totals
	for _, pair := range c.pairs(&p) {
		*pair.plain = pair.live.Load()
	}
	return p
}

// Store sets all counts.
func (c *Live) Store(p Totals) {
	for _, pair := range c.pairs(&p) {
		pair.live.Store(*pair.plain)
	}
	c.Finished.Store(p.Finished())
}
