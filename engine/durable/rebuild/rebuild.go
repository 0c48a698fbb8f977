package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/warc"
)

// Parts are the components of the new frontier, empty, and the files beside them.
type Parts struct {
	FS        vfs.FS
	Dir       string // the crawl directory
	Log       *slog.Logger
	Journal   *journal.Store
	Frontier  *admission.Frontier
	Workbench *visit.Workbench
	Sieve     *sieve.Sieve
	Ready     *queued.ReadyQueue
	Manifest  *manifest.Manifest // ReadArchive sets CrawlID and Created
	WARCInfo  func() []warc.Field
	Fetched   FetchedLog
}

// FetchedLog notes URLs that have an answer, for the other agents of a crawl.
type FetchedLog interface {
	NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128)
}

// Settings are the settings of the crawl on which a rebuild depends.
type Settings struct {
	Politeness   politeness.Policy
	TotalTimeout time.Duration // of an exchange
	MaxPerHost   int           // pages; 0 for no limit
	MaxDepth     int           // -1 for no limit
	MaxTime      time.Duration // 0 for no limit
	Prefix, Host string        // of WARC files
	Via          bool          // the crawl keeps the page that led to a URL
	Links        links.Options

	Parse, Follow, Store string // filters
}

// rebuilder is one rebuild, as both readings of the archive know it.
type rebuilder struct {
	Parts
	settings Settings
	out      *Result
	began    time.Time
	progress progress
	lists    *lists
	others   otherarchives.Originals
	chains   robotsChains
}

// ReadArchive reads the archive twice and fills the parts and out. It returns the longest Crawl-delay that a robots.txt
// of the archive asks for: the first request of the crawl waits for that time, whichever site it is for.
func ReadArchive(
	ctx context.Context, p Parts, s Settings, o Options, began time.Time, out *Result,
) (crawlDelay time.Duration, err error) {
	r := &rebuilder{
		Parts: p, settings: s, out: out, began: began, progress: progress{ctx: ctx, tell: o.Progress},
		others: otherarchives.NewOriginals(p.FS, o.With), chains: newRobotsChains(p.Frontier.HashSeed),
	}
	front := p.Dir + "/" + layout.FrontierDir
	if r.lists, err = openLists(p.FS, front+"/"+listsDir); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.lists.close()) }()
	records := recordReading{rebuilder: r, finder: links.NewFinder(s.Links)}
	if err := records.readRecords(); err != nil {
		return 0, err
	}
	found := linkReading{
		called:    map[xxh3.Uint128]queued.Called{},
		rebuilder: r, archive: warc.OpenArchive(p.FS, r.archiveDir()), links: records.finder,
		faults: parsers.NewFaultFiles(p.FS, front, p.Log),
	}
	return records.crawlDelay, errors.Join(found.readLinks(), found.archive.Close())
}

func (r *rebuilder) archiveDir() string { return r.Dir + "/" + layout.ArchiveDir }

func (r *rebuilder) fingerprint(url []byte) xxh3.Uint128 {
	return urlx.Fingerprint(r.Frontier.HashSeed, url)
}

// siteOf is the site of a URL that was fetched.
func (r *rebuilder) siteOf(url []byte) *visit.State {
	site, _ := urlx.Split(url)
	vs, _ := r.Workbench.GetOrAdd(site)
	return vs
}

// flush lets emit have what passes the sieve, if the sieve is full or all is wanted.
func (r *rebuilder) flush(all bool, emit func(payload []byte) error) error {
	if !r.Sieve.Full() && (!all || r.Sieve.Pending() == 0) {
		return nil
	}
	stats, err := r.Sieve.Flush(func(payload []byte) error {
		if err := emit(payload); err != nil {
			return err
		}
		r.Journal.Count.URLsAdmitted.Add(1)
		return nil
	})
	r.Journal.Count.Known.Add(int64(stats.Known + stats.Duplicates))
	return err
}

// Conclude writes the sums and what is not as it was into out. agent is the name of the agent if several share the
// crawl, and empty otherwise.
func Conclude(p *Parts, s *Settings, agent string, out *Result) {
	n := p.Journal.Count.Load()
	out.Pages, out.Copies, out.Unchanged, out.Robots = n.PagesStored, n.RevisitsStored, n.PagesUnchanged, n.RobotsFetched
	out.Done, out.Queued = n.Finished(), n.URLsAdmitted-n.Finished()
	if s.MaxDepth >= 0 {
		out.note("how far pages are from a seed is not in the archive: links of stored pages count as depth 1,"+
			" so with --max-depth %d the crawl may go deeper than it would have", s.MaxDepth)
	}
	if s.Parse != filter.All || s.Follow != filter.All {
		out.note("--parse and --follow look at all pages as at seeds, since how far they are from one is not in the archive")
	}
	if s.MaxTime > 0 {
		out.note("the running time so far is not in the archive: --max-time counts from now")
	}
	if s.Store != filter.All {
		out.note("answers that --store %s refused left no record: they are fetched again", s.Store)
	}
	if agent != "" {
		out.note("to the other agents this is %s without its data: they tell it again all that they had told it", agent)
	}
	out.note("URLs that failed or were refused without an answer left no record:" +
		" those that a stored page links to are tried again")
}
