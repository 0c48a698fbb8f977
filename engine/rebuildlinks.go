package engine

import (
	"errors"
	"fmt"
	"io"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/outcome"
	"orbweaver/engine/seen"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// sweepLinks reads the archive again, which is sound by now, for what leads on.
func (r *rebuilder) sweepLinks() error {
	dir := r.cfg.Dir + "/" + ArchiveDir
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
func (r *rebuilder) leads(c *capture) error {
	if err := r.claim(c); err != nil {
		return err
	}
	if c.again {
		last, err := r.lasts.is()
		if err != nil {
			return err
		}
		if !last {
			return r.offer(c.url, Item{})
		}
		if isPageStatus(c.Status) {
			r.stored(c)
		}
	}
	if c.Page == nil {
		return nil
	}
	r.links.reset()
	switch {
	case c.Outcome == outcome.Redirect:
		r.links.open(linkPage{url: c.url, page: c.Page})
		r.links.redirect(c.url, c.Page.Location())
	case isPageStatus(c.Status) && !r.links.forbids(c.Page):
		if err := r.scan(c); err != nil {
			return err
		}
	}
	it := leadsTo(&lead{outcome: c.Outcome, index: r.links.index})
	if r.cfg.WARC.Via {
		it.Via = c.url // and the way is not known, as the depth is not
	}
	return r.offerLinks(it)
}

// sitemaps offers what a robots.txt names, as the seeds' own would be.
func (r *rebuilder) sitemaps(c *capture) error {
	if c.Page == nil || !isPageStatus(c.Status) {
		return nil
	}
	r.links.sitemapsOf(c.url, c.Page, filter.Way{})
	return r.offerLinks(Item{})
}

// offerLinks lets the links that were found through the door.
func (r *rebuilder) offerLinks(it Item) error {
	r.frontier.Refuse(r.links.refused)
	r.ledger.n.userinfo.Add(int64(r.links.userinfo))
	r.frontier.Unfollowed(r.links.unfollowed)
	r.ledger.n.droppedLinks.Add(int64(r.links.dropped))
	r.ledger.n.droppedBytes.Add(int64(r.links.budget.beyond))
	var fault error
	err := eachLink(r.links.links, func(url []byte) {
		if fault == nil {
			fault = r.offer(url, it)
		}
	})
	return errors.Join(err, fault)
}

// claim tells content-seen of a response that is the first of its payload.
func (r *rebuilder) claim(c *capture) error {
	if c.rec.Type != warc.Response || c.rec.PayloadDigest == nil {
		return nil
	}
	d := seen.Digest(*c.rec.PayloadDigest)
	first, err := r.lists.mayBeFirst(d, c.rec.ID)
	if err != nil || !first {
		return err
	}
	_, _, err = r.ledger.seen.Insert(d, seen.First{RecordID: c.rec.ID, URI: string(c.url), Date: c.rec.Date})
	if errors.Is(err, seen.ErrURI) {
		r.ledger.n.unclaimed.Add(1)
		return nil
	}
	return err
}

// offer lets a URL through the door.
func (r *rebuilder) offer(url []byte, it Item) error {
	r.frontier.Add(&r.door, url, it)
	return r.flush(false, r.ready.Append)
}

// scan finds the links of a page. A revisit has the payload of another record, and its own URL to resolve against.
func (r *rebuilder) scan(c *capture) error {
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
	if page.PayloadLen == 0 && len(c.Page.Header(refreshField)) == 0 {
		return nil
	}
	if r.links.open(linkPage{url: c.url, page: c.Page, size: page.PayloadLen, cut: isCut(c.Outcome)}) {
		r.scanPage(c.url, page)
		r.links.refresh(c.url, c.Page)
	} else {
		r.ledger.n.notParsed.Add(1)
	}
	return nil
}

// scanPage is the parse worker's scan: a panic is a bug, and must not end a rebuild either.
func (r *rebuilder) scanPage(url []byte, page *fetch.Page) {
	defer func() {
		if p := recover(); p != nil {
			r.ledger.n.parseFaults.Add(1)
			r.links = r.links.again()
			r.faults.save(url, page.Raw, p)
		}
	}()
	r.links.scan(url, page, false) // which pages an index of sitemaps named is not in the archive
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
