package engine

import (
	"context"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/workers/archive"
	"orbweaver/engine/workers/fetchers"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/notify"
)

// startIntake starts what brings new work in.
func (r *runner) startIntake(ctx context.Context, g *lifecycle.Group) error {
	d, p, q := &r.disk, &r.policy, &r.queues
	names, err := r.newDNSSource()
	if err != nil {
		return err
	}
	g.Go("seed", func() error { return r.newSeeder().Run(ctx) })
	choose := schedule.FirstAddr
	if r.seams.Allowed != nil {
		choose = schedule.AllowedAddrs(r.seams.Allowed)
	}
	for range r.cfg.Workers.Resolvers {
		loop := &schedule.ResolveLoop{
			Steps: &d.Journal.Steps, Quotas: p.quotas, AddrKeys: politeness.AddrKeys(r.cfg.Limits.IPv6Prefix),
			Workbench: d.Workbench, Sites: r.loops.sites, Unresolved: q.unresolved, Dead: r.loops.deadSites, Names: names,
			NameServers: r.outages.NameServers, Shortage: r.outages.Shortage, Live: p.live,
			HashSeed: r.loops.frontier.HashSeed, Choose: choose, WakeFeeder: q.wakeFeeder,
			WakeDistributor: q.wakeDistributor,
		}
		g.Go("resolve", func() error { return loop.ResolveNames(ctx) })
	}
	last, polite := r.loops.checkpoints.Last(), &r.cfg.Politeness
	f := &schedule.Feeder{
		Steps: &d.Journal.Steps, Workbench: d.Workbench, Todo: q.todo, Results: q.results,
		MaxLeased: r.cfg.Workers.Fetchers + q.todo.Room(), Workers: r.cfg.Workers.Fetchers,
		Network: r.outages.Network, Gate: r.outages.Gate, Wake: q.feederWake,
		Ready: d.Ready, Front: r.loops.front, WakeDistributor: q.wakeDistributor,
		NotBefore: last.FirstRequest(r.policy.hostRules.LongestDelay(polite), polite.CrawlDelayMax, time.Now()),
		IsClosing: p.limits.IsClosing, Bandwidth: r.cfg.Fetch.Bandwidth, Shares: q.shares, Backlog: r.loops.backlog,
	}
	if last.Resumed > 0 {
		r.loops.stall.RetryAll(time.Now())
	}
	g.Go("feed", func() error { return f.FeedVisits(ctx) })
	g.Go("distribute", func() error { return r.loops.distributor.DistributeURLs(ctx) })
	return nil
}

// newSeeder makes what offers the seeds.
func (r *runner) newSeeder() *admission.Seeder {
	return &admission.Seeder{
		FS: r.seams.FS, Dir: r.frontierDir(), Steps: &r.disk.Journal.Steps, Disk: r.disk.Journal.Disk,
		Frontier: r.loops.frontier, Log: r.disk.Log, Done: &r.queues.seeded, WaitBegun: r.cluster.WaitBegun,
		Wake: r.queues.wakeDistributor, Warn: r.seams.Log.Warn,
	}
}

// startLate starts what must go on until the last Page is home.
func (r *runner) startLate(ctx context.Context, g *lifecycle.Group) {
	r.cluster.Start(ctx, g.Go)
	g.Go("flush", func() error { return r.loops.flusher.FlushSieve(ctx) })
	g.Go("log", func() error { return r.disk.Log.Run(ctx) })
	history := report.ProgressRecorder{FS: r.seams.FS, Dir: r.cfg.Dir, Report: r.Report, Warn: r.seams.Log.Warn}
	g.Go("progress", func() error { return history.Run(ctx) })
	g.Go("checkpoint", func() error { return r.loops.checkpoints.Run(ctx) })
	d := r.disk.Journal
	g.Go("sync", func() error { return d.Disk.Every(ctx, r.cfg.Intervals.Sync, d.Sync) })
	g.Go("finish", func() error { return d.Disk.Every(ctx, r.cfg.Intervals.Sync, d.FinishFiles) })
	g.Go("others", func() error { return d.Disk.Every(ctx, r.cfg.Intervals.Others, r.disk.Others.Refresh) })
	watch := lifecycle.SetWatch{Warn: r.seams.Log.Warn}
	reports := report.Refresher{FS: r.seams.FS, Dir: r.cfg.Dir, Log: r.seams.Log}
	g.Go("report", func() error {
		return d.Disk.Every(ctx, r.cfg.Intervals.Report, func() error {
			watch.Check(time.Now())
			notify.Send(r.disk.Log.WriteDue)
			r.endAtLimit()
			return reports.Refresh(r.Report())
		})
	})
	g.Go("limit", func() error { return r.policy.limits.FinishAtMaxTime(ctx, r.clock.Wall) })
}

