package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"time"

	"golang.org/x/sync/errgroup"

	"orbweaver/engine/admission"
	"orbweaver/engine/checkpoint"
	"orbweaver/engine/clock"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/dnsrecords"
	"orbweaver/engine/ending"
	"orbweaver/engine/fetchers"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outage"
	"orbweaver/engine/parsers"
	"orbweaver/engine/politeness"
	"orbweaver/engine/report"
	"orbweaver/engine/schedule"
	"orbweaver/internal/notify"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// drainMax is how long an orderly stop waits for exchanges under way before it aborts them.
const drainMax = 30 * time.Second

// Run crawls until nothing is left, a limit is reached or ctx ends; ctx ending means: finish the exchanges under way,
// save everything, and return nil with the state "stopped". The first error of any loop stops the rest and is
// returned; what was acknowledged is then on disk, and the crawl can be resumed.
//
// Closing goes downstream: intake (seeder, resolvers, feeder) ends first; fetch workers finish or are aborted and give
// their Visits back; when the last is gone the parse workers empty the channel, their links still passing the front
// door; then distributor and flusher end; then the last cut is taken and the archive closed.
func (e *Engine) Run(ctx context.Context) error {
	if e.over {
		return e.stayOver()
	}
	forever := context.WithoutCancel(ctx)
	abort, cancel := context.WithCancelCause(forever) // aborts exchanges and ends the drain loops
	defer cancel(nil)
	e.run.OnAbort(func() { cancel(errDrain) })

	intakeCtx, stopIntake := context.WithCancel(abort)
	defer stopIntake()
	lateCtx, stopLate := context.WithCancel(abort)
	defer stopLate()
	intake, late := e.group(forever, cancel), e.group(forever, cancel)
	fetching, parsing, returning := e.group(forever, cancel), e.group(forever, cancel), e.group(forever, cancel)

	if err := e.startIntake(intakeCtx, intake); err != nil {
		cancel(err)
	}
	e.startLate(lateCtx, late)
	exchanges, hangUp := context.WithCancelCause(abort)
	defer hangUp(nil)
	if err := e.startWorkers(exchanges, abort, forever, fetching, parsing); err != nil {
		cancel(err)
	}
	returning.Go("return", func() error { return e.returner.Run(forever) })
	if e.cluster.IsLeaving() { // it had begun to before it was stopped
		e.run.Finish(lifecycle.ReasonLeft)
	}

	select {
	case <-ctx.Done():
		e.run.Finish(lifecycle.ReasonSignal)
	case <-e.run.Stopping():
	case <-abort.Done():
		e.run.Finish(lifecycle.ReasonSignal)
	}
	stopIntake()
	drain := time.AfterFunc(drainMax, func() {
		if e.cluster.IsLeaving() {
			hangUp(errDrain) // and no more: there is much to do yet
			return
		}
		cancel(errDrain)
	})
	defer drain.Stop()
	errs := []error{intake.Wait()}
	e.todo.Close()
	errs = append(errs, fetching.Wait())
	close(e.fetched)
	errs = append(errs, parsing.Wait())
	e.done.Close()
	errs = append(errs, returning.Wait())
	if e.cluster.IsLeaving() {
		drain.Stop()
		errs = append(errs, e.depart(ctx, abort))
	}
	stopLate()
	errs = append(errs, late.Wait())
	e.cluster.AcceptMessages(false) // what comes from now on would not be in the last cut
	err := e.conclude(ctx, abort, vfs.JoinCauses(errs...))
	if serr := e.cluster.Stop(forever); serr != nil { // not before all is on disk: it may be asked how it is until then
		e.seams.Log.Warn("the other agents could not be told that this one goes", "error", serr)
	}
	return err
}

