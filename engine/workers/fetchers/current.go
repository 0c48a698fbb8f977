package fetchers

import (
	"bytes"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/invariants"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// A requestKind is what a worker asks a site for.
type requestKind uint8

const (
	pageRequest   requestKind = iota // a page of the crawl
	robotsRequest                    // the robots.txt of the site, or the target of its redirect
	targetRequest                    // the target of a redirect of the robots.txt of another site
	rootRequest                      // the root page, as a proof that a failing site serves pages
)

// inTable is what the table of exchanges under way calls a request.
func (k requestKind) inTable() underway.Kind {
	return [...]underway.Kind{underway.Page, underway.Robots, underway.Robots, underway.Proof}[k]
}

// current is the Visit that a worker holds, and the item of it that the worker is about to fetch.
type current struct {
	result   *visit.Result       // with which the Visit will return
	site     site.State          // changed here, and stored with the result
	settings filter.HostSettings // of the host
	now      time.Time           // when the checks of the Visit began
	foreign  bool                // another agent owns the site
	ofWay    bool                // the last exchange failed on the way to the site
	nextAddr bool                // the last exchange had no connection, and the site has another address to try
	http2Due bool                // the last answer calls for another try of the URL over HTTP/2
	namedDue time.Time           // of ofPage: for the journal, since the proof that follows is not in it
	ofPage   bool                // the last outcome is taken for that of the URL, not of the site
	leased   bool                // this agent holds the lease of the address, see cluster.VisitGate
	shared   netip.Addr          // the address of a site of a group, while the site has it
	holders  []cluster.Holder    // of the pages of the items; nil if not asked yet or if no agent can have one
	index    int                 // of the item in result.Visit.Items
	kind     requestKind
	item     []byte     // encoded; nil if the request is for the site itself: its robots.txt or root page
	queued   queued.URL // decoded item, or what a request for the site has in place of it
	url      []byte     // normal form of the URL to fetch
	rule     []byte     // the robots.txt line that allowed url, see attempt.Attempt.RobotsRule
	refused  []refusal  // items that got their outcome without a request
	lines    []byte     // of the crawl log, for them
}

// A refusal is an item that got its outcome without a request. It is counted when the Visit returns.
type refusal struct {
	outcome  outcome.Outcome // None for a robots.txt redirect, which is not a URL of the crawl
	finished xxh3.Uint128    // fingerprint in Crawl.Finished, to be removed there; zero for none
	routed   *queued.URL     // goes to another agent, with the whole URL; nil if nothing does
	holder   string          // the agent that has the page of routed; empty if routed goes to the owner of the host
}

// begin takes a Visit. owned says that this agent owns the site.
func (c *current) begin(r *visit.Result, owned bool) {
	invariants.Mangle(c.url)
	invariants.Mangle(c.rule)
	invariants.Mangle(c.lines[:cap(c.lines)])
	v := &r.Visit
	r.Release = workbench.Release{Unused: v.Items, SiteDue: v.SiteDue, IPDue: v.IPDue}
	c.result = r
	c.site, c.settings = v.Site, filter.HostSettings{}
	c.foreign, c.holders, c.now, c.lines = !owned, nil, time.Now(), c.lines[:0]
}

// beginItem goes on to an item.
func (c *current) beginItem(index int) {
	v := &c.result.Visit
	c.index, c.kind, c.item = index, pageRequest, v.Items[index]
	c.queued = queued.MustDecode(c.item)
	c.url = append(append(c.url[:0], v.Key...), c.queued.Rest...)
	c.result.Release.Unused = v.Items[index:]
}

// takeItem takes the item out of those that return with the Visit: it has an outcome, or a request is made for it.
func (c *current) takeItem() { c.result.Release.Unused = c.result.Visit.Items[c.index+1:] }

// returnItem makes the item, if there is one, the next item of the site.
func (c *current) returnItem() {
	if c.item != nil {
		c.result.Release.Front = [][]byte{c.item}
	}
}

// useRobots makes the request one for the robots.txt of the site.
func (c *current) useRobots() {
	c.kind, c.item = robotsRequest, nil
	c.url = append(append(c.url[:0], c.result.Visit.Key...), robots.FilePath...)
	c.queued = queued.URL{Tries: int(c.site.RobotsTries), Depth: c.queued.Depth, Embeds: c.queued.Embeds}
}

// useRoot makes the request one for the root page of the site.
func (c *current) useRoot() {
	c.kind, c.item = rootRequest, nil
	c.url = append(append(c.url[:0], c.result.Visit.Key...), '/')
	c.queued = queued.URL{Depth: c.queued.Depth}
}

// isAllowed reports whether the rules of the site allow a path, and keeps the line that does in rule.
func (c *current) isAllowed(path []byte) (allowed bool) {
	allowed, c.rule = c.site.Rules.AppendAllowed(c.rule[:0], path)
	return allowed
}

// refuse gives the item its outcome.
func (c *current) refuse(r refusal) { c.refused = append(c.refused, r) }

// wholeURL is the item as it goes to another agent: a copy with the whole URL in Rest.
func (c *current) wholeURL() *queued.URL {
	u := c.queued
	u.Rest = bytes.Clone(c.url)
	return &u
}

// postponeSite lets the site wait until due at least.
func (c *current) postponeSite(due time.Time) {
	if due.After(c.result.Release.SiteDue) {
		c.result.Release.SiteDue = due
	}
}

// giveUpSite makes the site dead. Its queued URLs get outcome o.
func (c *current) giveUpSite(o outcome.Outcome) {
	c.site.DeadOutcome, c.result.Release.Kill = o, true
}
