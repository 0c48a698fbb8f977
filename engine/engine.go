package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/attempt"
	"orbweaver/engine/checkpoint"
	"orbweaver/engine/clock"
	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/cookie"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/ending"
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/limits"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outage"
	"orbweaver/engine/rebuild"
	"orbweaver/engine/recrawl"
	"orbweaver/engine/report"
	"orbweaver/engine/schedule"
	"orbweaver/engine/seen"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/skipped"
	"orbweaver/engine/traps"
	"orbweaver/engine/visit"
	"orbweaver/internal/mpmc"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Engine is one agent: the composition root that owns every room and every loop. Open acquires, Run works, Close lets
// go.
type Engine struct {
	cfg   Config
	seams Seams
	lock  io.Closer

	ledger     *journal.Store
	frontier   *admission.Frontier
	bench      *visit.Workbench
	cold       *cold.Store
	hosts      *sites.Table
	sieve      *sieve.Sieve
	ready      *diskq.Queue
	skipped    *skipped.List
	virt       *virtualize.Virtualizer
	pool       *fetch.Pool
	filters    *filter.Filters
	hostRules  *settings.HostRules
	seeds      *filter.Seeds
	rules      *site.RulesPool
	jars       *cookie.Jars // nil if no cookies are kept
	previous   recrawl.PreviousCrawl
	traps      *traps.Detector
	cluster    agent.Participant
	quotas     *limits.Quotas
	finished   *journal.FinishedURLs
	aloft      *attempt.InFlight
	parsed     *fpcache.Cache
	log        *crawllog.Log
	clock      *clock.RunTime
	limits     *limits.Limits
	gate       *outage.Gate
	live       *settings.Live
	unresolved *sites.UnresolvedQueue
	servers    *outage.NameServers
	scarce     *outage.Shortage
	clamps     *settings.ClampLog
	network    *outage.Network
	under      *schedule.DeadSites
	todo       *mpmc.Queue[visit.Visit]
	done       *visit.ResultQueue
	fetched    chan *fetch.Page
	trouble    *ending.Reporter
	dist       *schedule.Distributor
	front      *schedule.Front
	stall      *ending.StallDetector
	flush      *schedule.Flusher
	returner   *schedule.Returner
	points     *checkpoint.Checkpointer

	fetching, pagesOut atomic.Int64
	seeded             atomic.Bool
	storedBefore       int64 // bytes of WARC files that earlier runs left
	unclean            bool
	opening            Opening

	feedWake, distWake chan struct{}

	run     *lifecycle.Run
	over    bool // the directory held a finished crawl: Run has nothing to do
	reports *report.Collector
}

func (e *Engine) frontierDir() string { return e.cfg.Dir + "/frontier" }

// Open opens the crawl in cfg.Dir, or begins one. The directory is locked until Close.
func Open(cfg Config, seams Seams) (_ *Engine, err error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Fetch.Keep = cfg.keep()
	e := newEngine(cfg, seams)
	defer func() {
		if vfs.IsFull(err) {
			err = fmt.Errorf("engine: the disk is full: at least %d bytes must be free in %s: %w", outage.DiskNeed, cfg.Dir, err)
		}
		if err != nil {
			err = errors.Join(err, e.closeRooms())
		}
	}()
	if err := e.enter(); err != nil {
		return nil, err
	}
	m, err := manifest.Read(seams.FS, e.frontierDir())
	if err != nil {
		return nil, err
	}
	if m == nil {
		if err := e.mayBegin(); err != nil {
			return nil, err
		}
	}
	boot := ""
	if seams.Boot != nil {
		boot, _ = seams.Boot()
	}
	if err := layout.WriteOwner(seams.FS, e.frontierDir(), boot); err != nil {
		seams.Log.Warn("frontier/owner could not be written; the crawl directory is locked all the same", "error", err)
	}
	if m, err = e.nextPass(m); err != nil {
		return nil, err
	}
	if err := e.openAll(m); err != nil {
		return nil, err
	}
	return e, nil
}