// Depart gives all that this agent has to the others. If it is stopped meanwhile that is how the crawl has ended, and
// its next run departs.
func (e *Engine) depart(ctx, abort context.Context) error {
	d := agent.Departure{
		Journal: e.ledger, Distributor: e.dist, Flusher: e.flush, Checkpoints: e.points.Requests(), Wake: e.distWake, Stop: ctx.Done(),
		Given: make(map[string]bool),
	}
	own, end := context.WithCancel(abort)
	defer end()
	defer context.AfterFunc(ctx, end)()
	d.OfferSeeds = func(context.Context) error {
		if e.seeded.Load() {
			return nil
		}
		s := e.newSeeder()
		s.WaitBegun = d.WithReminders(s.WaitBegun)
		if err := s.Run(own); err != nil || e.seeded.Load() {
			return err
		}
		return d.StopReason(abort)
	}
	err := e.cluster.Depart(abort, &d)
	if err == nil {
		return nil
	}
	e.run.ReplaceReason(lifecycle.ReasonLeft, lifecycle.ReasonSignal)
	if errors.Is(err, agent.ErrStopped) || errors.Is(err, outage.ErrFullAtStop) || abort.Err() != nil {
		return nil //nolint:nilerr // the crawl has stopped; who aborted it says why
	}
	return err
}

// lose ends the crawl since this agent has no place among the others: exchanges under way are aborted, since their
// hosts are another's.
func (e *Engine) lose(why error) {
	e.seams.Log.Error("this agent stops: it cannot go on beside the others", "error", why)
	e.run.Abort(lifecycle.ReasonLost, fmt.Errorf("%w: %w", cluster.ErrLost, why))
}

var errDrain = errors.New("engine: exchanges still under way when the time to stop was over were aborted")

// Abort ends exchanges under way at once; the URLs stay queued. It is what a second signal asks for.
func (e *Engine) Abort() { e.run.Abort(lifecycle.ReasonSignal, nil) }

// group starts goroutines whose first error aborts everything.
func (e *Engine) group(ctx context.Context, cancel context.CancelCauseFunc) *failGroup {
	label := func(loop string) { pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("loop", loop))) }
	return &failGroup{label: label, cancel: cancel}
}

type failGroup struct {
	errgroup.Group
	label  func(loop string) // the goroutine that calls it
	cancel context.CancelCauseFunc
}

// Go runs f, which profiles will call a goroutine of loop, and waits for it in Wait.
func (g *failGroup) Go(loop string, f func() error) {
	g.Group.Go(func() error {
		g.label(loop)
		err := f()
		if err != nil {
			g.cancel(err)
		}
		return err
	})
}

// startIntake starts what brings new work in.
func (e *Engine) startIntake(ctx context.Context, g *failGroup) error {
	names, err := e.newDNSSource()
	if err != nil {
		return err
	}
	s := e.newSeeder()
	g.Go("seed", func() error { return s.Run(ctx) })
	choose := schedule.FirstAddr
	if e.seams.Allowed != nil {
		choose = schedule.AllowedAddrs(e.seams.Allowed)
	}
	for range e.cfg.Workers.Resolvers {
		r := &schedule.ResolveLoop{
			Journal: e.ledger, Quotas: e.quotas, AddrKeys: politeness.AddrKeys(e.cfg.Limits.IPv6Prefix), Workbench: e.bench,
			Unresolved: e.unresolved, Dead: e.under, Names: names,
			NameServers: e.servers, Shortage: e.scarce,
			GiveUp: e.cfg.Limits.GiveUp, HashSeed: e.frontier.HashSeed, Choose: choose,
			WakeFeeder: func() { notify.Send(e.feedWake) }, WakeDistributor: func() { notify.Send(e.distWake) },
		}
		g.Go("resolve", func() error { return r.Run(ctx) })
	}
	f := &schedule.Feeder{
		Journal: e.ledger, Workbench: e.bench, Todo: e.todo, MaxLeased: e.done.Cap() / 2, Gate: e.gate, Wake: e.feedWake,
		Ready: e.ready, Front: e.front, WakeDistributor: func() { notify.Send(e.distWake) }, NotBefore: e.points.Last().NotBefore,
	}
	if e.unclean {
		p := e.cfg.Politeness
		if due := time.Now().Add(max(p.HostDelay, p.IPDelay)); due.After(f.NotBefore) {
			f.NotBefore = due
		}
	}
	if e.points.Last().Resumed > 0 {
		e.stall.RetryAll(time.Now())
	}
	g.Go("feed", func() error { return f.Run(ctx) })
	g.Go("distribute", func() error { return e.dist.Run(ctx) })
	return nil
}

func (e *Engine) newSeeder() *admission.Seeder {
	s := &admission.Seeder{
		FS: e.seams.FS, Dir: e.frontierDir(), Journal: e.ledger, Frontier: e.frontier, Done: &e.seeded,
		WaitBegun: e.cluster.WaitBegun, Wake: func() { notify.Send(e.distWake) },
	}
	return s
}

