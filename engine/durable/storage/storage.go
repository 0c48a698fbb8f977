// Package storage opens and closes what a crawl keeps on disk: the sieve, the queues, the idle sites, the payload
// digests, the journal with its archive, crawl.log, and the workbench, which is loaded from its checkpoint.
//
// Each component is opened as the manifest describes it, or empty if the frontier begins. The directories below
// frontier/ are those of package layout. The caller closes a Storage, also after an error of Open or LoadWorkbench.
package storage

import (
	"log/slog"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/engine/store/receipts"
	"orbweaver/engine/store/recrawl"
	"orbweaver/engine/traps"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/closers"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Options are those of the components. Open fills in their directories.
type Options struct {
	Sieve  sieve.Options
	Ready  diskq.Options
	Queues virtualize.Options
	Cold   cold.Options
	Dedup  DedupOptions
	Skip   traps.SkipSettings
}

// OtherArchives are those of other crawls, which may grow.
type OtherArchives interface {
	parsers.OtherArchives
	// Refresh looks for new files.
	Refresh() error
}

// DedupOptions are those of what compares pages with earlier ones.
type DedupOptions struct {
	dedup.Options `embed:""`

	Others otherarchives.Options `embed:""`
	Near   neardup.Options       `embed:""`
}

// Place is where a crawl is stored.
type Place struct {
	FS  vfs.FS
	Dir string // of the crawl
	Log *slog.Logger
}

func (p *Place) frontier() string { return p.Dir + "/" + layout.FrontierDir }

// Storage is what is open on disk.
type Storage struct {
	Journal    *journal.Store // with the archive and payload deduplication
	Workbench  *visit.Workbench
	Cold       *cold.Store
	Sieve      *sieve.Sieve
	Ready      *queued.ReadyQueue
	Skipped    *traps.SkippedList
	SiteQueues *virtualize.Virtualizer
	Log        *crawllog.Log
	Previous   recrawl.PreviousCrawl
	Others     OtherArchives
	Near       neardup.Known
	NearPart   checkpoint.Participant // of Near

	EarlierBytes int64 // of WARC files, of earlier runs

	closers closers.List
}

// New returns a Storage with nothing open.
func New() Storage {
	return Storage{
		Previous: recrawl.FirstPass{}, Others: otherarchives.None{}, Near: neardup.None{}, NearPart: checkpoint.None{},
	}
}

// Open opens everything but the workbench, the archive and the previous crawl. fresh says that there was no manifest
// before m.
func (s *Storage) Open(p Place, o Options, m *manifest.Manifest, fresh bool) (err error) {
	if err := s.openQueues(p, o, m, fresh || m.Afresh); err != nil {
		return err
	}
	digests := &m.Seen
	if fresh {
		digests = nil
	}
	own := o.Dedup.Options
	own.Dir = p.Dir + "/" + layout.SeenDir
	s.Journal = journal.NewStore()
	if s.Journal.Seen, err = dedup.Open(p.FS, own, digests); err != nil {
		return err
	}
	s.closers.Add(s.Journal.Seen.Close)
	s.closers.Add(s.Journal.Close)
	if err := s.openOthers(p, o.Dedup); err != nil {
		return err
	}
	if err := s.openNear(p, o.Dedup.Near, m); err != nil {
		return err
	}
	if s.Log, err = crawllog.Open(p.FS, p.Dir+"/"+layout.LogsDir, p.Log.Warn); err != nil {
		return err
	}
	s.closers.Add(s.Log.Close)
	return nil
}

// openOthers opens the payloads of other archives.
func (s *Storage) openOthers(p Place, o DedupOptions) error {
	if len(o.Others.From) == 0 {
		return nil
	}
	o.Others.Dir, o.Others.MemoryBytes = p.Dir+"/"+layout.OthersDir, o.MemoryBytes
	others, err := otherarchives.Open(receipts.Over(p.FS), o.Others, p.Log)
	if err != nil {
		return err
	}
	s.Others = others
	s.closers.Add(others.Close)
	return nil
}

// openQueues opens the sieve and all that queues URLs or sites.
func (s *Storage) openQueues(p Place, o Options, m *manifest.Manifest, empty bool) (err error) {
	inSieve, inReady, inQueues, inCold, inSkipped := &m.Sieve, m.ReadyQueue(), &m.Virt, &m.Cold, m.Skipped
	if empty {
		inSieve, inReady, inQueues, inCold, inSkipped = nil, nil, nil, nil, nil
	}
	o.Sieve.Dir, o.Queues.Dir = p.Dir+"/"+layout.SieveDir, p.Dir+"/"+layout.QueuesDir
	o.Cold.Dir, o.Cold.Seed = p.Dir+"/"+layout.ColdDir, m.HashSeed
	if s.Sieve, err = sieve.Open(p.FS, o.Sieve, inSieve); err != nil {
		return err
	}
	s.closers.Add(s.Sieve.Close)
	if s.Ready, err = queued.OpenReady(p.FS, o.Ready, p.Dir, inReady); err != nil {
		return err
	}
	s.closers.Add(s.Ready.Close)
	if s.Skipped, err = traps.OpenSkipped(p.FS, p.frontier(), inSkipped, o.Skip); err != nil {
		return err
	}
	s.closers.Add(s.Skipped.Queue.Close)
	if s.SiteQueues, err = virtualize.Open(p.FS, o.Queues, inQueues); err != nil {
		return err
	}
	s.closers.Add(s.SiteQueues.Close)
	if s.Cold, err = cold.Open(p.FS, o.Cold, inCold); err != nil {
		return err
	}
	s.closers.Add(s.Cold.Close)
	return nil
}

// NewWorkbench makes an empty workbench, for a frontier that begins.
func (s *Storage) NewWorkbench(o workbench.Options) {
	o.UrgentFlags = queued.UrgentFlags
	s.Workbench = workbench.New[site.State](o)
}

// LoadWorkbench loads the workbench from its checkpoint. Its times are those of the clock at the checkpoint: they are
// moved to the clock of this run, so that every delay is kept.
func (s *Storage) LoadWorkbench(
	p Place, o workbench.Options, m *manifest.Manifest, rules *site.RulesPool, boot lifecycle.Boot,
) error {
	clocks := lifecycle.NewResumed(m.Clocks(), boot)
	if j := clocks.Jump(); j < -lifecycle.LeastStep {
		p.Log.Warn("the clock of this machine went back since the last run: delays are kept all the same",
			"by", (-j).String())
	}
	o.UrgentFlags = queued.UrgentFlags
	b, err := checkpoint.LoadWorkbench(p.FS, p.frontier(), m.Bench, o, rules)
	if err != nil {
		return err
	}
	b.DueTimes().Anchor(clocks.Now, clocks.CheckpointClock())
	s.Workbench = b
	return nil
}

// OpenPrevious opens the pages of the pass before, to which conditional requests refer.
func (s *Storage) OpenPrevious(pass *recrawl.Pass, m *manifest.Manifest) (err error) {
	if s.Previous, m.Earlier, err = pass.Open(m.Earlier); err != nil {
		return err
	}
	s.closers.Add(s.Previous.Close)
	return nil
}

// ArchiveBytes is the size of the archive: what earlier runs left, and what this run has written.
func (s *Storage) ArchiveBytes() int64 { return s.EarlierBytes + s.Journal.Writer.Stats().Bytes }

// WriteMost is what the crawl might write at once, in bytes: a merge of the sieve's whole store, beside what
// everything else needs.
func (s *Storage) WriteMost() int64 { return outage.DiskNeed + s.Sieve.Stats().StoreBytes }

// Close closes what is open, the last first.
func (s *Storage) Close() error { return s.closers.Close() }

// openNear opens the texts that pages are compared with. A run that does not compare forgets them.
func (s *Storage) openNear(p Place, o neardup.Options, m *manifest.Manifest) error {
	if o.Mode == neardup.Off {
		m.Near = nil
		return nil
	}
	o.Map.Dir, o.Map.MemoryBytes = p.Dir+"/"+layout.NearDir, max(o.Most*2, 64<<10) // a filter of 11 bits, and tables
	pages, err := neardup.Open(p.FS, o, m.Near, p.Log.Warn)
	if err != nil {
		return err
	}
	s.Near, s.NearPart = pages, checkpoint.NearPages(pages.Map)
	s.closers.Add(pages.Close)
	return nil
}
