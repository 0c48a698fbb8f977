package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/checkpoint"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/links"
	"orbweaver/engine/manifest"
	"orbweaver/engine/parsers"
	"orbweaver/engine/seen"
	"orbweaver/engine/settings"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
)

// A rebuild makes the frontier anew from the archive alone, in two sweeps over it:
//
//	           +--> mended file, CDXJ
//	records ---+--> sieve: URLs whose last word was said, with their outcomes
//	           +--> digests, counters, dues
//	links   ------> door: what stored pages link to, and what is to be asked again --> sieve --> ready queue
//
// Of one of several agents the answers go to the list of what it has fetched, too. Links to others' hosts are queued as
// its own are, since nobody knows who is there: they go to others when the crawl goes on.
//
// The sieve lets each URL through once, so what the second sweep brings through is what has no record. Nothing here
// grows with the number of URLs but files: the rooms' own, and lists on disk in frontier/rebuild that are gone at the
// end.

// RebuildOptions say how to rebuild. The zero value is good.
type RebuildOptions struct {
	// Progress is told now and then, by the goroutine that called Rebuild. Default: nobody is told.
	Progress func(RebuildProgress)
	// Agent is whose crawl it is, if several agents share it. Its data get another number (Peer.Store), so that the
	// others tell it again all that they ever told it: what it had not fetched yet stands in no record of its archive.
	Agent ownership.Agent
}

// RebuildProgress says how far a rebuild is. Each stage reads the archive once.
type RebuildProgress struct {
	Stage string // "records", then "links"
	File  string // in the archive
	Bytes int64  // of the archive, read in this stage
	Total int64
}

// Rebuilt says what a rebuild found and made.
type Rebuilt struct {
	Dir       string          `json:"dir"`
	Aside     string          `json:"aside"`           // where the old frontier is, relative to Dir; "" if there was none
	Files     int             `json:"files"`           // of the archive
	Mended    []warc.Mended   `json:"mended"`          // of these, those that were changed
	Damage    []RebuildDamage `json:"damage"`          // what is wrong with records, and with those that need them
	Untold    int             `json:"untold"`          // damage beyond the first thousand
	Pages     int64           `json:"pages"`           // stored whole
	Copies    int64           `json:"revisits"`        // pages that are revisits
	Unchanged int64           `json:"unchanged"`       // pages that are revisits since the server said so
	Robots    int64           `json:"robots"`          // answers for a robots.txt
	Done      int64           `json:"done"`            // URLs that have a record and are not asked for again
	Queued    int64           `json:"queued"`          // URLs that stored pages lead to and that have none
	Seeds     int             `json:"seeds"`           // taken over or given; they pass the door when the crawl goes on
	Notes     []string        `json:"notes,omitempty"` // what is not as it was
	// NotBefore is when the first request may be made.
	NotBefore time.Time `json:"not_before"`
}

// RebuildDamage is something that did not stay in the archive.
type RebuildDamage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"` // in the file as it was
	Text   string `json:"text"`
}

const damageTold = 1000

// Reasons why nothing was rebuilt.
var (
	// ErrNoArchive says that there are no WARC files to rebuild from.
	ErrNoArchive = errors.New("engine: no archive to rebuild from")
	// ErrSeedsLost says that the scope speaks of seeds, and that there are none any more.
	ErrSeedsLost = errors.New("engine: the scope is about the seeds, and they are lost; give them again")
	// ErrFrontierLost says that a crawl has an archive and no manifest.
	ErrFrontierLost = errors.New("engine: there is an archive and no frontier; this makes it anew: orbweaver fsck --rebuild")
	// ErrRebuilding says that a rebuild began and did not end.
	ErrRebuilding = errors.New("engine: a rebuild of the frontier was not finished; do it again: orbweaver fsck --rebuild")
)

// rebuilder is one rebuild.
type rebuilder struct {
	ctx   context.Context //nolint:containedctx // one rebuild's
	o     RebuildOptions
	out   *Rebuilt
	began time.Time

	cfg      Config
	fs       vfs.FS
	log      *slog.Logger
	ledger   *journal.Store
	frontier *admission.Frontier
	bench    *visit.Workbench
	sieve    *sieve.Sieve
	ready    *diskq.Queue
	cluster  cluster.Agent
	info     func() []warc.Field // for warcinfo records

	lists   *rebuildLists
	archive *warc.Archive
	links   *links.Finder
	faults  *parsers.FaultFiles
	door    admission.Scratch
	m       *manifest.Manifest
	longest time.Duration // Crawl-delay
	told    time.Time
	total   int64                // bytes of the archive
	before  int64                // of these, in files that are done with
	hops    map[xxh3.Uint128]int // answers to come that belong to a robots.txt, by URL
	tried   uint64               // attempts that may have been repeated
	lasts   lastTries
}

