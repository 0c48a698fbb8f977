package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/cookie"
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/seen"
	"orbweaver/internal/mpmc"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// ErrInUse says that another process works in the crawl directory.
var ErrInUse = errors.New("engine: the crawl directory is in use by another process")

// Engine is one agent: the composition root that owns every room and every loop. Open acquires, Run works, Close lets go.
type Engine struct {
	cfg   Config
	seams Seams
	lock  io.Closer

	ledger    *ledger
	frontier  *Frontier
	bench     *bench
	cold      *cold.Store
	hosts     *hosts
	sieve     *sieve.Sieve
	ready     *diskq.Queue
	skipped   *skipList
	virt      *virtualize.Virtualizer
	pool      *fetch.Pool
	filters   *filters
	hostRules *hostRules
	seeds     *filter.Seeds
	rules     *rulesPool
	jars      *cookie.Jars // nil if no cookies are kept
	held      *holdings    // nil in a first pass
	watch     *watch       // nil if nobody watches what is new
	peers     *peers       // nil for a crawl alone
	quotas    *quotas
	redone    *redone
	aloft     *aloft
	parsed    *fpcache.Cache
	log       *crawlLog
	clock     *crawlClock
	limits    *limits
	gate      *gate
	live      *Live
	newborn   *siteQueue
	servers   *nameServers
	scarce    *scarcity
	clamps    *clamps
	network   *network
	under     *undertaker
	todo      *mpmc.Queue[visit]
	done      *doneQueue
	fetched   chan *fetch.Page
	dist      *distributor
	flush     *flusher
	returner  *returner
	points    *checkpointer

	fetching, pagesOut, frontWant atomic.Int64
	seeded                        atomic.Bool
	resumed                       int
	pass                          int   // from 0
	storedBefore                  int64 // bytes of WARC files that earlier runs left
	unclean                       bool
	opening                       Opening

	feedWake, distWake chan struct{}
	hungry             chan struct{}
	stopping           chan struct{}
	stopOnce           sync.Once

	mu      sync.Mutex
	status  State
	reason  string
	stalled *TroubleReport // why the crawl has stalled; nil if it has not
	lost    error          // why this agent has no place among the others
	over    bool           // the directory held a finished crawl: Run has nothing to do
	cancel  context.CancelCauseFunc
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
			err = fmt.Errorf("engine: the disk is full: at least %d bytes must be free in %s: %w", diskNeed, cfg.Dir, err)
		}
		if err != nil {
			err = errors.Join(err, e.closeRooms())
		}
	}()
	if err := e.enter(); err != nil {
		return nil, err
	}
	m, err := readManifest(seams.FS, e.frontierDir())
	if err != nil {
		return nil, err
	}
	if m == nil {
		if err := e.mayBegin(); err != nil {
			return nil, err
		}
	}
	if err := writeOwner(seams.FS, e.frontierDir(), seams.Boot); err != nil {
		seams.Log.Warn("who works in the crawl directory could not be noted; it is locked all the same", "error", err)
	}
	if m, err = e.turnOver(m); err != nil {
		return nil, err
	}
	if err := e.openAll(m); err != nil {
		return nil, err
	}
	return e, nil
}

// mayBegin says why no crawl can begin in a directory without a manifest: it was not always without one.
func (e *Engine) mayBegin() error {
	if rebuilding(e.seams.FS, e.frontierDir()) {
		return ErrRebuilding
	}
	files, err := warc.Files(e.seams.FS, e.cfg.Dir+"/"+ArchiveDir)
	if err != nil {
		return fmt.Errorf("engine: archive: %w", err)
	}
	if len(files) > 0 {
		return fmt.Errorf("%w: %s", ErrFrontierLost, e.cfg.Dir)
	}
	return nil
}

func newEngine(cfg Config, seams Seams) *Engine {
	return &Engine{
		cfg: cfg, seams: seams, status: StateRunning,
		feedWake: make(chan struct{}, 1), distWake: make(chan struct{}, 1),
		hungry: make(chan struct{}, 1), stopping: make(chan struct{}),
		rules: newRulesPool(cfg.RulesMemory()), redone: newRedone(), aloft: newAloft(), newborn: newSiteQueue(), seeds: new(filter.Seeds),
		servers: newNameServers(seams.Resolver, seams.Log.Warn), scarce: &scarcity{say: seams.Log.Warn},
		clamps:  &clamps{say: seams.Log.Warn},
		network: newNetwork(cfg.Fetchers, seams.Log.Warn),
	}
}