// mayBegin says why no crawl can begin in a directory without a manifest: it was not always without one.
func (e *Engine) mayBegin() error {
	if rebuild.IsUnfinished(e.seams.FS, e.frontierDir()) {
		return rebuild.ErrUnfinished
	}
	files, err := warc.Files(e.seams.FS, e.cfg.Dir+"/"+layout.ArchiveDir)
	if err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	if len(files) > 0 {
		return fmt.Errorf("%w: %s", rebuild.ErrFrontierLost, e.cfg.Dir)
	}
	return nil
}

func newEngine(cfg Config, seams Seams) *Engine {
	return &Engine{
		cluster: agent.Alone{}, cfg: cfg, seams: seams, run: lifecycle.NewRun(), previous: recrawl.FirstPass{},
		feedWake: make(chan struct{}, 1), distWake: make(chan struct{}, 1),

		rules: site.NewRulesPool(cfg.RulesMemory()), finished: journal.NewFinishedURLs(),
		aloft: attempt.NewInFlight(), unresolved: sites.NewUnresolvedQueue(), seeds: new(filter.Seeds),
		servers: outage.NewNameServers(seams.Resolver, seams.Log.Warn), scarce: &outage.Shortage{Warn: seams.Log.Warn},
		clamps:  &settings.ClampLog{Warn: seams.Log.Warn},
		network: outage.NewNetwork(cfg.Workers.Fetchers, seams.Log.Warn),
	}
}

// enter makes the crawl directory what is missing of it, and locks it.
func (e *Engine) enter() (err error) {
	for _, dir := range []string{e.cfg.Dir, e.frontierDir(), e.cfg.Dir + "/warc", e.cfg.Dir + "/" + layout.LogsDir} {
		if err := e.seams.FS.MkdirAll(dir); err != nil {
			return fmt.Errorf("engine: crawl directory: %w", err)
		}
	}
	if e.lock, err = e.seams.FS.Lock(e.frontierDir() + "/lock"); err != nil {
		if errors.Is(err, vfs.ErrLocked) {
			return fmt.Errorf("%w (%s): %s; stop it, or give another --dir", layout.ErrInUse, layout.ReadOwner(e.seams.FS, e.frontierDir()), e.cfg.Dir)
		}
		return fmt.Errorf("engine: crawl directory: %w", err)
	}
	return nil
}

// openAll opens the rooms at the manifest's cut, or new ones when there is none, and brings in what the journal says.
func (e *Engine) openAll(m *manifest.Manifest) error {
	fresh := m == nil
	if fresh {
		var err error
		if m, err = manifest.New(); err != nil {
			return err
		}
	}
	m.Resumed++
	m.Filtered = m.Filtered || e.cfg.Filters.Store != filter.All
	added, err := admission.KeepSeeds(e.seams.FS, e.frontierDir(), e.cfg.Seeds, e.seams.Log)
	if err != nil {
		return err
	}
	if fresh && added == 0 {
		return admission.ErrNoSeeds
	}
	e.seeded.Store(m.Seeded && added == 0)
	if err := e.openPolicy(); err != nil {
		return err
	}
	if e.previous, m.Earlier, err = e.passOf(m).Open(m.Earlier); err != nil {
		return err
	}
	if err := e.openRooms(m, fresh); err != nil {
		return err
	}
	e.assemble(m)
	if err := e.cluster.Resume(m, !fresh); err != nil {
		return err
	}
	if err := e.hosts.CountInQuotas(); err != nil {
		return err
	}
	if err := e.restore(m, fresh); err != nil {
		return err
	}
	began := time.Now()
	err = e.begin(m, added > 0)
	e.opening.Checkpoint = time.Since(began)
	return err
}

