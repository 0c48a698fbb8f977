package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/catalogue"
	"orbweaver/engine/checkpoint"
	"orbweaver/engine/cluster"
	"orbweaver/engine/counters"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/manifest"
	"orbweaver/engine/queued"
	"orbweaver/engine/seen"
	"orbweaver/engine/site"
	"orbweaver/engine/skipped"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Inspection is the last cut of a crawl that does not run, as its manifest names it. It is for programs that look at a
// crawl directory from outside; it only reads. The files of a cut are gone when the crawl goes on, so hold the lock.
type Inspection struct {
	Generation uint64
	CrawlID    string
	HashSeed   uint64
	Written    time.Time
	State      lifecycle.State
	Reason     string
	Clean      bool // the crawl stopped in order: the journal is empty
	Seeded     bool // all seeds have passed the door
	Filtered   bool // a store filter may have refused answers: not all that are done have a record

	Pass    int            // how often the crawl was begun again
	From    warc.Cut       // where the archive ended then: counters and rooms know nothing of what lies before
	Afresh  bool           // the pass has no cut of its own yet: of the rooms there are archive and content-seen
	Earlier *catalogue.Cut // of recrawl.IndexFile; nil in a first pass

	Sieve    sieve.Checkpoint
	Ready    diskq.Checkpoint
	Queues   virtualize.Checkpoint
	Seen     seen.Cut
	Cold     cold.Checkpoint
	Archive  warc.Cut
	Skipped  *diskq.Checkpoint // the list of URLs left out; nil if there was none yet
	Counters counters.Totals

	fsys  vfs.FS
	dir   string
	bench manifest.Chain
	peers *cluster.Checkpoint // nil for a crawl alone
	store uint64
}

// Inspect reads the manifest of the crawl in dir. The error wraps fs.ErrNotExist when there is none, ErrVersion or
// manifest.ErrDamaged when it cannot be read.
func Inspect(fsys vfs.FS, dir string) (*Inspection, error) {
	m, err := manifest.Read(fsys, dir+"/"+layout.FrontierDir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("engine: manifest: %s/%s: %w", dir, layout.ManifestFile, fs.ErrNotExist)
	}
	i := &Inspection{
		Generation: m.Generation, CrawlID: m.CrawlID, HashSeed: m.HashSeed, Written: m.Written,
		State: m.State, Reason: m.Reason, Clean: m.Clean, Seeded: m.Seeded, Filtered: m.Filtered,
		Pass: m.Pass, From: m.From, Afresh: m.Afresh, Earlier: m.Earlier,
		Sieve: m.Sieve, Ready: m.Ready, Queues: m.Virt, Seen: m.Seen, Cold: m.Cold, Counters: m.Counters,
		fsys: fsys, dir: dir + "/" + layout.FrontierDir, bench: m.Bench, peers: m.Peers, store: m.StoreID(),
	}
	if m.Archive != nil {
		i.Archive = *m.Archive
	}
	if m.Skipped != nil {
		i.Skipped = &m.Skipped.Queue
	}
	return i, nil
}

// BenchFile is the youngest of the files that hold the bench, relative to the crawl directory.
func (i *Inspection) BenchFile() string {
	return manifest.WorkbenchPath(layout.FrontierDir, i.bench.Last())
}

// AloftFile is the list of URLs in flight.
func (i *Inspection) AloftFile() string {
	return manifest.InFlightPath(layout.FrontierDir, i.Generation)
}

// JournalFile is the first journal after the cut.
func (i *Inspection) JournalFile() string { return journal.Name(layout.FrontierDir, i.Generation) }

// CheckSkipped reads the list of URLs left out, and returns how many there are by rule. A cut that has none is a bug of
// the caller.
func (i *Inspection) CheckSkipped(fsys vfs.FS, dir string) (rules skipped.Counts, err error) {
	err = diskq.Each(fsys, dir, *i.Skipped, func(entry []byte) error {
		s, _, err := skipped.Decode(entry)
		rules[s.Rule]++
		return err
	})
	return rules, err
}

// BenchView is the workbench of a cut, in memory.
type BenchView struct {
	bench *visit.Workbench
	site  func(b []byte) (site.State, error)
}

// SiteView is what the bench knows of one site.
type SiteView struct {
	ID     uint64
	Key    []byte // scheme://authority; borrowed
	State  string
	OnDisk uint64 // items that the bench believes to be in the site's queue on disk
}

