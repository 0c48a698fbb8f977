package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"orbweaver/engine/capture"
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/links"
	"orbweaver/engine/outcome"
	"orbweaver/engine/parse"
	"orbweaver/engine/robots"
	"orbweaver/engine/seen"
	"orbweaver/engine/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// recall is a run of journal entries, in order, and what the archive holds of them.
type recall struct {
	entries []journal.Entry // their Links are this recall's own
	records []record        // of each
	bytes   int64           // what it takes to look at them, more or less
	done    chan struct{}   // closed when the records are there
}

// record is what the replay needs of an entry's main record.
type record struct {
	err       error    // why it could not be read
	stored    bool     // there is one; the rest is about it
	end       warc.Cut // of its group
	url       []byte
	response  bool // or a revisit
	unchanged bool // a revisit since the server said that the page has not changed
	id        warc.ID
	date      time.Time
	digest    seen.Digest
	whole     bool          // has a payload digest
	links     []byte        // see appendLink
	kinds     []parse.Kind  // of links; nil unless somebody asks, and the way to the page is known
	way       []byte        // to the page
	rules     *robots.Rules // of a site's own robots.txt, if it says what holds
	wait      time.Duration // that a site named which asked to slow down (Retry-After); 0 for none
}

// errNoRecord says that what lies in the archive is not what the journal names.
var errNoRecord = errors.New("engine: no record")

const (
	recallEntries = 64
	recallBytes   = 512 << 10
)

// recollection reads the journals since a cut and what they name, several entries at a time and ahead of who applies
// them. The recalls come in the order of the journals, and only a few are ahead.
type recollection struct {
	fs      vfs.FS
	dir     string // frontier/
	archive string
	cut     warc.Cut // where the archive was durable
	o       links.Options
	via     bool // whoever follows the links asks for the way

	order   chan *recall // to be applied, not all of them done
	todo    chan *recall
	current *recall
	stray   string
	readers errgroup.Group
	workers errgroup.Group
}

// begin begins to read the journals from a generation on, with so many who look into the archive; wait must follow.
// Cancelling ctx makes it end early.
func (c *recollection) begin(ctx context.Context, from uint64, workers int) {
	c.order, c.todo = make(chan *recall, 2*workers), make(chan *recall, workers)
	c.readers.Go(func() error { return c.read(ctx, from) })
	for range workers {
		c.workers.Go(func() error { return c.look(ctx) })
	}
}

// wait returns when all goroutines have ended, and says what reading the journals came to.
func (c *recollection) wait() (stray string, err error) {
	err = c.readers.Wait()
	if werr := c.workers.Wait(); err == nil {
		err = werr
	}
	return c.stray, err
}

// read takes the journals apart.
func (c *recollection) read(ctx context.Context, from uint64) (err error) {
	defer close(c.order)
	defer close(c.todo)
	c.stray, err = journal.Each(c.fs, c.dir, from, func(name string) (int64, error) {
		return journal.Read(c.fs, name, func(e *journal.Entry) error { return c.take(ctx, e) })
	})
	if sent := c.send(ctx); err == nil {
		err = sent
	}
	return err
}

// take adds an entry, which it borrows.
func (c *recollection) take(ctx context.Context, e *journal.Entry) error {
	if c.current == nil {
		c.current = &recall{entries: make([]journal.Entry, 0, recallEntries), done: make(chan struct{})}
	}
	k := c.current
	k.entries = append(k.entries, *e)
	if own := &k.entries[len(k.entries)-1]; len(own.Links) > 0 {
		own.Links = bytes.Clone(own.Links)
	}
	if k.bytes += int64(len(e.Links)) + e.Length; len(k.entries) < recallEntries && k.bytes < recallBytes {
		return nil
	}
	return c.send(ctx)
}

