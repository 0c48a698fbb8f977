package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// batch is a run of journal entries, in order, with their records.
type batch struct {
	entries []journal.Entry // their Links belong to the batch
	records []record        // of each
	bytes   int64           // about what reading them takes
	done    chan struct{}   // closed when the records are there
}

// record is what the replay needs of the main record of an entry.
type record struct {
	err       error           // why it could not be read
	stored    bool            // there is a record; the rest is about it
	end       warc.Checkpoint // of its group
	url       []byte
	response  bool   // or a revisit
	near      bool   // a near-duplicate
	nearSkips bool   // and only its page requisites are followed
	dropped   string // see links.Finder.JudgeAgain
	scores    string // the same
	unchanged bool   // a revisit, because the server said that the page has not changed
	id        warc.ID
	date      time.Time
	digest    dedup.Digest
	hasDigest bool          // of the payload
	links     []byte        // see journal.AppendLink
	hopPath   []byte        // of the page
	hasRules  bool          // it is the site's own robots.txt, and its rules last
	rules     *robots.Rules // if hasRules

	robotsFault robots.Fault  // why the answer leaves them unknown
	wait        time.Duration // Retry-After; 0 for none
	line        []byte        // for the crawl log, if the entry is of a page
	mediaType   counters.MediaType
}

// errNoRecord says that the archive has something else where the journal names a record.
var errNoRecord = errors.New("restore: no record")

const (
	batchEntries = 64
	batchBytes   = 512 << 10
)

// journalReader reads the journals since a checkpoint and the records that they name, in batches, ahead of the replay.
// The batches come in the order of the journals, and only a few are ahead.
type journalReader struct {
	fs      vfs.FS
	dir     string // of the frontier
	archive string
	end     warc.Checkpoint // of the archive at the checkpoint
	links   links.Options
	hasVia  bool

	order   chan *batch // to be applied, not all of them done
	todo    chan *batch
	current *batch
	torn    string // a journal whose end is not on disk
	reader  errgroup.Group
	workers errgroup.Group
}

// start starts to read the journals from a generation on, with a number of goroutines that read the archive; wait must
// follow. Cancelling ctx makes it end early.
func (c *journalReader) start(ctx context.Context, from uint64, workers int) {
	c.order, c.todo = make(chan *batch, 2*workers), make(chan *batch, workers)
	c.reader.Go(func() error { return c.readJournals(ctx, from) })
	for range workers {
		c.workers.Go(func() error { return c.readRecords(ctx) })
	}
}

// wait returns when all goroutines have ended. torn is a journal whose end is not on disk.
func (c *journalReader) wait() (torn string, err error) {
	err = c.reader.Wait()
	if werr := c.workers.Wait(); err == nil {
		err = werr
	}
	return c.torn, err
}

// readJournals cuts the journals into batches.
func (c *journalReader) readJournals(ctx context.Context, from uint64) (err error) {
	defer close(c.order)
	defer close(c.todo)
	c.torn, err = journal.Each(c.fs, c.dir, from, func(name string) (int64, error) {
		return journal.Read(c.fs, name, func(e *journal.Entry) error { return c.add(ctx, e) })
	})
	if sent := c.send(ctx); err == nil {
		err = sent
	}
	return err
}

// add adds an entry, which it borrows.
func (c *journalReader) add(ctx context.Context, e *journal.Entry) error {
	if c.current == nil {
		c.current = &batch{entries: make([]journal.Entry, 0, batchEntries), done: make(chan struct{})}
	}
	b := c.current
	b.entries = append(b.entries, *e)
	own := &b.entries[len(b.entries)-1]
	own.Links, own.Sums, own.Rule = bytes.Clone(e.Links), bytes.Clone(e.Sums), bytes.Clone(e.Rule)
	b.bytes += int64(len(e.Links)+len(e.Sums)+len(e.Rule)) + e.Length
	if len(b.entries) < batchEntries && b.bytes < batchBytes {
		return nil
	}
	return c.send(ctx)
}