// openPolicy compiles what decides at the five points.
func (e *Engine) openPolicy() (err error) {
	if err = admission.LoadScope(e.seams.FS, e.frontierDir(), e.seeds); err != nil {
		return err
	}
	if e.filters, err = filter.Compile(&e.cfg.Filters, e.seeds, e.cfg.Archive.Via); err != nil {
		return err
	}
	e.hostRules, err = settings.OpenHostRules(e.seams.FS, e.frontierDir(), e.cfg.Filters.HostRules, e.seams.Log)
	return err
}

// openRooms opens every room on disk.
func (e *Engine) openRooms(m *manifest.Manifest, fresh bool) error {
	began := time.Now()
	defer func() { e.opening.Rooms = time.Since(began) - e.opening.Bench }()
	fsys, dir := e.seams.FS, e.frontierDir()
	cutSieve, cutReady, cutVirt, cutSeen, cutCold := &m.Sieve, &m.Ready, &m.Virt, &m.Seen, &m.Cold
	if fresh || m.Afresh {
		cutSieve, cutReady, cutVirt, cutCold = nil, nil, nil, nil
	}
	if fresh {
		cutSeen = nil
	}
	var err error
	cfg := &e.cfg
	oSieve, oReady, oVirt, oCold, oSeen := cfg.Sieve, cfg.Ready, cfg.Queues, cfg.Cold, cfg.Seen
	oSieve.Dir, oReady.Dir, oVirt.Dir = dir+"/sieve", dir+"/ready", dir+"/queues"
	oCold.Dir, oSeen.Dir, oCold.Seed = dir+"/cold", dir+"/seen", m.HashSeed
	if e.sieve, err = sieve.Open(fsys, oSieve, cutSieve); err != nil {
		return err
	}
	if e.ready, err = diskq.Open(fsys, oReady, cutReady); err != nil {
		return err
	}
	var listCut *skipped.Cut
	if !fresh && !m.Afresh {
		listCut = m.Skipped
	}
	if e.skipped, err = skipped.Open(fsys, dir, listCut, e.cfg.Traps.SkipSettings()); err != nil {
		return err
	}
	if e.virt, err = virtualize.Open(fsys, oVirt, cutVirt); err != nil {
		return err
	}
	if e.cold, err = cold.Open(fsys, oCold, cutCold); err != nil {
		return err
	}
	e.ledger = journal.NewStore()
	if e.ledger.Seen, err = seen.Open(fsys, oSeen, cutSeen); err != nil {
		return err
	}
	if e.cluster, err = agent.Open(e.seams.Peering, fsys, dir, m, fresh || m.Afresh, agent.Storage{
		SegmentBytes: cfg.Ready.SegmentBytes, IndexMemory: max(cfg.Seen.MemoryBytes/4, seenMemoryLeast), IndexBuffer: cfg.Seen.BufferBytes,
	}); err != nil {
		return err
	}
	if e.log, err = crawllog.Open(fsys, e.cfg.Dir+"/"+layout.LogsDir, e.seams.Log.Warn); err != nil {
		return err
	}
	o := cfg.Workbench
	if fresh || m.Afresh {
		e.bench = workbench.New[site.State](o)
		return nil
	}
	clocks := clock.NewResumed(m.Clocks(), e.seams.Boot)
	if j := clocks.Jump(); j < -clock.LeastStep {
		e.seams.Log.Warn("the clock of this machine went back since the last run: delays are kept all the same", "by", (-j).String())
	}
	loading := time.Now()
	e.bench, err = checkpoint.LoadWorkbench(fsys, dir, m.Bench, o, e.rules)
	e.opening.Bench = time.Since(loading)
	if err != nil {
		return err
	}
	e.bench.Anchor(clocks.Now, clocks.CheckpointClock())
	return nil
}