func (c *recollection) send(ctx context.Context) error {
	k := c.current
	if k == nil {
		return nil
	}
	c.current = nil
	for _, to := range []chan *recall{c.todo, c.order} {
		select {
		case to <- k:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// look reads what the recalls name.
func (c *recollection) look(ctx context.Context) (err error) {
	l := looker{archive: warc.OpenArchive(c.fs, c.archive).Behind(c.cut), links: links.NewFinder(c.o), via: c.via}
	for k := range c.todo {
		k.records = make([]record, len(k.entries))
		for i := range k.entries {
			if e := &k.entries[i]; e.Serial > 0 && ctx.Err() == nil {
				l.look(e, &k.records[i])
			}
		}
		close(k.done)
	}
	if err = l.archive.Close(); err != nil {
		return fmt.Errorf("engine: resume: %w", err)
	}
	return nil
}

// looker reads one record at a time.
type looker struct {
	archive  *warc.Archive
	restorer fetch.Restorer
	links    *links.Finder
	via      bool
}

func (l *looker) look(e *journal.Entry, rec *record) {
	page, err := l.read(e, rec)
	rec.err, rec.stored = err, err == nil
	if page == nil {
		return
	}
	switch {
	case e.Kind == journal.KindRobots:
		rec.rules = l.rules(e, rec, page)
		if outcome.IsPageStatus(e.Status) {
			l.links.SitemapsOf(rec.url, page, filter.Way{Depth: e.Depth})
			rec.links = bytes.Clone(l.links.Links)
		}
	case e.Kind != journal.KindPage:
	case e.Outcome == outcome.Redirect:
		l.links.Open(links.Page{URL: rec.url, Page: page, Way: filter.Way{Depth: e.Depth, Hops: e.Hops}})
		l.links.Redirect(rec.url, page.Location())
		l.take(e, rec)
	case outcome.IsPageStatus(e.Status) && !l.links.Forbids(page):
		from := links.Page{URL: rec.url, Page: page, Way: filter.Way{Depth: e.Depth, Hops: e.Hops}, Size: page.PayloadLen, Cut: e.Outcome.IsBodyCut()}
		if l.links.Open(from) {
			l.links.Scan(rec.url, page, e.Listed)
			l.links.Refresh(rec.url, page)
		}
		l.take(e, rec)
	}
}

// take notes the links that were found.
func (l *looker) take(e *journal.Entry, rec *record) {
	rec.links = bytes.Clone(l.links.Links)
	if l.via && (len(rec.way) > 0 || e.Depth+e.Hops == 0) {
		rec.kinds = slices.Clone(l.links.Kinds)
	}
}

// read brings an entry's main record back from the archive; no page and no error mean a revisit.
func (l *looker) read(e *journal.Entry, rec *record) (*fetch.Page, error) {
	group, pos, err := l.archive.ReadGroup(warc.Position{Serial: e.Serial - 1, Offset: e.Offset, Length: e.Length})
	if err != nil {
		return nil, err
	}
	if len(group) == 0 {
		return nil, fmt.Errorf("%w at %d of file %d", errNoRecord, pos.Offset, pos.Serial)
	}
	main := &group[0]
	rec.end, rec.url, rec.id, rec.date = pos.End(), main.TargetURI, main.ID, main.Date
	if l.via {
		rec.way = capture.HopPath(group)
	}
	rec.unchanged = main.Type == warc.Revisit && main.Get("WARC-Profile") == warc.ProfileNotModified
	busy := e.Outcome.Class() == outcome.ClassBusy
	if main.Type != warc.Response {
		if busy && main.Type == warc.Revisit { // its block is the head
			if head, ok := l.restorer.Stored(rec.url, main.Block); ok {
				rec.wait = namedWait(head, rec.date)
			}
		}
		return nil, nil //nolint:nilnil // as the comment says
	}
	page, ok := l.restorer.Stored(rec.url, main.Block)
	if !ok {
		return nil, fmt.Errorf("%w of %s that holds a response", errNoRecord, rec.url)
	}
	if busy {
		rec.wait = namedWait(page, rec.date)
	}
	rec.response, rec.digest, rec.whole = true, page.Digest, main.Get("WARC-Payload-Digest") != ""
	return page, nil
}

// namedWait is the Retry-After of a response that began at a time; 0 for none.
func namedWait(p *fetch.Page, began time.Time) time.Duration {
	p.Ended = began
	asked, _ := p.RetryAfter()
	return asked.Wait
}

// rules are those that a robots.txt says, or that its absence means; nil if it says nothing that lasts.
func (l *looker) rules(e *journal.Entry, rec *record, page *fetch.Page) *robots.Rules {
	if e.Hops > 0 {
		return nil
	}
	if _, path := urlx.Split(rec.url); !bytes.Equal(path, []byte(robots.FilePath)) {
		return nil
	}
	switch {
	case outcome.IsPageStatus(e.Status) && e.Outcome != outcome.CutDisconnect && e.Outcome != outcome.CutTime:
		body, _ := page.Decoded(l.links.Decoder)
		return robots.Parse(body, robots.Token)
	case e.Outcome.Class() == outcome.ClassAnswer && e.Outcome != outcome.Redirect:
		return robots.AllowAll()
	default:
		return nil
	}
}
