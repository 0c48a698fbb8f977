package fetchers

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/login"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/recrawl"
)

// Options are the settings of the crawl that fetch workers use.
type Options struct {
	Fetch    fetch.Options
	Proxy    bool   // all requests go through a proxy, which resolves names
	HashSeed uint64 // of fingerprints, and of jitter
	Dialer   fetch.Dialer
	Began    time.Time       // before the first request of this run
	Stopping <-chan struct{} // closed when no new exchange may begin
}

// Queues are where Visits and Pages come from and go to.
type Queues struct {
	Todo      visit.Source
	Results   *visit.ResultQueue
	Shares    *visit.Shares
	Exchanges *underway.Table // of the workers
	Pool      *fetch.Pool
	Pages     chan<- *fetch.Page // to the parse workers
	LongPages chan<- *fetch.Page // whose body is in a file: to parse workers of their own
	PagesOut  *atomic.Int64      // Pages that a parse worker has or will have
}

// passOn gives a Page to the parse workers, and waits while they are behind.
func (q *Queues) passOn(p *fetch.Page) {
	if _, inFile := p.Rest(); inFile > 0 {
		q.LongPages <- p
		return
	}
	q.Pages <- p
}

// Settings are what may change while the crawl runs: its limits and delays, those of hosts, and groups of hosts.
type Settings struct {
	Live   *settings.Live
	Groups *addrgroup.Groups // which sites share a delay
	Quotas *limits.Quotas
}

// Identity is what requests tell a site of this crawl and of its earlier requests.
type Identity struct {
	Jars     *cookie.Jars // nil if no cookies are kept
	Logins   *login.Logins
	Previous recrawl.PreviousCrawl
}

// Records are where attempts and their outcomes are noted.
type Records struct {
	Store    *journal.Store
	InFlight *attempt.InFlight
	Finished *journal.FinishedURLs
	Log      *crawllog.Log
}

// Outages are what is known of the network, of the way to all sites, and of this machine.
type Outages struct {
	Network  *outage.Network
	Way      *outage.Way
	Shortage *outage.Shortage
}

// Crawl is what all fetch workers of an agent share.
type Crawl struct {
	Options  Options
	Queues   Queues
	Settings Settings
	Identity Identity
	Records  Records
	Outages  Outages
	Rules    *site.RulesPool
	Clamps   *settings.ClampLog
	Cluster  cluster.VisitGate
}