// startWorkers starts the workers that fetch and parse; exchanges aborts what the first do, abort the others.
func (r *runner) startWorkers(exchanges, abort context.Context, fetching, parsing *lifecycle.Group) error {
	shared, crawl, usual := r.fetchersCrawl(), r.parsing(), r.cfg.Workers.Parsers+r.cfg.Workers.Hooked
	for i := range r.cfg.Workers.Fetchers {
		fetching.Go("fetch", func() error { return fetchers.Work(exchanges, shared, i) })
	}
	for i := range usual + r.cfg.Workers.LongParsers() {
		encoder, err := r.cfg.Archive.Encoder(r.cfg.Fetch.Long.Files.NewScratch())
		if err != nil {
			return err
		}
		pages := r.queues.pages
		if i >= usual {
			pages = r.queues.longPages
		}
		w := parsers.NewWorker(crawl, &admission.PageLinks{Frontier: r.loops.frontier, Order: r.policy.order}, encoder)
		parsing.Go("parse", func() error { return w.Run(abort, pages, parsing.Abort) })
	}
	return nil
}

// fetchersCrawl is what the fetch workers share.
func (r *runner) fetchersCrawl() *fetchers.Crawl {
	d, p, q := &r.disk, &r.policy, &r.queues
	return &fetchers.Crawl{
		Options: fetchers.Options{
			Fetch: r.cfg.Fetch, Proxy: r.cfg.Fetch.Proxy != nil, HashSeed: r.loops.frontier.HashSeed,
			Dialer: r.seams.Dialer, Began: time.Now(), Stopping: r.run.Stopping(),
		},
		Queues: fetchers.Queues{
			Todo: q.todo, Results: q.results, Pool: q.pool, Pages: q.pages, LongPages: q.longPages,
			PagesOut: &q.pagesOut, Shares: q.shares, Exchanges: q.exchanges,
		},
		Settings: fetchers.Settings{Live: p.live, Groups: p.groups, Quotas: p.quotas},
		Identity: fetchers.Identity{Jars: p.jars, Logins: r.seams.Logins, Previous: d.Previous},
		Records:  fetchers.Records{Store: d.Journal, InFlight: q.inFlight, Finished: q.finished, Log: d.Log},
		Outages: fetchers.Outages{
			Network: r.outages.Network, Way: r.outages.Way, Shortage: r.outages.Shortage,
		},
		Rules: p.rules, Clamps: p.clamps, Cluster: r.cluster,
	}
}

// newDNSSource returns what resolves names, and stores what name servers answered if the crawl keeps such records.
func (r *runner) newDNSSource() (journal.DNSSource, error) {
	resolver, can := r.seams.Resolver.(journal.HearingResolver)
	if !can || r.cfg.Archive.DNS == archive.DNSNone || r.cfg.Fetch.Proxy != nil {
		return journal.Unrecorded{Resolver: r.seams.Resolver}, nil
	}
	encoder, err := r.cfg.Archive.Encoder(nil)
	return journal.NewDNSRecorder(resolver, r.disk.Journal, r.policy.limits, encoder), err
}

// noteStored is called when a Page has returned to the pool, with how many have not.
func (r *runner) noteStored(pages int64) {
	if pages == 0 {
		r.queues.wakeDistributor()
	}
	r.loops.backlog.NoteStored(pages)
}

// parsing returns what the parse workers share.
func (r *runner) parsing() *parsers.Crawl {
	a := &r.cfg.Archive
	d, p, q := &r.disk, &r.policy, &r.queues
	return &parsers.Crawl{
		Pool: q.pool, PagesOut: &q.pagesOut, Stored: r.noteStored,
		Journal: d.Journal, InFlight: q.inFlight, Limits: p.limits, Log: d.Log, Sites: r.loops.sites,
		Answered: r.cluster, Previous: d.Previous, Others: d.Others, Agents: r.cluster, Near: d.Near,
		Traps: p.traps, Sources: parsers.LinkSources{Miner: p.miner, Hook: p.hook, Judge: p.judge},
		Hosts: parsers.HostRules{Program: p.hosts, TakeRule: r.takeHostRule}, OnPage: r.seams.OnPage,
		Rules: &p.pages, Stats: p.filters.Stats, Parsed: q.parsed, HashSeed: r.loops.frontier.HashSeed,
		Faults:   parsers.NewFaultFiles(r.seams.FS, r.frontierDir(), r.seams.Log),
		Metadata: a.MetadataOptions(&r.cfg.Politeness),
	}
}

// takeHostRule takes the rule that the program of --hook has given for a host.
func (r *runner) takeHostRule(rule string) {
	if !r.policy.hostRules.AddAnswer(rule) {
		r.seams.Log.Warn("the rule of --hook host is not taken: another rule allows the host", "rule", rule)
		return
	}
	r.seams.Log.Info("the program of --hook host has given a rule", "rule", rule)
	if r.policy.hostRules.ExcludesAny() {
		r.loops.distributor.Purge()
	}
}

// endAtLimit ends the crawl if it has reached a limit.
func (r *runner) endAtLimit() {
	l := r.policy.limits
	l.Measure(r.seams.FS, r.cfg.Dir, r.seams.Log)
	c := r.disk.Journal.Count.Load()
	if reason := l.Reached(c.Documents(), r.disk.ArchiveBytes(), r.clock.Wall()); reason != "" {
		l.End(reason)
	}
}