// assemble makes the loops and hands each the few things it uses.
func (e *Engine) assemble(m *manifest.Manifest) {
	cfg, l := &e.cfg, e.ledger
	l.Count.Store(m.Counters)
	e.clock = clock.NewRunTime(m.Usage(), e.seams.Usage)
	wakeDist, wakeFeed := func() { notify.Send(e.distWake) }, func() { notify.Send(e.feedWake) }
	e.gate = outage.NewGate(func() { wakeFeed(); wakeDist() })
	l.Disk = &outage.DiskGuard{Fs: e.seams.FS, Dir: cfg.Dir, Gate: e.gate, Most: e.diskMost, Warn: e.seams.Log.Warn}
	l.SlowSync.Warn = e.seams.Log.Warn
	e.live = settings.NewLive(cfg.Politeness, e.hostRules)
	e.live.Fetch.Store(e.filters.Fetch)
	e.limits = limits.New(&cfg.Limits, m.Counters.Stored(), e.run.Finish)
	leases := cfg.Workers.Fetchers + max(cfg.Workers.Fetchers/2, 64)
	e.todo = mpmc.New[visit.Visit](leases - cfg.Workers.Fetchers)
	e.done = visit.NewResultQueue(2 * leases)
	e.fetched = make(chan *fetch.Page, 4*cfg.Workers.Parsers)
	e.pool = fetch.NewPool(cfg.pool())
	e.log.OnDrained = wakeDist
	e.under = &schedule.DeadSites{Log: e.log, Workbench: e.bench, Counters: &l.Count, Finished: e.finished,
		HashSeed: m.HashSeed, Wake: wakeDist}
	e.traps = traps.New(cfg.Traps.Memory(), cfg.Traps.TrapFloor, m.HashSeed, m.Novelty)
	e.quotas = limits.NewQuotas(cfg.Limits.Quotas())
	e.hosts = &sites.Table{Workbench: e.bench, Cold: e.cold, Rules: e.rules, Unresolved: e.unresolved, Live: e.live,
		Quotas: e.quotas, Traps: e.traps}
	e.frontier = &admission.Frontier{
		Scope: e.filters.Scope, Lists: e.filters.Lists, HostRules: e.hostRules, MaxDepth: cfg.Admission.MaxDepth, MaxURL: cfg.Admission.MaxURL, HashSeed: m.HashSeed,
		Router: e.cluster, Views: e.cluster.Views(), CountOutward: e.cluster.IsShared(),
		Cache: fpcache.New(cfg.Admission.CacheMemory, m.HashSeed), Sieve: e.sieve, Counters: &l.Count,
	}
	if cfg.Cookies.Mode == cookie.Site {
		e.jars = cookie.NewJars(cfg.Cookies.Memory)
	}
	e.parsed = fpcache.New(max(cfg.Admission.CacheMemory/16, 1<<16), m.HashSeed)
	e.front = schedule.NewFront(e.bench, cfg.Workers.Fetchers)
	e.flush = schedule.NewFlusher(l, e.sieve, e.ready, wakeDist)
	e.stall = ending.NewStallDetector(e.bench, e.live, &l.Count, cfg.Limits.StallWait, wakeFeed)
	e.trouble = ending.NewReporter(e.bench, e.hosts, e.stall)
	e.dist = schedule.NewDistributor(&schedule.Parts{
		Queues: schedule.Queues{
			Workbench: e.bench, Sites: e.hosts, Ready: e.ready, OnDisk: sites.NewDiskQueues(e.virt), Unresolved: e.unresolved,
		},
		Progress: schedule.Progress{PagesOut: &e.pagesOut, Seeded: &e.seeded, NameServers: e.servers, Stall: e.stall},
		Signals:  schedule.Signals{Wake: e.distWake, WakeFeeder: wakeFeed, Finish: e.run.Finish},
		Options:  schedule.Options{SiteItems: cfg.Workers.SiteItems, MaxPathRepeats: cfg.Traps.MaxPathRepeats},
		Journal:  l, Dead: e.under, Rules: e.hostRules, Front: e.front, Flushes: e.flush, Gate: e.gate, Cluster: e.cluster,
		Traps: e.traps, Admission: e.frontier, Skipped: e.skipped, Live: e.live,
	})
	if e.hostRules.ExcludesAny() {
		e.dist.Purge() // URLs that were queued before the rule, or a purge that a kill has ended
	}
	e.returner = &schedule.Returner{
		Journal: l, Workbench: e.bench, Sites: e.hosts, Results: e.done, Unresolved: e.unresolved, Ready: e.ready, Dead: e.under, Live: e.live,
		Cluster: e.cluster, WakeFeeder: wakeFeed, WakeDistributor: wakeDist,
	}
	if n := e.skipped.Again; n > 0 {
		e.seams.Log.Info("URLs that were left out are queued again, since the settings leave out less", "urls", n)
	}
	e.cluster.Connect(agent.Parts{
		Options: cfg.Cluster, Dir: cfg.Dir, HostDelay: cfg.Politeness.HostDelay, StoresAll: cfg.Filters.Store == filter.All,
		FS: e.seams.FS, Journal: l, Frontier: e.frontier, Sites: e.hosts, Gate: e.gate, Live: e.live, InFlight: e.aloft,
		Queues: e.dist.OnDisk, Dead: e.under, Robots: e.returner, Log: e.seams.Log, Wake: wakeDist, Lose: e.lose,
	})
	e.points = e.newCheckpointer(m)
	e.reports = e.newCollector(m)
}

