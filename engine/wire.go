package engine

import (
	"cmp"
	"time"

	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/frontier/mining"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/operator"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/handoff"
	"orbweaver/internal/options"
	"orbweaver/sieve/fpcache"
)

// wire makes the loops, and gives each the parts that it uses.
func (o *opener) wire() {
	cfg, d, p, q, l := &o.cfg, &o.disk, &o.policy, &o.queues, &o.loops
	counts := &d.Journal.Count
	counts.Store(o.m.Counters)
	counts.Sums.Store(o.m.Sums)
	o.clock = lifecycle.NewRunTime(o.m.Usage(), o.seams.Usage)
	gate := outage.NewGate(func() { q.wakeFeeder(); q.wakeDistributor() })
	o.outages.Gate = gate
	d.Journal.Disk = &outage.DiskGuard{
		Fs: o.seams.FS, Dir: cfg.Dir, Gate: gate, Most: d.WriteMost, Warn: o.seams.Log.Warn,
	}
	d.Journal.SlowSync.Warn = o.seams.Log.Warn
	d.Log.OnDrained = q.wakeDistributor
	o.wirePolicy()
	q.make(cfg, o.m.HashSeed)
	l.deadSites = schedule.NewDeadSites(schedule.DeadSitesParts{
		Log: d.Log, Workbench: d.Workbench, Counters: counts, Finished: q.finished, HashSeed: o.m.HashSeed,
		Wake: q.wakeDistributor,
	})
	l.sites = &sites.Table{
		Workbench: d.Workbench, Cold: d.Cold, Rules: p.rules, Unresolved: q.unresolved, Live: p.live, Quotas: p.quotas,
		Traps: p.traps, Groups: p.groups, WakeFeeder: q.wakeFeeder,
	}
	l.frontier = &admission.Frontier{
		Rules: cfg.Admission.Rules(p.filters), HostRules: p.hostRules, HashSeed: o.m.HashSeed,
		Router: o.cluster, Views: o.cluster.Views(), CountOutward: o.cluster.IsShared(),
		Cache: fpcache.New(cfg.Admission.CacheMemory, o.m.HashSeed), Sieve: d.Sieve, Counters: counts,
	}
	d.Log.Seeds = &ending.SeedWarnings{Warn: o.seams.Log.Warn, Admits: func(url []byte) bool {
		var scratch admission.Scratch
		return l.frontier.Judge(&scratch, url, &queued.URL{Redirects: 1}) == admission.Belongs
	}}
	o.wireSchedule()
	if n := d.Skipped.RequeueCount; n > 0 {
		o.seams.Log.Info("URLs that were left out are queued again, since the settings leave out less", "urls", n)
	}
	o.cluster.Connect(agent.Parts{
		Options: cfg.Cluster, Dir: cfg.Dir, HostDelay: cfg.Politeness.HostDelay, DedupMemory: cfg.Seen.MemoryBytes,
		StoresAll: cfg.Filters.Store == filter.All, FS: o.seams.FS, Journal: d.Journal, Frontier: l.frontier,
		Sites: l.sites, Gate: gate, Live: p.live, InFlight: q.inFlight, Queues: l.distributor.OnDisk, Dead: l.deadSites,
		Robots: l.returner, Order: p.order, Log: o.seams.Log, Wake: q.wakeDistributor, Lose: o.lose,
	})
	l.checkpoints = o.newCheckpointer()
	o.reports = o.newCollector()
	o.operator = operator.New(operator.Parts{
		Options: operator.Options{
			FS: o.seams.FS, Dir: cfg.Dir, HasVia: cfg.Archive.Via,
			Wake: func() { q.wakeFeeder(); q.wakeDistributor() },
			Changes: changes.Options{
				Config: options.Copy(cfg), File: cmp.Or[changes.File](o.seams.Settings, changes.NoFile{}), Log: p.changes,
				Say: o.seams.Log, Fetch: cfg.Fetch, Own: o.seams.OwnSettings,
			},
		},
		Run: o.run, Disk: d, Live: p.live, Limits: p.limits, Quotas: p.quotas, Pages: &p.pages, Seeds: p.seeds,
		Frontier: l.frontier, Sites: l.sites, Distributor: l.distributor, Checkpoints: l.checkpoints, Outages: o.outages,
		Reports: o.reports, Exchanges: q.exchanges, Shares: q.shares, Cluster: o.cluster,
	})
	o.closers.Add(o.operator.Captures.Close)
	o.closers.Add(o.operator.Feed.Close)
}

// skipSettings are the settings on which the list of skipped URLs depends.
func (o *opener) skipSettings() traps.SkipSettings {
	s := o.policy.traps.SkipSettings()
	s.Requisites = o.cfg.Admission.MaxRequisites
	return s
}

