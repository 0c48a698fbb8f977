package engine

import (
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/catalogue"
	"orbweaver/engine/outcome"
	"orbweaver/engine/seen"
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
	State      State
	Reason     string
	Clean      bool // the crawl stopped in order: the journal is empty
	Seeded     bool // all seeds have passed the door
	Filtered   bool // a store filter may have refused answers: not all that are done have a record

	Pass    int            // how often the crawl was begun again
	From    warc.Cut       // where the archive ended then: counters and rooms know nothing of what lies before
	Afresh  bool           // the pass has no cut of its own yet: of the rooms there are archive and content-seen
	Earlier *catalogue.Cut // of CatalogueFile; nil in a first pass

	Sieve    sieve.Cut
	Ready    diskq.Cut
	Queues   virtualize.Cut
	Seen     seen.Cut
	Cold     cold.Cut
	Archive  warc.Cut
	Skipped  *diskq.Cut // the list of URLs left out; nil if there was none yet
	Counters Counters

	fsys  vfs.FS
	dir   string
	bench benchChain
	peers *peersCut // nil for a crawl alone
	store uint64
}

// The places of the parts, relative to the crawl directory.
const (
	FrontierDir   = "frontier"
	ArchiveDir    = "warc"
	LogsDir       = "logs"
	LockFile      = FrontierDir + "/lock"
	ManifestFile  = FrontierDir + "/MANIFEST"
	SieveDir      = FrontierDir + "/sieve"
	ReadyDir      = FrontierDir + "/ready"
	QueuesDir     = FrontierDir + "/queues"
	SkippedDir    = FrontierDir + "/" + skippedName
	SeenDir       = FrontierDir + "/seen"
	ColdDir       = FrontierDir + "/cold"
	CacheFile     = FrontierDir + "/cache"
	SeedsFile     = FrontierDir + "/seeds"
	HostRulesFile = FrontierDir + "/host-rules" // need not be there
	ReportFile    = "report.json"
)