// Rebuild makes the frontier of the crawl in cfg.Dir anew, from its WARC files alone: sieve, ready queue, digests,
// counters, indexes, and a manifest of a stopped crawl. Records that are not sound are left out of the archive, and
// what was fetched with them is fetched again. The old frontier is moved aside. cfg.Seeds are added to those that are
// left of the old frontier. The directory is locked meanwhile. It may be killed and called again.
func Rebuild(ctx context.Context, cfg Config, seams Seams, o RebuildOptions) (_ *Rebuilt, err error) {
	cfg = cfg.WithDefaults()
	cfg.Fetch = cfg.Fetch.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if o.Progress == nil {
		o.Progress = func(RebuildProgress) {}
	}
	if files, err := warc.Files(seams.FS, cfg.Dir+"/"+layout.ArchiveDir); err != nil {
		return nil, fmt.Errorf("engine: rebuild: %w", err)
	} else if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s/%s is empty", ErrNoArchive, cfg.Dir, layout.ArchiveDir)
	}
	r := &rebuilder{
		ctx: ctx, o: o, began: time.Now(), cfg: cfg, fs: seams.FS, log: seams.Log,
		hops: make(map[xxh3.Uint128]int),
		out:  &Rebuilt{Dir: cfg.Dir, Mended: []warc.Mended{}, Damage: []RebuildDamage{}},
	}
	seams.Peering = nil
	if o.Agent.ID != "" {
		seams.Peering = seatless{o.Agent}
	}
	e := newEngine(cfg, seams)
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.closeRooms()) }()
	if err := e.rebuild(r); err != nil {
		return r.out, fmt.Errorf("engine: rebuild: %w", err)
	}
	return r.out, nil
}

func (e *Engine) rebuild(r *rebuilder) (err error) {
	if err := e.openRebuild(r); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.lists.close(), r.archive.Close()) }()
	if err := r.sweepRecords(); err != nil {
		return err
	}
	if err := r.sweepLinks(); err != nil {
		return err
	}
	if err := e.saveRebuild(r); err != nil {
		return err
	}
	r.sum()
	return endRebuild(r.fs, e.frontierDir())
}

// openRebuild moves the old frontier aside and opens the rooms of a new one.
func (e *Engine) openRebuild(r *rebuilder) error {
	fsys := e.seams.FS
	aside, err := beginRebuild(fsys, e.cfg.Dir)
	if err != nil {
		return err
	}
	r.out.Aside = aside
	if err := r.keepSeeds(aside); err != nil {
		return err
	}
	if r.m, err = manifest.New(); err != nil {
		return err
	}
	if r.m.Store, err = newStore(); err != nil {
		return err
	}
	r.m.Resumed, r.m.State = 0, lifecycle.Stopped
	r.m.Reason, r.m.Filtered = lifecycle.ReasonRebuilt, e.cfg.Filters.Store != filter.All
	if err := e.openPolicy(); err != nil {
		return err
	}
	if err := e.openRooms(r.m, true); err != nil {
		return err
	}
	e.assemble(r.m)
	if r.cluster = e.cluster; r.cluster.IsShared() {
		if err := e.cluster.beginRebuilt(); err != nil {
			return err
		}
	}
	e.seeded.Store(r.out.Seeds == 0)
	r.ledger, r.frontier, r.bench, r.sieve, r.ready = e.ledger, e.frontier, e.bench, e.sieve, e.ready
	r.info = func() []warc.Field { return e.warcInfo(r.m) }
	r.archive = warc.OpenArchive(fsys, e.cfg.Dir+"/"+layout.ArchiveDir)
	r.links = links.NewFinder(e.cfg.linkOptions(e.filters))
	r.faults = parsers.NewFaultFiles(fsys, e.frontierDir(), e.seams.Log)
	r.lists, err = openRebuildLists(fsys, e.frontierDir()+"/"+rebuildDir)
	return err
}

// KeepSeeds takes over what is left of the seeds, with those that are given now.
func (r *rebuilder) keepSeeds(aside string) error {
	left := &seedsLeft{fs: r.fs, name: r.cfg.Dir + "/" + aside + "/seeds"}
	sources := seedChain{r.cfg.Seeds}
	if aside != "" {
		sources = append(sources, left)
	}
	good, err := admission.KeepSeeds(r.fs, r.cfg.Dir+"/"+layout.FrontierDir, sources, r.log)
	if err != nil {
		return err
	}
	r.out.Seeds = good
	if aside != "" {
		r.keepHostRules(r.cfg.Dir + "/" + aside)
	}
	if left.bad > 0 {
		r.note("%d lines of the old seeds are no URLs any more and were left out", left.bad)
	}
	switch scope := r.cfg.Filters.Scope; {
	case good > 0:
	case slices.Contains([]string{"host", "domain", "prefix"}, scope):
		return fmt.Errorf("%w: --scope %s", ErrSeedsLost, scope)
	default:
		r.note("no seeds are known any more: seeds that were never fetched are forgotten unless they are given again")
	}
	return nil
}

// keepHostRules takes over what the operator said of single hosts while the crawl ran.
func (r *rebuilder) keepHostRules(from string) {
	_, live, err := settings.ReadHostRules(r.fs, from)
	if err == nil && live.Len() > 0 {
		err = settings.WriteHostRules(r.fs, r.cfg.Dir+"/"+layout.FrontierDir, live)
	}
	if err != nil {
		r.note("the rules that ctl gave for single hosts are lost: %v", err)
	}
}