// Bench loads the bench. It takes as much memory as the crawl's own.
func (i *Inspection) Bench() (*BenchView, error) {
	rules := site.NewRulesPool(0)
	b, err := checkpoint.LoadWorkbench(i.fsys, i.dir, i.bench, workbench.Options{}, rules)
	if err != nil {
		return nil, err
	}
	return &BenchView{b, func(b []byte) (site.State, error) { return site.Decode(b, rules) }}, nil
}

// Check says which of the bench's promises are broken.
func (b *BenchView) Check() error { return b.bench.Check() }

// Sites is their number.
func (b *BenchView) Sites() int { return b.bench.Counts().Sites }

// CheckCold says what is wrong with a host of the cold store: it is on the bench, too, or cannot be brought back there.
func (b *BenchView) CheckCold(key, form []byte) error {
	if b.bench.Get(key) != nil {
		return fmt.Errorf("engine: host %.200q is on the bench, and in the store of cold hosts", key)
	}
	if err := workbench.CheckForm(form, b.site); err != nil {
		return fmt.Errorf("engine: host %.200q of the store of cold hosts: %w", key, err)
	}
	return nil
}

// EachSite calls f for every site in order of creation, until f returns false.
func (b *BenchView) EachSite(f func(SiteView) bool) {
	b.bench.Each(func(vs *visit.State, state workbench.State) bool {
		return f(SiteView{ID: vs.ID(), Key: b.bench.AppendKey(nil, vs), State: state.String(), OnDisk: b.bench.OnDisk(vs)})
	})
}

// TakeItems calls f for every item on the bench, and empties it on the way. f borrows both.
func (b *BenchView) TakeItems(f func(site, item []byte)) {
	b.bench.Each(func(vs *visit.State, _ workbench.State) bool {
		key := b.bench.AppendKey(nil, vs)
		b.bench.Kill(vs, func(item []byte) { f(key, item) })
		return true
	})
}

// Aloft calls f for every URL that was in flight; an empty site means that item holds the whole URL. It calls finished
// for every URL that an earlier journal named as done and that is still to come up.
func (i *Inspection) Aloft(f func(site, item []byte), finished func(fp xxh3.Uint128)) error {
	b, err := vfs.ReadFile(i.fsys, manifest.InFlightPath(i.dir, i.Generation))
	if err != nil {
		return fmt.Errorf("engine: URLs in flight: %w", err)
	}
	r := journal.NewFinishedURLs()
	err = checkpoint.ReadInFlight(b, f, r)
	r.Each(finished)
	return err
}

// QueuedURL appends to dst the URL of a queued item; site is empty where the item holds the whole URL. robots says that
// the item is no URL of the crawl but a hop on the way to a robots.txt; ok is false for bytes that are no item.
func QueuedURL(dst, site, item []byte) (url []byte, robots, ok bool) {
	it, ok := queued.Decode(item)
	if !ok {
		return dst, false, false
	}
	return append(append(dst, site...), it.Rest...), it.RobotsOf != nil, true
}

// Journal calls f for every whole entry after the checkpoint: see journal.Examine.
func (i *Inspection) Journal(f func(journal.Attempt) error) ([]journal.Tail, error) {
	return journal.Examine(i.fsys, i.dir, i.Generation, f)
}

// EachSkipped calls f for every URL that a crawl has left out, as of its last checkpoint, in order. The crawl may run.
func EachSkipped(fsys vfs.FS, dir string, f func(skipped.URL) error) error {
	var told uint64
	for tries := 0; ; tries++ {
		m, err := manifest.Read(fsys, dir+"/"+layout.FrontierDir)
		if err != nil {
			return err
		}
		if m == nil {
			return fmt.Errorf("engine: manifest: %s/%s: %w", dir, layout.ManifestFile, fs.ErrNotExist)
		}
		if m.Skipped == nil || m.Afresh {
			return nil
		}
		at := uint64(0)
		err = diskq.Each(fsys, dir+"/"+layout.SkippedDir, m.Skipped.Queue, func(entry []byte) error {
			if at++; at <= told {
				return nil
			}
			s, _, err := skipped.Decode(entry)
			if err == nil {
				err = f(s)
			}
			told = at
			return err
		})
		if tries < 3 && errors.Is(err, fs.ErrNotExist) {
			continue // the crawl has queued the oldest ones again, and made a new checkpoint
		}
		return err
	}
}