// diskMost is what the crawl might write at once: a merge of the sieve's whole store, beside what everything else
// needs.
func (e *Engine) diskMost() int64 { return outage.DiskNeed + e.sieve.Stats().StoreBytes }

// begin makes the crawl ready to run: its first manifest is durable before anything is fetched.
func (e *Engine) begin(m *manifest.Manifest, moreSeeds bool) error {
	if err := e.openArchive(m); err != nil {
		return err
	}
	e.limits.Begin(e.bytesStored(), e.seams.FS, e.cfg.Dir, e.seams.Log)
	left := m.Reason == lifecycle.ReasonLeft // others have what it knew, and would find it knows it all when they give it back
	e.over = m.State == lifecycle.Finished && (left || !moreSeeds && e.skipped.Again == 0 && e.stillOver(m))
	if e.over {
		if left {
			e.seams.Log.Warn("this agent has left the crawl for good: to come back it needs a new directory", "dir", e.cfg.Dir)
		}
		e.run.SetState(lifecycle.Finished, m.Reason)
		e.ledger.Journal = nil
		return nil
	}
	e.points.SkipGenerations(m.Generation)
	if err := e.points.Take(context.Background(), lifecycle.Running, "", false); err != nil { //nolint:forbidigo // Open is not cancelled
		return err
	}
	return e.passOf(e.points.Last()).RemoveOtherIndexes(e.points.Last().Earlier)
}

// Close lets go of everything. After Run it is the end of an orderly stop.
func (e *Engine) Close() error { return e.closeRooms() }

func (e *Engine) closeRooms() error {
	var errs []error
	if e.ledger != nil {
		errs = append(errs, e.ledger.Close())
		if e.ledger.Writer != nil {
			errs = append(errs, e.ledger.Writer.Abandon())
		}
		if e.ledger.Seen != nil {
			errs = append(errs, e.ledger.Seen.Close())
		}
	}
	errs = append(errs, e.previous.Close())
	errs = append(errs, e.cluster.Close())
	if e.virt != nil {
		errs = append(errs, e.virt.Close())
	}
	if e.cold != nil {
		errs = append(errs, e.cold.Close())
	}
	if e.ready != nil {
		errs = append(errs, e.ready.Close())
	}
	if e.skipped != nil {
		errs = append(errs, e.skipped.Queue.Close())
	}
	if e.sieve != nil {
		errs = append(errs, e.sieve.Close())
	}
	if e.log != nil {
		errs = append(errs, e.log.Close())
	}
	if keep := e.cfg.Fetch.Keep; keep != nil {
		keep.Close()
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	*e = Engine{cluster: agent.Alone{}, cfg: e.cfg, seams: e.seams, run: e.run}
	return errors.Join(errs...)
}
