package engine

import (
	"context"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/archive"
	"orbweaver/engine/clock"
	"orbweaver/engine/dnsrecords"
	"orbweaver/engine/fetchers"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/parsers"
	"orbweaver/engine/politeness"
	"orbweaver/engine/schedule"
	"orbweaver/internal/notify"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// startIntake starts what brings new work in.
func (r *runner) startIntake(ctx context.Context, g *failGroup) error {
	d, p, q := &r.disk, &r.policy, &r.queues
	names, err := r.newDNSSource()
	if err != nil {
		return err
	}
	s := r.newSeeder()
	g.Go("seed", func() error { return s.Run(ctx) })
	choose := schedule.FirstAddr
	if r.seams.Allowed != nil {
		choose = schedule.AllowedAddrs(r.seams.Allowed)
	}
	for range r.cfg.Workers.Resolvers {
		loop := &schedule.ResolveLoop{
			Journal: d.journal, Quotas: p.quotas, AddrKeys: politeness.AddrKeys(r.cfg.Limits.IPv6Prefix),
			Workbench: d.workbench, Unresolved: q.unresolved, Dead: r.loops.deadSites, Names: names,
			NameServers: r.outages.NameServers, Shortage: r.outages.Shortage, GiveUp: r.cfg.Limits.GiveUp,
			HashSeed: r.loops.frontier.HashSeed, Choose: choose,
			WakeFeeder: q.wakeFeeder, WakeDistributor: q.wakeDistributor,
		}
		g.Go("resolve", func() error { return loop.Run(ctx) })
	}
	f := &schedule.Feeder{
		Journal: d.journal, Workbench: d.workbench, Todo: q.todo, MaxLeased: q.results.Cap() / 2,
		Gate: r.outages.Gate, Wake: q.feederWake, Ready: d.ready, Front: r.loops.front,
		WakeDistributor: q.wakeDistributor, NotBefore: r.loops.checkpoints.Last().NotBefore,
	}
	if r.unclean {
		p := r.cfg.Politeness
		if due := time.Now().Add(max(p.HostDelay, p.IPDelay)); due.After(f.NotBefore) {
			f.NotBefore = due
		}
	}
	if r.loops.checkpoints.Last().Resumed > 0 {
		r.loops.stall.RetryAll(time.Now())
	}
	g.Go("feed", func() error { return f.Run(ctx) })
	g.Go("distribute", func() error { return r.loops.distributor.Run(ctx) })
	return nil
}

// newSeeder makes what offers the seeds.
func (r *runner) newSeeder() *admission.Seeder {
	s := &admission.Seeder{
		FS: r.seams.FS, Dir: r.frontierDir(), Journal: r.disk.journal, Frontier: r.loops.frontier,
		Done:      &r.queues.seeded,
		WaitBegun: r.cluster.WaitBegun, Wake: r.queues.wakeDistributor,
	}
	return s
}

// startLate starts what must go on until the last Page is home.
func (r *runner) startLate(ctx context.Context, g *failGroup) {
	r.cluster.Start(ctx, g.Go)
	g.Go("flush", func() error { return r.loops.flusher.Run(ctx) })
	g.Go("log", func() error { return r.disk.log.Run(ctx) })
	g.Go("checkpoint", func() error { return r.loops.checkpoints.Run(ctx) })
	g.Go("sync", func() error { return r.every(ctx, r.cfg.Intervals.Sync, r.disk.journal.Sync) })
	g.Go("finish", func() error { return r.every(ctx, r.cfg.Intervals.Sync, r.disk.journal.FinishFiles) })
	watch, unreported := clock.SetWatch{Warn: r.seams.Log.Warn}, throttle.Log{}
	g.Go("report", func() error {
		return r.every(ctx, r.cfg.Intervals.Report, func() error {
			watch.Check(time.Now())
			notify.Send(r.disk.log.WriteDue)
			if reason := r.limitReached(); reason != "" {
				r.run.Finish(reason)
			}
			return r.refreshReport(&unreported)
		})
	})
	if r.cfg.Limits.MaxTime > 0 {
		g.Go("limit", func() error {
			timer := time.NewTimer(r.cfg.Limits.MaxTime - r.clock.Wall())
			defer timer.Stop()
			select {
			case <-timer.C:
				r.run.Finish(lifecycle.ReasonMaxTime)
			case <-ctx.Done():
			}
			return nil
		})
	}
}

// every calls f again and again; a full disk makes it wait, any other error ends the crawl.
func (r *runner) every(ctx context.Context, period time.Duration, f func() error) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := f(); err != nil {
			if err := r.disk.journal.Disk.Wait(ctx, err); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// startWorkers starts the workers that fetch and parse; exchanges aborts what the first do, abort the others.
func (r *runner) startWorkers(exchanges, abort, forever context.Context, fetching, parsing *failGroup) error {
	shared, crawl := r.fetchersCrawl(), r.parsing()
	for i := range r.cfg.Workers.Fetchers {
		w := fetchers.NewWorker(shared, i)
		fetching.Go("fetch", func() error {
			defer w.Close()
			return w.Run(exchanges, forever)
		})
	}
	for range r.cfg.Workers.Parsers {
		encoder, err := r.cfg.Archive.Encoder()
		if err != nil {
			return err
		}
		w := parsers.NewWorker(crawl, &admission.PageLinks{Frontier: r.loops.frontier}, encoder)
		parsing.Go("parse", func() error { return w.Run(abort, parsing.cancel) })
	}
	return nil
}

// fetchersCrawl is what the fetch workers share.
func (r *runner) fetchersCrawl() *fetchers.Crawl {
	most, d, p, q := &r.cfg.Limits, &r.disk, &r.policy, &r.queues
	return &fetchers.Crawl{
		Options: fetchers.Options{
			Fetch: r.cfg.Fetch, Proxy: r.cfg.Fetch.Proxy != nil, MaxPerHost: most.MaxPerHost, GiveUp: most.GiveUp,
			StallWait: most.StallWait, HashSeed: r.loops.frontier.HashSeed,
			AddrKeys: politeness.AddrKeys(most.IPv6Prefix),
		},
		Queues: fetchers.Queues{
			Todo: q.todo, Results: q.results, Pool: q.pool, Pages: q.pages, PagesOut: &q.pagesOut,
		},
		Store: d.journal, InFlight: q.inFlight, Finished: q.finished, Log: d.log, Live: p.live, Lists: p.filters.Lists,
		Rules: p.rules, Jars: p.jars, Previous: d.previous, Quotas: p.quotas, Clamps: p.clamps,
		Network: r.outages.Network, Shortage: r.outages.Shortage, Cluster: r.cluster, Dialer: r.seams.Dialer,
		Exchanging: &q.fetching, Stopping: r.run.Stopping(),
	}
}

// newDNSSource returns what resolves names, and stores what name servers answered if the crawl keeps such records.
func (r *runner) newDNSSource() (dnsrecords.Source, error) {
	resolver, can := r.seams.Resolver.(dnsrecords.HearingResolver)
	if !can || r.cfg.Archive.DNS == archive.DNSNone || r.cfg.Fetch.Proxy != nil {
		return dnsrecords.Unrecorded{Resolver: r.seams.Resolver}, nil
	}
	encoder, err := r.cfg.Archive.Encoder()
	return dnsrecords.NewRecorder(resolver, r.disk.journal, r.policy.limits, encoder), err
}

// parsing returns what the parse workers share.
func (r *runner) parsing() *parsers.Crawl {
	a := &r.cfg.Archive
	d, p, q := &r.disk, &r.policy, &r.queues
	return &parsers.Crawl{
		Pages: q.pages, Pool: q.pool, PagesOut: &q.pagesOut, LastOut: q.wakeDistributor,
		Journal: d.journal, InFlight: q.inFlight, Limits: p.limits, Log: d.log, Sites: r.loops.sites,
		Answered: r.cluster, Previous: d.previous, Traps: p.traps, Links: r.cfg.linkOptions(p.filters),
		Parsed: q.parsed, HashSeed: r.loops.frontier.HashSeed, Store: p.filters.Store,
		Faults:   parsers.NewFaultFiles(r.seams.FS, r.frontierDir(), r.seams.Log),
		Metadata: parsers.MetadataOptions{Mode: a.Metadata, Via: a.Via, Outlinks: a.Outlinks},
	}
}

// limitReached says which limit the crawl has reached, "" for none.
func (r *runner) limitReached() string {
	r.policy.limits.Measure(r.seams.FS, r.cfg.Dir, r.seams.Log)
	c := r.disk.journal.Count.Load()
	return r.policy.limits.Reached(c.Stored(), r.disk.archiveBytes(), r.clock.Wall())
}

// refreshReport replaces report.json. A full disk is an error; any other fault is logged and does not end the crawl,
// which has all that it needs elsewhere.
func (r *runner) refreshReport(m *throttle.Log) error {
	err := r.writeReport(r.Report())
	if err == nil || vfs.IsPassing(err) {
		return err
	}
	if n, ok := m.Allow(time.Now()); ok {
		r.seams.Log.Warn("the report cannot be written; the crawl goes on", "error", err, "times", n)
	}
	return nil
}