// startLate starts what must go on until the last Page is home.
func (e *Engine) startLate(ctx context.Context, g *failGroup) {
	e.cluster.Start(ctx, g.Go)
	g.Go("flush", func() error { return e.flush.Run(ctx) })
	g.Go("log", func() error { return e.log.Run(ctx) })
	g.Go("checkpoint", func() error { return e.points.Run(ctx) })
	g.Go("sync", func() error { return e.every(ctx, e.cfg.Intervals.Sync, e.ledger.Sync) })
	g.Go("finish", func() error { return e.every(ctx, e.cfg.Intervals.Sync, e.ledger.FinishFiles) })
	watch, unreported := clock.SetWatch{Warn: e.seams.Log.Warn}, throttle.Log{}
	g.Go("report", func() error {
		return e.every(ctx, e.cfg.Intervals.Report, func() error {
			watch.Check(time.Now())
			notify.Send(e.log.WriteDue)
			if reason := e.limitReached(); reason != "" {
				e.run.Finish(reason)
			}
			return e.refreshReport(&unreported)
		})
	})
	if e.cfg.Limits.MaxTime > 0 {
		g.Go("limit", func() error {
			timer := time.NewTimer(e.cfg.Limits.MaxTime - e.clock.Wall())
			defer timer.Stop()
			select {
			case <-timer.C:
				e.run.Finish(lifecycle.ReasonMaxTime)
			case <-ctx.Done():
			}
			return nil
		})
	}
}

