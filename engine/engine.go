package engine

import (
	"cmp"
	"errors"
	"fmt"
	"sync/atomic"

	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/durable/storage"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/frontier/mining"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/login"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/operator"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/closers"
	"orbweaver/internal/handoff"
	"orbweaver/internal/notify"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
	"orbweaver/sieve/fpcache"
)

// Engine is one agent: it owns every component and every loop. Open opens them, Run works, Close closes them.
type Engine struct {
	cfg     Config
	seams   Seams
	closers closers.List

	disk    storage.Storage
	policy  policy
	queues  queues
	loops   loops
	cluster agent.Participant
	outages report.Outages

	run      *lifecycle.Run
	clock    *lifecycle.RunTime
	reports  *report.Collector
	operator *operator.Operator
	opening  Opening
	finished bool // the directory has a finished crawl: Run has nothing to do
}

// policy decides what is fetched, followed and stored, and how much of it.
type policy struct {
	filters   *filter.Filters
	hostRules *settings.HostRules
	seeds     *filter.Seeds
	live      *settings.Live
	pages     atomic.Pointer[parsers.Rules]
	changes   *changes.Log
	limits    *limits.Limits
	quotas    *limits.Quotas
	order     *order.Current
	traps     *traps.Detector
	miner     *mining.Miner
	hook      *hook.Hook
	hosts     *hook.Hosts
	judge     *hook.Links
	rules     *site.RulesPool
	groups    *addrgroup.Groups
	jars      *cookie.Jars // nil if no cookies are kept
	clamps    *settings.ClampLog
}

// queues is what the loops share: what goes from one to the next, and what wakes them.
type queues struct {
	pool       *fetch.Pool
	todo       *handoff.Queue[visit.Result] // feeder -> fetch workers
	results    *visit.ResultQueue           // fetch workers -> returner
	shares     *visit.Shares                // of slow hosts in the fetch workers
	pages      chan *fetch.Page             // fetch workers -> parse workers
	longPages  chan *fetch.Page             // the same, of those whose body is in a file
	unresolved *sites.UnresolvedQueue       // distributor -> resolve loops
	finished   *journal.FinishedURLs
	inFlight   *attempt.InFlight
	exchanges  *underway.Table // of the fetch workers
	parsed     *fpcache.Cache  // pages that were searched for links
	pagesOut   atomic.Int64    // Pages between fetch worker and pool
	seeded     atomic.Bool     // all seeds have passed admission

	feederWake, distributorWake chan struct{}
}

func (q *queues) wakeFeeder()      { notify.Send(q.feederWake) }
func (q *queues) wakeDistributor() { notify.Send(q.distributorWake) }

// loops are the parts that work on them.
type loops struct {
	sites        *sites.Table
	frontier     *admission.Frontier
	deadSites    *schedule.DeadSites
	distributor  *schedule.Distributor
	front        *schedule.Front
	backlog      *schedule.Backlog
	flusher      *schedule.Flusher
	returner     *schedule.Returner
	stall        *ending.StallDetector
	failingSites *ending.Reporter
	checkpoints  *checkpoint.Checkpointer
}

// isSeeded reports whether all seeds, and URLs that wait in the inbox, have passed admission.
func (e *Engine) isSeeded() bool {
	return e.queues.seeded.Load() && !e.isInboxPending()
}

func (e *Engine) isInboxPending() bool { return e.seams.Inbox != nil && e.seams.Inbox.IsPending() }

func (e *Engine) frontierDir() string { return e.cfg.Dir + "/" + layout.FrontierDir }

// Open opens the crawl in cfg.Dir, or begins one. The directory is locked until Close.
func Open(cfg Config, seams Seams) (_ *Engine, err error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Fetch.Keep, cfg.Fetch.Bandwidth = cfg.Workers.KeepConnections(), bandwidth.New(cfg.Limits.Bandwidth)
	cfg.Fetch.Sessions = fetch.NewSessions(cfg.Workers.SessionMemory(), seams.FS, cfg.Dir+"/"+layout.SessionsFile)
	e := newEngine(cfg, seams)
	if cfg.Workers.KeepAlive > 0 {
		e.closers.Add(func() error {
			cfg.Fetch.Keep.Close()
			return nil
		})
	}
	defer func() {
		if vfs.IsFull(err) {
			err = fmt.Errorf("engine: the disk is full: at least %s must be free in %s: %w",
				plural.Bytes(outage.DiskNeed), cfg.Dir, err)
		}
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	o := opener{Engine: e}
	if err := o.open(); err != nil {
		return nil, err
	}
	return e, nil
}

// newEngine makes an engine without what is on disk.
func newEngine(cfg Config, seams Seams) *Engine {
	seams.Uploads = cmp.Or[upload.Source](seams.Uploads, upload.None{})
	seams.Logins = cmp.Or(seams.Logins, new(login.Logins))
	e := &Engine{
		cfg: cfg, seams: seams, run: lifecycle.NewRun(), cluster: agent.Alone{},
		disk: storage.New(),
		policy: policy{
			seeds: new(filter.Seeds), rules: site.NewRulesPool(cfg.RulesMemory()),
			clamps: &settings.ClampLog{Warn: seams.Log.Warn},
		},
		queues: queues{
			shares:   visit.NewShares(filter.Domain),
			finished: journal.NewFinishedURLs(), inFlight: attempt.NewInFlight(), unresolved: sites.NewUnresolvedQueue(),
			feederWake: make(chan struct{}, 1), distributorWake: make(chan struct{}, 1),
		},
		outages: report.Outages{
			Network:     outage.NewNetwork(cfg.Workers.Fetchers, seams.Log.Warn),
			NameServers: outage.NewNameServers(seams.Resolver, seams.Log.Warn),
			Way:         outage.NewWay(filter.Domain, seams.Log.Warn),
			Shortage:    &outage.Shortage{Warn: seams.Log.Warn},
		},
	}
	e.policy.seeds.Watch(seams.Logins.AddSeed)
	return e
}

// Operator is what an operator may ask of the crawl and change in it.
func (e *Engine) Operator() *operator.Operator { return e.operator }

// Report describes the crawl as it is now. Safe for concurrent use.
func (e *Engine) Report() report.Report { return e.reports.Report() }

// Opening says how the Open went.
func (e *Engine) Opening() Opening { return e.opening }

// Abort ends exchanges under way at once; the URLs stay queued. It is what a second signal asks for.
func (e *Engine) Abort() { e.run.Abort(lifecycle.ReasonSignal, nil) }

// lose ends the crawl because this agent has no place among the others. Exchanges under way are aborted, since other
// agents own their hosts.
func (e *Engine) lose(why error) {
	e.seams.Log.Error("this agent stops: it cannot go on beside the others", "error", why)
	e.run.Abort(lifecycle.ReasonLost, fmt.Errorf("%w: %w", cluster.ErrLost, why))
}

// Close closes everything. After Run it is the end of an orderly stop.
func (e *Engine) Close() error { return e.closers.Close() }
