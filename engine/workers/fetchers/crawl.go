package fetchers

import (
	"sync/atomic"

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
	Proxy    bool              // all requests go through a proxy, which resolves names
	HashSeed uint64            // of fingerprints, and of jitter
	Groups   *addrgroup.Groups // which sites share a delay
}

// Queues are where Visits and Pages come from and go to.
type Queues struct {
	Todo     visit.Source
	Results  *visit.ResultQueue
	Shares   *visit.Shares
	Pool     *fetch.Pool
	Pages    chan<- *fetch.Page // to the parse workers
	PagesOut *atomic.Int64      // Pages that a parse worker has or will have
}

// Crawl is what all fetch workers of an agent share.
type Crawl struct {
	Options
	Queues
	Store     *journal.Store
	Exchanges *underway.Table // exchanges of the workers
	InFlight  *attempt.InFlight
	Finished  *journal.FinishedURLs
	Log       *crawllog.Log
	Live      *settings.Live
	Rules     *site.RulesPool
	Jars      *cookie.Jars // nil if no cookies are kept
	Logins    *login.Logins
	Previous  recrawl.PreviousCrawl
	Quotas    *limits.Quotas
	Network   *outage.Network
	Way       *outage.Way
	Shortage  *outage.Shortage
	Clamps    *settings.ClampLog
	Cluster   cluster.VisitGate
	Dialer    fetch.Dialer
	Stopping  <-chan struct{} // closed when no new exchange may begin
}