// wirePolicy makes what decides in the crawl.
func (o *opener) wirePolicy() {
	cfg, p := &o.cfg, &o.policy
	p.live = settings.NewLive(cfg.Politeness, p.hostRules)
	if cfg.Walls != nil {
		p.live.Walls.Store(cfg.Walls)
	}
	p.live.ChangeBounds(func(b *settings.Bounds) { *b = cfg.bounds() })
	p.live.Fetch.Store(p.filters.Fetch)
	p.live.Bandwidth = cfg.Fetch.Bandwidth
	p.groups = addrgroup.New(p.hostRules, politeness.AddrKeys(cfg.Limits.IPv6Prefix))
	p.live.Lists.Store(p.filters.Lists)
	p.pages.Store(&parsers.Rules{Links: cfg.linkOptions(p.filters), Store: p.filters.Store})
	for _, s := range p.filters.Stats {
		o.disk.Journal.Count.Sums.Add(s.Name, 0)
	}
	p.limits = limits.New(&cfg.Limits, o.m.Counters.Documents(), o.run.Finish)
	p.limits.SetSpace(o.seams.Uploads, o.outages.Gate)
	p.limits.SetWithRequisites(cfg.Admission.Requisites != admission.RequisitesOff)
	p.traps = traps.New(&cfg.Traps, o.m.HashSeed, o.m.Novelty)
	p.miner = mining.New(cfg.Mining)
	p.hook = hook.New(cfg.Hook, o.seams.Hook, o.seams.Log)
	p.hosts = hook.NewHosts(cfg.Hook, o.seams.Hook, o.seams.Log)
	o.closers.Add(p.hook.Close)
	p.judge = hook.NewLinks(cfg.Hook, o.seams.Hook, o.seams.Log)
	o.closers.Add(p.hosts.Close)
	o.closers.Add(p.judge.Close)
	cfg.Order.HasScore, cfg.Order.IsShared = cfg.ScoresLinks(), o.cluster.IsShared()
	p.order = order.NewCurrent(cfg.Order, o.m.HashSeed, o.m.Order)
	p.quotas = limits.NewQuotas(cfg.Limits.Quotas())
	if cfg.Cookies.Mode == cookie.Site {
		p.jars = cookie.NewJars(cfg.Cookies.Memory, cmp.Or(cfg.Cookies.Presets, new(cookie.Presets)))
	}
}

// make makes the queues whose size depends on the configuration.
func (q *queues) make(cfg *Config, hashSeed uint64) {
	q.todo = handoff.New[visit.Result](max(cfg.Workers.Fetchers/2, 64))
	q.results = visit.NewResultQueue()
	q.pages = make(chan *fetch.Page, 4*cfg.Workers.Parsers)
	q.longPages = make(chan *fetch.Page, cfg.Workers.LongParsers())
	q.pool, q.exchanges = fetch.NewPool(cfg.Workers.Pages(cfg.Fetch.BufferMax())), underway.NewTable(cfg.Workers.Fetchers)
	q.parsed = fpcache.New(max(cfg.Admission.CacheMemory/16, 1<<16), hashSeed)
}

// wireSchedule makes the loops between sieve and fetch workers.
func (o *opener) wireSchedule() {
	cfg, d, p, q, l := &o.cfg, &o.disk, &o.policy, &o.queues, &o.loops
	l.stall = ending.NewStallDetector(d.Workbench, p.live, &d.Journal.Count, q.wakeFeeder)
	l.stall.IsRefused = o.outages.Way.HasRefusedAll
	l.failingSites = ending.NewReporter(d.Workbench, l.stall)
	l.backlog = &schedule.Backlog{
		Pages: &q.pagesOut, Parsers: cfg.Workers.Parsers + cfg.Workers.Hooked, WakeFeeder: q.wakeFeeder,
	}
	l.front = schedule.NewFront(d.Workbench, cfg.Workers.Fetchers, func() int {
		return q.shares.NewWaiting() + q.unresolved.Len()
	})
	l.flusher = schedule.NewFlusher(&d.Journal.Count, d.Journal.Disk, d.Sieve, d.Ready, q.wakeDistributor)
	l.frontier.UrgentAdded = l.flusher.UrgentAdded
	l.returner = &schedule.Returner{
		Steps: &d.Journal.Steps, Workbench: d.Workbench, Sites: l.sites, Results: q.results, Unresolved: q.unresolved,
		Ready: d.Ready, Dead: l.deadSites, Live: p.live, Cluster: o.cluster, Robots: schedule.NewRobotsTargets(),
		WakeFeeder: q.wakeFeeder, WakeDistributor: q.wakeDistributor, Shares: q.shares,
	}
	l.distributor = schedule.NewDistributor(&schedule.Parts{
		Queues: schedule.Queues{
			Workbench: d.Workbench, Sites: l.sites, Ready: d.Ready, OnDisk: sites.NewDiskQueues(d.SiteQueues),
			Unresolved: q.unresolved,
		},
		Progress: schedule.Progress{
			Counters: &d.Journal.Count, PagesOut: &q.pagesOut, IsSeeded: o.isSeeded, NameServers: o.outages.NameServers,
			Stall: l.stall, IsClosing: p.limits.IsClosing,
		},
		Signals: schedule.Signals{Wake: q.distributorWake, WakeFeeder: q.wakeFeeder, Finish: o.run.Finish},
		Options: schedule.Options{
			SiteItems: cfg.Workers.SiteItems, PageRequisites: cfg.Admission.MaxRequisites,
		},
		Order: p.order, Steps: &d.Journal.Steps, Disk: d.Journal.Disk, Dead: l.deadSites, Front: l.front, Flushes: l.flusher,
		Gate: o.outages.Gate, Cluster: o.cluster, Traps: p.traps, Admission: l.frontier, Skipped: d.Skipped, Live: p.live,
		RequestTargets: l.returner.RequestTargets,
	})
	if p.hostRules.ExcludesAny() {
		l.distributor.Purge() // URLs that were queued before the rule, or a purge that a kill has ended
	}
}