// every calls f again and again; a full disk makes it wait, any other error ends the crawl.
func (e *Engine) every(ctx context.Context, period time.Duration, f func() error) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := f(); err != nil {
			if err := e.ledger.Disk.Wait(ctx, err); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// startWorkers starts those who fetch and parse; exchanges aborts what the first do, abort the others.
func (e *Engine) startWorkers(exchanges, abort, forever context.Context, fetching, parsing *failGroup) error {
	shared, crawl := e.fetchersCrawl(), e.parsing()
	for i := range e.cfg.Workers.Fetchers {
		w := fetchers.NewWorker(shared, i)
		fetching.Go("fetch", func() error {
			defer w.Close()
			return w.Run(exchanges, forever)
		})
	}
	for range e.cfg.Workers.Parsers {
		encoder, err := e.newEncoder()
		if err != nil {
			return err
		}
		w := parsers.NewWorker(crawl, &admission.PageLinks{Frontier: e.frontier}, encoder)
		parsing.Go("parse", func() error { return w.Run(abort, parsing.cancel) })
	}
	return nil
}

// fetchersCrawl is what the fetch workers share.
func (e *Engine) fetchersCrawl() *fetchers.Crawl {
	limits := &e.cfg.Limits
	return &fetchers.Crawl{
		Options: fetchers.Options{
			Fetch: e.cfg.Fetch, Proxy: e.cfg.Fetch.Proxy != nil, MaxPerHost: limits.MaxPerHost, GiveUp: limits.GiveUp,
			StallWait: limits.StallWait, HashSeed: e.frontier.HashSeed, AddrKeys: politeness.AddrKeys(limits.IPv6Prefix),
		},
		Queues: fetchers.Queues{
			Todo: e.todo, Results: e.done, Pool: e.pool, Pages: e.fetched, PagesOut: &e.pagesOut,
		},
		Store: e.ledger, InFlight: e.aloft, Finished: e.finished, Log: e.log, Live: e.live, Lists: e.filters.Lists,
		Rules: e.rules, Jars: e.jars, Previous: e.previous, Quotas: e.quotas, Network: e.network, Shortage: e.scarce,
		Clamps: e.clamps, Cluster: e.cluster, Dialer: e.seams.Dialer, Exchanging: &e.fetching, Stopping: e.run.Stopping(),
	}
}

// newEncoder makes what packs records for the archive.
func (e *Engine) newEncoder() (*warc.Encoder, error) {
	a := &e.cfg.Archive
	enc, err := warc.NewEncoder(warc.EncoderOptions{Compression: a.Compression, Level: a.Level, Dictionary: a.Dictionary})
	if err != nil {
		return nil, fmt.Errorf("engine: archive: %w", err)
	}
	return enc, nil
}

// newDNSSource returns what resolves names, and stores what name servers answered if the crawl keeps such records.
func (e *Engine) newDNSSource() (dnsrecords.Source, error) {
	resolver, can := e.seams.Resolver.(dnsrecords.HearingResolver)
	if !can || e.cfg.Archive.DNS == DNSRecordsNone || e.cfg.Fetch.Proxy != nil {
		return dnsrecords.Unrecorded{Resolver: e.seams.Resolver}, nil
	}
	encoder, err := e.newEncoder()
	return dnsrecords.NewRecorder(resolver, e.ledger, e.limits, encoder), err
}

// parsing returns what the parse workers share.
func (e *Engine) parsing() *parsers.Crawl {
	a := &e.cfg.Archive
	return &parsers.Crawl{
		Pages: e.fetched, Pool: e.pool, PagesOut: &e.pagesOut, LastOut: func() { notify.Send(e.distWake) },
		Journal: e.ledger, InFlight: e.aloft, Limits: e.limits, Log: e.log, Sites: e.hosts, Answered: e.cluster,
		Previous: e.previous, Traps: e.traps, Links: e.cfg.linkOptions(e.filters),
		Parsed: e.parsed, HashSeed: e.frontier.HashSeed, Store: e.filters.Store,
		Faults:   parsers.NewFaultFiles(e.seams.FS, e.frontierDir(), e.seams.Log),
		Metadata: parsers.MetadataOptions{Mode: a.Metadata, Via: a.Via, Outlinks: a.Outlinks},
	}
}

// conclude finishes the archive, takes the last cut and writes the report. A full disk makes it wait for room until ctx
// ends, or, if that is what ended the crawl, until the time to stop is over.
func (e *Engine) conclude(ctx, abort context.Context, err error) error {
	if ctx.Err() != nil {
		ctx = abort
	}
	if errors.Is(err, errDrain) {
		err = nil
	}
	_, reason := e.run.State()
	state := lifecycle.Finished
	switch {
	case err != nil:
	case reason == lifecycle.ReasonSignal, reason == lifecycle.ReasonLost, reason == lifecycle.ReasonLate:
		state = lifecycle.Stopped
	case reason == lifecycle.ReasonComplete:
		c := e.ledger.Count.Load()
		state, reason = ending.StateOf(&c, !e.cluster.IsShared(), e.hosts.CountGivenUp)
	case reason == lifecycle.ReasonStalled:
		state = lifecycle.Stalled
		e.trouble.Stalled(e.seams.Log.Warn)
	}
	if err == nil {
		err = e.patiently(ctx, e.ledger.Writer.Close)
	}
	if err == nil {
		forever := context.WithoutCancel(ctx)
		err = e.patiently(ctx, func() error { return e.points.Take(forever, state, reason, true) })
	}
	switch {
	case errors.Is(err, outage.ErrFullAtStop):
		state, reason = lifecycle.Stopped, outage.ErrFullAtStop.Error()
	case err != nil:
		state, reason = lifecycle.Failed, err.Error()
	default:
		if err := checkpoint.SaveCache(e.seams.FS, e.frontierDir(), e.points.Last().Generation, e.frontier.Cache); err != nil {
			e.seams.Log.Warn("the fingerprint cache could not be saved; the next run begins with an empty one", "error", err)
		}
	}
	e.pool.Close()
	e.log.Flush()
	if err == nil {
		err = e.patiently(ctx, func() error { return e.writeReport(e.Report().End(state, reason)) })
	} else {
		err = vfs.JoinCauses(err, e.writeReport(e.Report().End(state, reason)))
	}
	e.run.SetState(state, reason)
	if reason == lifecycle.ReasonLost {
		err = vfs.JoinCauses(e.run.Cause(), err)
	}
	return err
}

// stayOver ends a run that has nothing to do. A kill may have come between the last manifest and the report.
func (e *Engine) stayOver() error {
	if err := e.ledger.Writer.Close(); err != nil {
		return err
	}
	if r, err := report.Read(e.seams.FS, e.cfg.Dir); err == nil && r.State == lifecycle.Finished {
		return nil
	}
	return e.writeReport(e.Report())
}

// patiently calls f until the disk has room for it.
func (e *Engine) patiently(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil {
			return nil
		}
		if err := e.ledger.Disk.Wait(ctx, err); err != nil {
			return err
		}
	}
}