// enter makes the crawl directory what is missing of it, and locks it.
func (e *Engine) enter() (err error) {
	for _, dir := range []string{e.cfg.Dir, e.frontierDir(), e.cfg.Dir + "/warc", e.cfg.Dir + "/" + LogsDir} {
		if err := e.seams.FS.MkdirAll(dir); err != nil {
			return fmt.Errorf("engine: crawl directory: %w", err)
		}
	}
	if e.lock, err = e.seams.FS.Lock(e.frontierDir() + "/lock"); err != nil {
		if errors.Is(err, vfs.ErrLocked) {
			return fmt.Errorf("%w (%s): %s; stop it, or give another --dir", ErrInUse, readOwner(e.seams.FS, e.frontierDir()), e.cfg.Dir)
		}
		return fmt.Errorf("engine: crawl directory: %w", err)
	}
	return nil
}

func newManifest() (*manifest, error) {
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	return &manifest{
		CrawlID: hex.EncodeToString(b[:16]), HashSeed: binary.LittleEndian.Uint64(b[16:]),
		Created: time.Now(), State: StateRunning, Clean: true, Resumed: -1,
	}, nil
}

// openAll opens the rooms at the manifest's cut, or new ones when there is none, and brings in what the journal says.
func (e *Engine) openAll(m *manifest) error {
	fresh := m == nil
	if fresh {
		var err error
		if m, err = newManifest(); err != nil {
			return err
		}
	}
	e.resumed, e.pass = m.Resumed+1, m.Pass
	m.Resumed = e.resumed
	m.Filtered = m.Filtered || e.cfg.Store != filter.All
	added, err := keepSeeds(e.seams.FS, e.frontierDir(), e.cfg.Seeds, e.seams.Log)
	if err != nil {
		return err
	}
	if fresh && added == 0 {
		return ErrNoSeeds
	}
	e.seeded.Store(m.Seeded && added == 0)
	if err := e.openPolicy(); err != nil {
		return err
	}
	if e.held, err = openHoldings(e.seams.FS, e.cfg.Dir, m, e.seams.Log.Warn); err != nil {
		return err
	}
	if err := e.openRooms(m, fresh); err != nil {
		return err
	}
	e.assemble(m)
	if e.peers != nil {
		if err := e.peers.beSure(e.seams.FS, e.frontierDir(), &e.cfg, m.Peers); err != nil {
			return err
		}
		if err := e.peers.begin(m.Peers, !fresh); err != nil {
			return err
		}
		e.peers.lentSince(m)
	}
	if err := e.quotas.countKnown(e.bench, e.cold, e.rules); err != nil {
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
	if err = scopeSeeds(e.seams.FS, e.frontierDir(), e.seeds); err != nil {
		return err
	}
	if e.filters, err = compileFilters(&e.cfg, e.seeds); err != nil {
		return err
	}
	e.hostRules, err = openHostRules(e.seams.FS, e.frontierDir(), e.cfg.HostRules, e.seams.Log)
	return err
}

// openRooms opens every room on disk.
func (e *Engine) openRooms(m *manifest, fresh bool) error {
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
	sizes := &e.cfg.Rooms
	oSieve := sieve.Options{Dir: dir + "/sieve", BucketBytes: e.cfg.SieveMemory, RunsMax: sizes.SieveRuns}
	if e.sieve, err = sieve.Open(fsys, oSieve, cutSieve); err != nil {
		return err
	}
	if e.ready, err = diskq.Open(fsys, diskq.Options{Dir: dir + "/ready", SegmentBytes: sizes.ReadySegment}, cutReady); err != nil {
		return err
	}
	var skipped *skippedCut
	if !fresh && !m.Afresh {
		skipped = m.Skipped
	}
	if e.skipped, err = openSkipList(fsys, dir, skipped, e.cfg.trapSettings()); err != nil {
		return err
	}
	oVirt := virtualize.Options{Dir: dir + "/queues", SegmentBytes: sizes.QueuesSegment, BufferBytes: sizes.QueuesBuffer}
	if e.virt, err = virtualize.Open(fsys, oVirt, cutVirt); err != nil {
		return err
	}
	oCold := cold.Options{Dir: dir + "/cold", Seed: m.HashSeed, SegmentBytes: sizes.ColdSegment, BufferBytes: sizes.ColdBuffer}
	if e.cold, err = cold.Open(fsys, oCold, cutCold); err != nil {
		return err
	}
	e.ledger = &ledger{syncing: make(chan struct{}, 1), long: make(chan struct{}, 1)}
	oSeen := seen.Options{Dir: dir + "/seen", MemoryBytes: e.cfg.SeenMemory, BufferBytes: sizes.SeenBuffer}
	if e.ledger.seen, err = seen.Open(fsys, oSeen, cutSeen); err != nil {
		return err
	}
	if e.peers, err = openPeers(e.seams.Peering, fsys, dir, m, fresh || m.Afresh, sizes.ReadySegment, max(e.cfg.SeenMemory/4, seenMemoryLeast), sizes.SeenBuffer); err != nil {
		return err
	}
	if e.log, err = openCrawlLog(fsys, e.cfg.Dir+"/"+LogsDir, e.seams.Log.Warn); err != nil {
		return err
	}
	o := workbench.Options{MemoryMax: e.cfg.WorkbenchMemory}
	if fresh || m.Afresh {
		e.bench = workbench.New[Site](o)
		return nil
	}
	clock := newResumeClock(m, e.seams.Boot)
	if j := clock.jump(); j < -clockStep {
		e.seams.Log.Warn("the clock of this machine went back since the last run: delays are kept all the same", "by", (-j).String())
	}
	loading := time.Now()
	e.bench, err = loadBench(fsys, dir, m.Bench, o, e.rules)
	e.opening.Bench = time.Since(loading)
	if err != nil {
		return err
	}
	e.bench.Anchor(clock.now, clock.present())
	return nil
}

// assemble makes the loops and hands each the few things it uses.
func (e *Engine) assemble(m *manifest) {
	cfg := &e.cfg
	l := e.ledger
	l.n.store(m.Counters)
	e.clock = newCrawlClock(m, e.seams.Usage)
	e.gate = newGate(func() { poke(e.feedWake); poke(e.distWake) })
	l.disk = &diskGuard{fs: e.seams.FS, dir: cfg.Dir, gate: e.gate, most: e.diskMost, say: e.seams.Log.Warn}
	l.slow.say = e.seams.Log.Warn
	e.live = newLive(cfg.Politeness, e.hostRules)
	e.live.fetch.Store(e.filters.fetch)
	e.limits = &limits{
		pagesMax: cfg.MaxPages, diskMax: cfg.MaxDisk, timeMax: cfg.MaxTime, finish: e.finish,
		pages: m.Counters.stored(),
	}
	leases := cfg.Fetchers + max(cfg.Fetchers/2, 64)
	e.todo = mpmc.New[visit](max(cfg.Fetchers/2, 64))
	e.done = newDoneQueue(2 * leases)
	e.fetched = make(chan *fetch.Page, 4*cfg.Parsers)
	e.pool = fetch.NewPool(cfg.pool())
	wakeDist, wakeFeed := func() { poke(e.distWake) }, func() { poke(e.feedWake) }
	e.log.drained = wakeDist
	e.under = &undertaker{log: e.log, bench: e.bench, n: &l.n, redo: e.redone, seed: m.HashSeed, wake: wakeDist}
	e.watch = newWatch(cfg.NoveltyMemory, cfg.TrapFloor, m.HashSeed, m.Novelty)
	e.quotas = newQuotas(cfg, e.watch)
	e.hosts = &hosts{bench: e.bench, cold: e.cold, rules: e.rules, newborn: e.newborn, live: e.live, quotas: e.quotas}
	e.frontWant.Store(int64(2 * cfg.Fetchers))
	e.frontier = &Frontier{
		scope: e.filters.scope, lists: e.filters.lists, hosts: e.hostRules, maxDepth: cfg.MaxDepth, maxURL: cfg.MaxURL, hashSeed: m.HashSeed,
		cache: fpcache.New(cfg.CacheMemory, m.HashSeed), sieve: e.sieve, n: &l.n,
	}
	if p := e.peers; p != nil {
		p.ledger, p.frontier, p.gate, p.say, p.wake, p.least, p.invited, p.away, p.recover = l, e.frontier, e.gate, e.seams.Log, wakeDist, cfg.Agents, cfg.AgentJoin, cfg.AgentAway, cfg.Recover
		p.lose, p.hosts, p.fs, p.dir, p.keeps, p.aloft, e.frontier.peers = e.lose, e.hosts, e.seams.FS, cfg.Dir, cfg.Store, e.aloft, p
		p.leases.gap = func() time.Duration { return e.live.policy().IPDelay }
		p.standings = newStandings(int64(max(cfg.PeerQuota, 0)), l.n.finished.Load, e.seams.Log)
	}
	if cfg.Cookies {
		e.jars = cookie.NewJars(cfg.CookieMemory)
	}
	e.parsed = fpcache.New(max(cfg.CacheMemory/16, 1<<16), m.HashSeed)
	e.dist = &distributor{
		ledger: l, bench: e.bench, hosts: e.hosts, ready: e.ready, virt: e.virt, shelf: shelf{e.virt}, newborn: e.newborn,
		under: e.under, gate: e.gate,
		frontWant: &e.frontWant, wake: e.distWake, hungry: e.hungry, feed: wakeFeed, pending: e.sieve.Pending,
		pagesOut: &e.pagesOut, seeded: &e.seeded, stall: stallWatch{wait: max(cfg.StallWait, 0)}, servers: e.servers, finish: e.finish,
		siteItems: cfg.Rooms.SiteItems, peers: e.peers,
		watch: e.watch, frontier: e.frontier, log: e.log, skipped: e.skipped, repeats: cfg.MaxPathRepeats, live: e.live,
	}
	e.dist.purge = &purge{dist: e.dist, rules: e.hostRules}
	if p := e.peers; p != nil {
		p.moving = &moving{dist: e.dist, peers: p}
		e.dist.moving = p.moving
	}
	if e.hostRules.excludesAny() {
		e.dist.purge.ask() // of what was queued before the rule was there, or a kill in the middle
	}
	e.flush = &flusher{
		ledger: l, sieve: e.sieve, ready: e.ready, hungry: e.hungry, turn: make(chan struct{}, 1),
		pace: &e.dist.lastFlush, wake: wakeDist,
	}
	e.returner = &returner{
		ledger: l, bench: e.bench, hosts: e.hosts, done: e.done, newborn: e.newborn, ready: e.ready, under: e.under, live: e.live,
		peers: e.peers, feed: wakeFeed, wake: wakeDist,
	}
	if p := e.peers; p != nil {
		p.robots = e.returner
	}
	if n := e.skipped.again; n > 0 {
		e.seams.Log.Info("URLs that were left out are queued again, since the settings leave out less", "urls", n)
	}
	e.points = &checkpointer{
		fs: e.seams.FS, dir: e.frontierDir(), ledger: l, turn: e.flush.turn, returner: e.returner, bench: e.bench,
		sieve: e.sieve, ready: e.ready, virt: e.virt, cold: e.cold, dist: e.dist, skipped: e.skipped, traps: cfg.trapSettings(), aloft: e.aloft, redone: e.redone,
		frontier: e.frontier, watch: e.watch, peers: e.peers, seeded: &e.seeded, every: cfg.Checkpoint, clock: e.clock, boot: e.seams.Boot, last: *m,
		ask: make(chan chan error), journalStep: cfg.Rooms.JournalStep,
	}
}

// diskMost is what the crawl might write at once: a merge of the sieve's whole store, beside what everything else needs.
func (e *Engine) diskMost() int64 { return diskNeed + e.sieve.Stats().StoreBytes }

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// begin makes the crawl ready to run: its first manifest is durable before anything is fetched.
func (e *Engine) begin(m *manifest, moreSeeds bool) error {
	if err := e.openArchive(m); err != nil {
		return err
	}
	e.limits.begin(e.bytesStored(), e.seams.FS, e.cfg.Dir, e.seams.Log)
	left := m.Reason == reasonLeft // others have what it knew, and would find it knows it all when they give it back
	e.over = m.State == StateFinished && (left || !moreSeeds && e.skipped.again == 0 && e.stillOver(m))
	if e.over {
		if left {
			e.seams.Log.Warn("this agent has left the crawl for good: to come back it needs a new directory", "dir", e.cfg.Dir)
		}
		e.status, e.reason = StateFinished, m.Reason
		e.ledger.journal = nil
		return nil
	}
	e.points.generation = max(m.Generation, e.points.generation)
	if err := e.points.take(context.Background(), StateRunning, "", false); err != nil { //nolint:forbidigo // Open is not cancelled
		return err
	}
	return dropCatalogues(e.seams.FS, e.cfg.Dir, &e.points.last)
}

// Close lets go of everything. After Run it is the end of an orderly stop.
func (e *Engine) Close() error { return e.closeRooms() }

func (e *Engine) closeRooms() error {
	var errs []error
	if e.ledger != nil {
		errs = append(errs, e.ledger.close())
		if e.ledger.writer != nil {
			errs = append(errs, e.ledger.writer.Abandon())
		}
		if e.ledger.seen != nil {
			errs = append(errs, e.ledger.seen.Close())
		}
	}
	if e.held != nil {
		errs = append(errs, e.held.close())
	}
	if e.peers != nil {
		errs = append(errs, e.peers.box.Close(), e.peers.fetched.urls.Close())
	}
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
		errs = append(errs, e.skipped.queue.Close())
	}
	if e.sieve != nil {
		errs = append(errs, e.sieve.Close())
	}
	if e.log != nil {
		errs = append(errs, e.log.close())
	}
	if keep := e.cfg.Fetch.Keep; keep != nil {
		keep.Close()
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	*e = Engine{cfg: e.cfg, seams: e.seams, status: e.status, reason: e.reason}
	return errors.Join(errs...)
}