func (c *journalReader) send(ctx context.Context) error {
	b := c.current
	if b == nil {
		return nil
	}
	c.current = nil
	for _, to := range []chan *batch{c.todo, c.order} {
		select {
		case to <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// readRecords reads the records that the batches name.
func (c *journalReader) readRecords(ctx context.Context) (err error) {
	r := recordReader{
		restorer: fetch.NewRestorer(),
		archive:  warc.OpenArchive(c.fs, c.archive).Behind(c.end), links: links.NewFinder(c.links), hasVia: c.hasVia,
	}
	for b := range c.todo {
		b.records = make([]record, len(b.entries))
		for i := range b.entries {
			if e := &b.entries[i]; e.Serial > 0 && ctx.Err() == nil {
				r.fill(e, &b.records[i])
			}
		}
		close(b.done)
	}
	if err = r.archive.Close(); err != nil {
		return fmt.Errorf("restore: resume: %w", err)
	}
	return nil
}

// recordReader reads one record at a time.
type recordReader struct {
	archive  *warc.Archive
	restorer *fetch.Restorer
	links    *links.Finder
	hasVia   bool
}

// fill reads the record of an entry, with the links or the rules of its page.
func (r *recordReader) fill(e *journal.Entry, rec *record) {
	page, err := r.read(e, rec)
	rec.err, rec.stored = err, err == nil
	if page == nil {
		return
	}
	switch {
	case e.Kind == journal.KindRobots:
		rec.rules, rec.hasRules = r.robotsRules(e, rec, page)
		if outcome.IsPageStatus(e.Status) {
			r.links.SitemapsOf(rec.url, page, e.Outcome, filter.Way{Depth: e.Depth})
			rec.links = bytes.Clone(r.links.Links)
		}
	case e.Kind != journal.KindPage:
	case e.Outcome == outcome.Redirect:
		r.links.Open(links.Page{URL: rec.url, Page: page, Way: filter.Way{Depth: e.Depth, Embeds: e.Embeds, Hops: e.Hops}})
		r.links.Redirect(rec.url, page.Head().Location())
		rec.links = bytes.Clone(r.links.Links)
	case links.LeadsOn(e.Outcome, e.Status) && !r.links.Forbids(page): // those of an error page are in the journal
		from := links.Page{
			URL: rec.url, Page: page, Way: filter.Way{Depth: e.Depth, Embeds: e.Embeds, Hops: e.Hops}, Size: page.PayloadLen,
			IsTruncated: e.Outcome.IsBodyTruncated(),
		}
		if r.links.Open(from) {
			r.links.Scan(rec.url, page, queued.Called{Sitemap: e.Sitemap, ByIndex: e.Listed})
			r.links.Head(rec.url, page)
		}
		r.links.JudgeAgain(rec.dropped, rec.scores)
		if rec.nearSkips {
			r.links.SkipOfNear()
		}
		rec.links = bytes.Clone(r.links.Links)
	}
}

// metadataMax is the length in bytes of the longest metadata record of a crawl: the links of a page are in it.
const metadataMax = 1 << 30

// read reads the main record of an entry from the archive; no page and no error mean a revisit.
func (r *recordReader) read(e *journal.Entry, rec *record) (page *fetch.Page, err error) {
	count := 0
	place := warc.Position{Serial: e.Serial - 1, Offset: e.Offset, Length: e.Length}
	place, err = r.archive.EachOfGroup(place, func(i int, each *warc.RecordRead) (err error) {
		count++
		switch {
		case i == 0:
			page, err = r.readMain(e, rec, each)
		case r.hasVia && each.Type == warc.Metadata && len(rec.hopPath) == 0:
			if _, err = each.ReadBlock(metadataMax); err == nil {
				rec.hopPath = capture.HopPath(each)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if count == 0 {
		return nil, fmt.Errorf("%w at %d of file %d", errNoRecord, place.Offset, place.Serial)
	}
	rec.end = place.End()
	return page, nil
}

// readMain reads the main record of a group.
func (r *recordReader) readMain(e *journal.Entry, rec *record, main *warc.RecordRead) (*fetch.Page, error) {
	rec.url, rec.id, rec.date = main.TargetURI, main.ID, main.Date
	rec.unchanged = main.Type == warc.Revisit && main.Get("WARC-Profile") == warc.ProfileNotModified
	rec.near, rec.nearSkips = capture.NearDuplicate(main)
	rec.dropped, rec.scores = main.Get(capture.DroppedField), main.Get(capture.ScoresField)
	busy := e.Outcome.Class() == outcome.ClassBusy
	isResponse := main.Type == warc.Response
	if !isResponse && main.Type != warc.Revisit {
		return nil, nil //nolint:nilnil // as the comment of read says
	}
	page, ok, err := r.restorer.Restore(rec.url, main.Content(), main.ContentLength) // of a revisit the head
	switch {
	case err != nil:
		return nil, err
	case !ok && isResponse:
		return nil, fmt.Errorf("%w of %s that holds a response", errNoRecord, rec.url)
	}
	if ok {
		rec.addLine(e, page, isResponse)
		rec.mediaType = counters.MediaTypeOf(r.typeOf(page))
	}
	if ok && busy {
		rec.wait = namedWait(page, rec.date)
	}
	if !isResponse {
		return nil, nil //nolint:nilnil // as above
	}
	rec.response, rec.digest, rec.hasDigest = true, page.Digest, main.Get("WARC-Payload-Digest") != ""
	return page, nil
}

// typeOf is the media type of a response.
func (r *recordReader) typeOf(page *fetch.Page) []byte {
	r.links.Identify(page)
	return r.links.Type.Media
}

// namedWait is the Retry-After of a response that began at a time; 0 for none.
func namedWait(p *fetch.Page, began time.Time) time.Duration {
	p.Times.Ended = began
	asked, _ := p.Head().RetryAfter(p.Times.Ended)
	return asked.Wait
}

// robotsRules returns the rules of a robots.txt, or of its absence. It reports false if the response decides nothing
// that lasts.
func (r *recordReader) robotsRules(e *journal.Entry, rec *record, page *fetch.Page) (*robots.Rules, bool) {
	_, path := urlx.Split(rec.url)
	if e.Hops > 0 || string(path) != robots.FilePath || e.Outcome == outcome.Redirect {
		return nil, false
	}
	ruling := robotsanswer.Of(page, e.Outcome, e.Hops, r.links.Decoder)
	rec.robotsFault = ruling.Fault
	rules := ruling.Parse(robots.Token)
	return rules, rules != nil
}