func (r *rebuilder) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}

// damage notes what did not stay.
func (r *rebuilder) damage(file string, offset int64, text string) {
	if len(r.out.Damage) == damageTold {
		r.out.Untold++
		return
	}
	r.out.Damage = append(r.out.Damage, RebuildDamage{layout.ArchiveDir + "/" + file, offset, text})
}

// progress is called for every record; it tells about once a second.
func (r *rebuilder) progress(stage, file string, at int64) error {
	if now := time.Now(); now.Sub(r.told) >= time.Second {
		r.told = now
		r.o.Progress(RebuildProgress{stage, layout.ArchiveDir + "/" + file, r.before + at, r.total})
	}
	return r.ctx.Err()
}

// flush carries on what the sieve holds, if it holds enough or all is to go.
func (r *rebuilder) flush(all bool, emit func(payload []byte) error) error {
	if !r.sieve.Full() && (!all || r.sieve.Pending() == 0) {
		return nil
	}
	stats, err := r.sieve.Flush(func(payload []byte) error {
		if err := emit(payload); err != nil {
			return err
		}
		r.ledger.Count.Admitted.Add(1)
		return nil
	})
	r.ledger.Count.Known.Add(int64(stats.Known + stats.Duplicates))
	return err
}

// saveRebuild makes the new frontier durable, as an orderly stop does.
func (e *Engine) saveRebuild(r *rebuilder) error {
	files, err := warc.Files(e.seams.FS, e.cfg.Dir+"/"+layout.ArchiveDir)
	if err != nil {
		return err
	}
	last := files[len(files)-1]
	size, err := e.seams.FS.Size(e.cfg.Dir + "/" + layout.ArchiveDir + "/" + last.Name)
	if err != nil {
		return err
	}
	r.m.Archive = &warc.Cut{Serial: last.Serial, Length: size}
	p := e.cfg.Politeness
	r.m.NotBefore = r.began.Add(max(p.HostDelay, p.IPDelay, min(r.longest, p.CrawlDelayMax)))
	r.out.NotBefore = r.m.NotBefore
	if err := e.openArchive(r.m); err != nil {
		return err
	}
	l := e.points.Last()
	l.CrawlID, l.Created, l.NotBefore = r.m.CrawlID, r.m.Created, r.m.NotBefore
	e.clock.Restart(r.m.Usage()) // the time of the rebuild is not the crawl's
	if err := e.points.Take(r.ctx, lifecycle.Stopped, lifecycle.ReasonRebuilt, true); err != nil {
		return err
	}
	if err := checkpoint.SaveCache(r.fs, e.frontierDir(), l.Generation, e.frontier.Cache); err != nil {
		return err
	}
	e.run.SetState(lifecycle.Stopped, lifecycle.ReasonRebuilt)
	e.pool.Close()
	return errors.Join(e.ledger.Writer.Close(), e.writeReport(e.Report()))
}

// sum says what came of it.
func (r *rebuilder) sum() {
	n := r.ledger.Count.Load()
	r.out.Pages, r.out.Copies, r.out.Unchanged, r.out.Robots = n.Pages, n.Revisits, n.Unchanged, n.RobotsFetched
	r.out.Done, r.out.Queued = n.Finished(), n.Admitted-n.Finished()
	c := &r.cfg
	if c.Admission.MaxDepth >= 0 {
		r.note("how far pages are from a seed is not in the archive: links of stored pages count as depth 1, so with --max-depth %d"+
			" the crawl may go deeper than it would have", c.Admission.MaxDepth)
	}
	if c.Filters.Parse != filter.All || c.Filters.Follow != filter.All {
		r.note("--parse and --follow look at all pages as at seeds, since how far they are from one is not in the archive")
	}
	if c.Limits.MaxTime > 0 {
		r.note("the running time so far is not in the archive: --max-time counts from now")
	}
	if c.Filters.Store != filter.All {
		r.note("answers that --store %s refused left no record: they are fetched again", c.Filters.Store)
	}
	if r.cluster.IsShared() {
		r.note("to the other agents this is %s without its data: they tell it again all that they had told it",
			r.o.Agent.ID)
	}
	r.note("URLs that failed or were refused without an answer left no record: those that a stored page links to are tried again")
}

// rebuildLists are what a rebuild needs to know of the whole archive, on disk.
type rebuildLists struct {
	fs  vfs.FS
	dir string
	// first is the first response with a payload, by digest; others are all later ones, by record; each with its place
	// in its First's URI. named is what revisits name instead of the first.
	first, others, named *seen.Map
	tries                *sorted // attempts that may have been repeated, by URL
	lasts                *sorted // of these, those that were the last, by number
}

const rebuildDir = "rebuild"

// siteOf is the site of a URL that was asked for.
func (r *rebuilder) siteOf(url []byte) *visit.State {
	site, _ := urlx.Split(url)
	vs, _ := r.bench.GetOrAdd(site)
	return vs
}
