package engine

import (
	"errors"
	"fmt"
	"io"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/links"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/seen"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// sweepLinks reads the archive again, which is sound by now, for what leads on.
func (r *rebuilder) sweepLinks() error {
	dir := r.cfg.Dir + "/" + layout.ArchiveDir
	files, err := r.files(dir)
	if err != nil {
		return err
	}
	clear(r.hops)
	next, stop := pull(r.lists.lasts)
	defer stop()
	r.lasts = lastTries{next: next}
	if err := r.lasts.advance(); err != nil {
		return err
	}
	for _, info := range files {
		f, err := r.fs.Open(dir + "/" + info.Name)
		if err != nil {
			return err
		}
		err = r.linksOf(info, f)
		size, serr := f.Size()
		if err := errors.Join(err, serr, f.Close()); err != nil {
			return err
		}
		r.before += size
	}
	return r.flush(true, r.ready.Append)
}

func (r *rebuilder) linksOf(info warc.FileInfo, f vfs.File) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	z := warc.NewReader(io.NewSectionReader(f, 0, size), warc.ReaderOptions{Name: info.Name})
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.progress("links", info.Name, rec.Offset); err != nil {
			return err
		}
		if rec.Type != warc.Response && rec.Type != warc.Revisit || rec.IsDNS() {
			continue
		}
		if _, err := rec.ReadBlock(warc.BlockMax); err != nil {
			return err
		}
		c := r.captureOf(rec)
		if r.forRobots(&c) {
			err = r.sitemaps(&c)
		} else {
			err = r.leads(&c)
		}
		if err != nil {
			return err
		}
	}
}

// leads offers what a capture leads to at the door.
func (r *rebuilder) leads(c *storedCapture) error {
	if err := r.claim(c); err != nil {
		return err
	}
	if c.again {
		last, err := r.lasts.is()
		if err != nil {
			return err
		}
		if !last {
			return r.offer(c.url, queued.URL{})
		}
		if outcome.IsPageStatus(c.Status) {
			r.stored(c)
		}
	}
	if c.Page == nil {
		return nil
	}
	r.links.Reset()
	switch {
	case c.Outcome == outcome.Redirect:
		r.links.Open(links.Page{URL: c.url, Page: c.Page})
		r.links.Redirect(c.url, c.Page.Location())
	case outcome.IsPageStatus(c.Status) && !r.links.Forbids(c.Page):
		if err := r.scan(c); err != nil {
			return err
		}
	}
	it := links.LeadsTo(&links.Lead{Outcome: c.Outcome, Index: r.links.Index})
	if r.cfg.Archive.Via {
		it.Via = c.url // and the way is not known, as the depth is not
	}
	return r.offerLinks(it)
}

// sitemaps offers what a robots.txt names, as the seeds' own would be.
func (r *rebuilder) sitemaps(c *storedCapture) error {
	if c.Page == nil || !outcome.IsPageStatus(c.Status) {
		return nil
	}
	r.links.SitemapsOf(c.url, c.Page, filter.Way{})
	return r.offerLinks(queued.URL{})
}

// offerLinks lets the links that were found through the door.
func (r *rebuilder) offerLinks(it queued.URL) error {
	r.frontier.Refuse(r.links.Refused)
	r.ledger.Count.Userinfo.Add(int64(r.links.Userinfo))
	r.frontier.Unfollowed(r.links.Unfollowed)
	r.ledger.Count.DroppedLinks.Add(int64(r.links.Dropped))
	r.ledger.Count.DroppedBytes.Add(int64(r.links.Budget.Beyond))
	var fault error
	err := journal.EachLink(r.links.Links, func(url []byte) {
		if fault == nil {
			fault = r.offer(url, it)
		}
	})
	return errors.Join(err, fault)
}

// claim tells content-seen of a response that is the first of its payload.
func (r *rebuilder) claim(c *storedCapture) error {
	if c.rec.Type != warc.Response || c.rec.PayloadDigest == nil {
		return nil
	}
	d := seen.Digest(*c.rec.PayloadDigest)
	first, err := r.lists.mayBeFirst(d, c.rec.ID)
	if err != nil || !first {
		return err
	}
	_, _, err = r.ledger.Seen.Insert(d, seen.First{RecordID: c.rec.ID, URI: string(c.url), Date: c.rec.Date})
	if errors.Is(err, seen.ErrURI) {
		r.ledger.Count.Unclaimed.Add(1)
		return nil
	}
	return err
}

// offer lets a URL through the door.
func (r *rebuilder) offer(url []byte, it queued.URL) error {
	r.frontier.Add(&r.door, url, it)
	return r.flush(false, r.ready.Append)
}

// scan finds the links of a page. A revisit has the payload of another record, and its own URL to resolve against.
func (r *rebuilder) scan(c *storedCapture) error {
	page := c.Page
	if c.rec.Type == warc.Revisit {
		at, ok, err := r.lists.place(seen.Digest(*c.rec.PayloadDigest))
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("the payload of the revisit of %q is not in the list of payloads any more", c.url)
		}
		group, _, err := r.archive.ReadGroup(at)
		if err != nil {
			return err
		}
		if page, ok = fetch.Stored(c.url, group[0].Block); !ok {
			return nil
		}
	}
	if page.PayloadLen == 0 && len(c.Page.Header(links.RefreshField)) == 0 {
		return nil
	}
	if r.links.Open(links.Page{URL: c.url, Page: c.Page, Size: page.PayloadLen, Cut: c.Outcome.IsBodyCut()}) {
		r.scanPage(c.url, page)
		r.links.Refresh(c.url, c.Page)
	} else {
		r.ledger.Count.NotParsed.Add(1)
	}
	return nil
}

// scanPage is the parse worker's scan: a panic is a bug, and must not end a rebuild either.
func (r *rebuilder) scanPage(url []byte, page *fetch.Page) {
	defer func() {
		if p := recover(); p != nil {
			r.ledger.Count.ParseFaults.Add(1)
			r.links = r.links.Again()
			r.faults.Save(url, page.Raw, p)
		}
	}()
	r.links.Scan(url, page, false) // which pages an index of sitemaps named is not in the archive
}

// lastTries tells which of the attempts that may be repeated were a URL's last. They are asked about in order.
type lastTries struct {
	next func() (uint64, bool, error)
	now  uint64 // the attempt at hand
	last uint64 // the next one that was the last
	some bool
}

func (l *lastTries) advance() (err error) {
	l.last, l.some, err = l.next()
	return err
}

// is says whether the attempt at hand was the last, and goes on to the next.
func (l *lastTries) is() (bool, error) {
	now := l.now
	l.now++
	if !l.some || l.last != now {
		return false, nil
	}
	return true, l.advance()
}