// newCheckpointer makes the checkpointer of the components that are open.
func (o *opener) newCheckpointer() *checkpoint.Checkpointer {
	d, q, l := &o.disk, &o.queues, &o.loops
	return checkpoint.New(checkpoint.Components{
		FS: o.seams.FS, Dir: o.frontierDir(), Sieve: d.Sieve, Ready: d.Ready, Skipped: d.Skipped,
		Traps: o.skipSettings, Queues: d.SiteQueues, Seen: d.Journal.Seen, Near: d.NearPart, Cold: d.Cold,
		Attempts: q.inFlight, Held: l.distributor.Held, Finished: q.finished, Cluster: o.cluster,
		Novelty: o.policy.traps.State, Order: o.policy.order.State, Rules: o.policy.hostRules.Flush,
		Workbench: d.Workbench, Log: d.Log,
	}, checkpoint.Options{
		Journal: d.Journal, Flush: l.flusher.Turn(), Seeded: q.seeded.Load, Period: o.cfg.Intervals.Checkpoint,
		JournalStep: o.cfg.Archive.JournalReserve, RunTime: o.clock, Boot: o.seams.Boot,
		Drain: func() error {
			_, err := l.returner.Drain(1 << 30)
			return err
		},
	}, o.m)
}

// newCollector makes what collects the numbers of a report.
func (o *opener) newCollector() *report.Collector {
	d, p, q, l := &o.disk, &o.policy, &o.queues, &o.loops
	return &report.Collector{
		Settings: report.Settings{
			Dir: o.cfg.Dir, Version: o.cfg.Archive.Version, Pass: o.m.Pass, Resumed: o.m.Resumed,
		},
		Run: o.run, Limits: p.limits, Clock: o.clock, Journal: d.Journal, Frontier: l.frontier, Workbench: d.Workbench,
		Pool: q.pool, Traps: p.traps, Log: d.Log, Pauses: l.checkpoints.Pauses(), Cluster: o.cluster,
		FailingSites: l.failingSites, Outages: o.outages, Exchanges: q.exchanges, Bandwidth: o.cfg.Fetch.Bandwidth,
		Numbers: report.Numbers{
			PagesOut: &q.pagesOut, FrontWanted: l.front.Required, Spilled: l.distributor.Spilled, Sites: l.sites.Counts,
			SiteMoves:   func() (frozen, thawed int64) { return l.sites.Evicted.Load(), l.sites.Reloaded.Load() },
			BytesStored: d.ArchiveBytes, Unresolved: q.unresolved.Len, SitesHeld: q.shares.Waiting,
			ParsersBehind: func() bool { return len(q.pages) == cap(q.pages) || l.backlog.IsHolding(time.Now()) },
			Front:         l.front.Size, Fetchers: o.outages.Network.Workers,
			ConnsReused: o.cfg.reusedConns, Cookies: p.cookieStats(o.cfg.Cookies.Mode),
			FilterErrors: func() map[string]int64 { return p.filterErrors(l.frontier) },
			Bodies:       o.cfg.bodyFiles, Uploads: o.seams.Uploads, Hook: p.hook, HostHook: p.hosts,
			LinkHook: p.judge, Sessions: o.cfg.Fetch.Sessions,
		},
	}
}

// cookieStats returns what counts cookies.
func (p *policy) cookieStats(mode cookie.Mode) func() cookie.Stats {
	if mode == cookie.Off {
		return func() cookie.Stats { return cookie.Stats{} }
	}
	return p.jars.Stats
}

// filterErrors counts by point the evaluations of expressions that failed, of the filters in force.
func (p *policy) filterErrors(f *admission.Frontier) map[string]int64 {
	pages := p.pages.Load()
	by := filter.Filters{
		Scope: f.RulesInForce().Scope, Parse: pages.Links.By.Parse, Follow: pages.Links.By.Follow,
		Score: p.filters.Score,
		Store: pages.Store, Stats: p.filters.Stats,
	}
	failed := by.Errors()
	if n := p.live.FetchErrors(); n > 0 {
		failed["fetch"] = n
	}
	return failed
}