// Inspect reads the manifest of the crawl in dir. The error wraps fs.ErrNotExist when there is none, ErrVersion or
// ErrManifest when it cannot be read.
func Inspect(fsys vfs.FS, dir string) (*Inspection, error) {
	m, err := readManifest(fsys, dir+"/"+FrontierDir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, fmt.Errorf("engine: manifest: %s/%s: %w", dir, ManifestFile, fs.ErrNotExist)
	}
	i := &Inspection{
		Generation: m.Generation, CrawlID: m.CrawlID, HashSeed: m.HashSeed, Written: m.Written,
		State: m.State, Reason: m.Reason, Clean: m.Clean, Seeded: m.Seeded, Filtered: m.Filtered,
		Pass: m.Pass, From: m.From, Afresh: m.Afresh, Earlier: m.Earlier,
		Sieve: m.Sieve, Ready: m.Ready, Queues: m.Virt, Seen: m.Seen, Cold: m.Cold, Counters: m.Counters,
		fsys: fsys, dir: dir + "/" + FrontierDir, bench: m.Bench, peers: m.Peers, store: m.store(),
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
func (i *Inspection) BenchFile() string { return benchName(FrontierDir, i.bench.last()) }

// AloftFile is the list of URLs in flight.
func (i *Inspection) AloftFile() string { return aloftName(FrontierDir, i.Generation) }

// JournalFile is the first journal after the cut.
func (i *Inspection) JournalFile() string { return journalName(FrontierDir, i.Generation) }

// CheckSkipped reads the list of URLs left out, and returns how many there are by rule. A cut that has none is a bug of the caller.
func (i *Inspection) CheckSkipped(fsys vfs.FS, dir string) (rules Skips, err error) {
	err = diskq.Each(fsys, dir, *i.Skipped, func(entry []byte) error {
		s, _, err := readSkipped(entry)
		rules[s.rule]++
		return err
	})
	return rules, err
}

// BenchView is the workbench of a cut, in memory.
type BenchView struct {
	bench *bench
	site  func(b []byte) (Site, error)
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
	rules := newRulesPool(0)
	b, err := loadBench(i.fsys, i.dir, i.bench, workbench.Options{}, rules)
	if err != nil {
		return nil, err
	}
	return &BenchView{b, func(b []byte) (Site, error) { return decodeSite(b, rules) }}, nil
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
	b.bench.Each(func(vs *visitState, state benchState) bool {
		return f(SiteView{ID: vs.ID(), Key: b.bench.AppendKey(nil, vs), State: state.String(), OnDisk: b.bench.OnDisk(vs)})
	})
}

// TakeItems calls f for every item on the bench, and empties it on the way. f borrows both.
func (b *BenchView) TakeItems(f func(site, item []byte)) {
	b.bench.Each(func(vs *visitState, _ benchState) bool {
		key := b.bench.AppendKey(nil, vs)
		b.bench.Kill(vs, func(item []byte) { f(key, item) })
		return true
	})
}

// Aloft calls f for every URL that was in flight; an empty site means that item holds the whole URL. It calls redone for
// every URL that an earlier journal named as done and that is still to come up.
func (i *Inspection) Aloft(f func(site, item []byte), redone func(fp xxh3.Uint128)) error {
	b, err := vfs.ReadFile(i.fsys, aloftName(i.dir, i.Generation))
	if err != nil {
		return fmt.Errorf("engine: URLs in flight: %w", err)
	}
	r := newRedone()
	err = readAloft(b, f, r)
	for fp := range r.done {
		redone(fp)
	}
	return err
}

// QueuedURL appends to dst the URL of a queued item; site is empty where the item holds the whole URL. robots says that
// the item is no URL of the crawl but a hop on the way to a robots.txt; ok is false for bytes that are no item.
func QueuedURL(dst, site, item []byte) (url []byte, robots, ok bool) {
	it, ok := decodeItem(item)
	if !ok {
		return dst, false, false
	}
	return append(append(dst, site...), it.Rest...), it.RobotsOf != nil, true
}

// JournalEntry is one attempt that was finished after the cut.
type JournalEntry struct {
	File    string // the journal, relative to the crawl directory
	Final   bool   // the URL is done: neither a retry nor a robots.txt
	Robots  bool
	FP      xxh3.Uint128
	Outcome outcome.Outcome
	Status  int
	Stored  bool          // Where means something
	Where   warc.Position // of its records
}

// Journal calls f for every whole entry after the cut, in order, until f returns an error, and describes the ends of the
// files; the last may be one that does not follow the one before, and does not count. When the first file is missing the
// error wraps fs.ErrNotExist.
func (i *Inspection) Journal(f func(JournalEntry) error) ([]JournalTail, error) {
	var tails []JournalTail
	last := journalEnd{generation: i.Generation}
	examine := func(name string, end int64) error {
		t, err := i.tail(name, end, last)
		tails = append(tails, t)
		return err
	}
	read := map[string]bool{}
	stray, err := eachJournal(i.fsys, i.dir, i.Generation, func(name string) (int64, error) {
		file := FrontierDir + "/" + path.Base(name)
		end, err := readJournal(i.fsys, name, func(e *journalEntry) error { return f(viewEntry(file, e)) })
		if err != nil {
			return end, err
		}
		read[name], last = true, journalEnd{generation: generationOf(name), length: end}
		return end, examine(name, end)
	})
	if err == nil && stray != "" {
		read[stray] = true
		err = examine(stray, 0)
	}
	if err != nil {
		return tails, err
	}
	// A journal whose head is damaged looks empty, and so does one that has sync marks only.
	err = eachGeneration(i.fsys, i.dir, func(name, kind string, g uint64) error {
		if kind != "journal-" || g <= i.Generation || read[name] {
			return nil
		}
		at := last
		end, err := readJournal(i.fsys, name, func(*journalEntry) error { return nil })
		if err != nil {
			return err
		}
		if end > 0 {
			at = journalEnd{generation: g, length: end}
		}
		t, err := i.tail(name, end, at)
		if t.Synced {
			tails = append(tails, t)
		}
		return err
	})
	return tails, err
}

func viewEntry(file string, e *journalEntry) JournalEntry {
	v := JournalEntry{
		File: file, Final: e.Kind == journalPage, Robots: e.Kind == journalRobots,
		FP: e.FP, Outcome: e.Outcome, Status: e.Status,
	}
	if e.Serial > 0 {
		v.Stored = true
		v.Where = warc.Position{Serial: e.Serial - 1, Offset: e.Offset, Length: e.Length}
	}
	return v
}
