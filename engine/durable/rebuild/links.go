package rebuild

import (
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// linkReading is the second reading of the archive, which has no damage any more: it queues the URLs that have no
// record.
type linkReading struct {
	*rebuilder
	archive *warc.Archive
	links   *links.Finder
	faults  *parsers.FaultFiles
	scratch admission.Scratch
	lasts   lastTries
	called  map[xxh3.Uint128]queued.Called // URLs that were called sitemaps so far
}

func (r *linkReading) readLinks() error {
	dir := r.archiveDir()
	files, err := r.beginReading()
	if err != nil {
		return err
	}
	r.chains = newRobotsChains(r.Frontier.HashSeed)
	next, stop := pull(r.lists.final)
	defer stop()
	r.lasts = lastTries{next: next}
	if err := r.lasts.advance(); err != nil {
		return err
	}
	for _, info := range files {
		size, err := r.FS.Size(dir + "/" + info.Name)
		if err != nil {
			return err
		}
		err = warc.ReadFile(r.FS, dir, info, size, warc.ReaderOptions{Unbounded: true}, func(z *warc.Reader) error {
			onRecord := func(rec *warc.RecordRead) error { return r.readRecord(info.Name, rec) }
			return warc.ScanRecords(z, onRecord, warc.StopAtDamage)
		})
		if err != nil {
			return err
		}
		r.progress.before += size
	}
	return r.flush(true, r.Ready.Append)
}

func (r *linkReading) readRecord(file string, rec *warc.RecordRead) error {
	if err := r.progress.at("links", file, rec.Offset); err != nil {
		return err
	}
	if rec.Type != warc.Response && rec.Type != warc.Revisit || rec.IsDNS() {
		return nil
	}
	if err := rec.ReadStart(warc.StartMost); err != nil {
		return err
	}
	c, err := r.captureOf(rec)
	if err != nil {
		return err
	}
	if r.chains.isRobots(&c) {
		return r.offerSitemaps(&c)
	}
	return r.follow(&c)
}

// follow offers the links of a capture, or its URL if that must be tried again.
func (r *linkReading) follow(c *storedCapture) error {
	if err := r.claim(c); err != nil {
		return err
	}
	if c.repeatable {
		last, err := r.lasts.takeNext()
		if err != nil {
			return err
		}
		if !last {
			return r.offer(c.url, queued.URL{})
		}
		if c.Outcome.IsPage(c.Status) {
			r.countStored(c)
		}
	}
	if c.Page == nil {
		return nil
	}
	r.links.Reset()
	switch {
	case c.Outcome == outcome.Redirect:
		r.links.Open(links.Page{URL: c.url, Page: c.Page})
		r.links.Redirect(c.url, c.Page.Head().Location())
	case links.LeadsOn(c.Outcome, c.Status) && !r.links.Forbids(c.Page):
		if err := r.scan(c); err != nil {
			return err
		}
		r.links.JudgeAgain(c.rec.Get(capture.DroppedField), c.rec.Get(capture.ScoresField))
		if _, skipped := capture.NearDuplicate(c.rec); skipped {
			r.links.SkipOfNear()
		}
	}
	called := r.calledOf(c.url)
	it := links.LeadsTo(&links.Lead{
		Outcome: c.Outcome, Sitemap: called.Sitemap, Listed: called.ByIndex, Index: r.links.Index,
		Embeds: r.Frontier.LeastEmbeds(c.url),
	})
	if r.settings.Via {
		it.Via = c.url // the hop path is not known, as the depth is not
	}
	return r.offerLinks(c.url, it)
}

// calledOf says what a robots.txt or an index before it in the archive calls a URL.
func (r *linkReading) calledOf(url []byte) queued.Called {
	if len(r.called) == 0 {
		return queued.Called{}
	}
	return r.called[urlx.Fingerprint(0, url)]
}

// noteCalled notes what a page calls a URL. A sitemap may redirect.
func (r *linkReading) noteCalled(kind parse.Kind, url []byte, it *queued.URL) {
	if kind == parse.SitemapFile || kind == parse.Redirect && it.Sitemap {
		r.called[urlx.Fingerprint(0, url)] = queued.Called{Sitemap: true, ByIndex: it.ListedByIndex}
	}
}

// offerSitemaps offers the sitemaps that a robots.txt names.
func (r *linkReading) offerSitemaps(c *storedCapture) error {
	if c.Page == nil || !outcome.IsPageStatus(c.Status) {
		return nil
	}
	r.links.SitemapsOf(c.url, c.Page, c.Outcome, filter.Way{})
	return r.offerLinks(c.url, queued.URL{})
}

// offerLinks offers the links that were found in a page.
func (r *linkReading) offerLinks(page []byte, it queued.URL) error {
	r.scratch.Page = page
	r.Frontier.Refuse(r.links.Refused)
	r.Journal.Count.Userinfo.Add(int64(r.links.Userinfo))
	r.Frontier.Unfollowed(r.links.Unfollowed)
	r.Frontier.SkippedOfNear(r.links.NearSkipped)
	r.Journal.Count.DroppedLinks.Add(int64(r.links.Dropped))
	r.Journal.Count.DroppedBytes.Add(int64(r.links.Budget.LinksDropped))
	var fault error
	err := journal.EachScored(r.links.Links, func(kind parse.Kind, score int, url []byte) {
		it.Score = score
		if r.noteCalled(kind, url, &it); fault == nil {
			r.Frontier.AddLink(&r.scratch, url, kind, it)
			fault = r.flush(false, r.Ready.Append)
		}
	})
	return errors.Join(err, fault)
}

// claim tells payload deduplication of a response that is the first of its payload.
func (r *linkReading) claim(c *storedCapture) error {
	if c.rec.Type != warc.Response || c.rec.PayloadDigest == nil || c.rec.IsWall() {
		return nil
	}
	d := dedup.Digest(*c.rec.PayloadDigest)
	first, err := r.lists.mayBeFirst(d, c.rec.ID)
	if err != nil || !first {
		return err
	}
	_, _, err = r.Journal.Seen.Insert(d, dedup.First{RecordID: c.rec.ID, URI: string(c.url), Date: c.rec.Date})
	if errors.Is(err, dedup.ErrURI) {
		r.Journal.Count.Unclaimed.Add(1)
		return nil
	}
	return err
}

// offer offers a URL to admission.
func (r *linkReading) offer(url []byte, it queued.URL) error {
	r.Frontier.Add(&r.scratch, url, it)
	return r.flush(false, r.Ready.Append)
}

// scan finds the links of a page. A revisit has the payload of another record, and its own URL as the base URL.
func (r *linkReading) scan(c *storedCapture) (err error) {
	page := c.Page
	if c.rec.Type == warc.Revisit {
		first, done, fault := r.original(c)
		defer func() { err = errors.Join(err, done()) }()
		if fault != nil {
			return fault
		}
		var ok bool
		page, ok, err = fetch.NewRestorer().Restore(c.url, first.Content(), first.ContentLength)
		if err != nil || !ok {
			return err
		}
	}
	if page.PayloadLen == 0 && !links.HasFields(c.Page) {
		return nil
	}
	of := links.Page{URL: c.url, Page: c.Page, Size: page.PayloadLen, IsTruncated: c.Outcome.IsBodyTruncated()}
	if r.links.Open(of) {
		r.scanPage(c.url, page)
		r.links.Head(c.url, c.Page)
	} else {
		r.Journal.Count.PagesNotParsed.Add(1)
	}
	return nil
}

// original reads the start of the record with the payload of a revisit: a record of this archive, or else of another.
// done ends the use of the record.
func (r *linkReading) original(c *storedCapture) (first *warc.RecordRead, done func() error, err error) {
	done = func() error { return nil }
	at, ok, err := r.lists.placeOf(dedup.Digest(*c.rec.PayloadDigest))
	switch {
	case err != nil:
		return nil, done, err
	case ok:
		first, err = r.archive.ReadStart(at, warc.StartMost)
		return first, done, err
	case !otherarchives.IsElsewhere(c.rec):
		return nil, done, fmt.Errorf("the payload of the revisit of %q is not in the list of payloads any more", c.url)
	}
	rec, err := r.others.Open(c.rec)
	if err != nil {
		return nil, done, err
	}
	return rec.RecordRead, rec.Close, rec.ReadStart(warc.StartMost)
}

// scanPage scans a page as a parse worker does: a panic is a bug, and must not end a rebuild.
func (r *linkReading) scanPage(url []byte, page *fetch.Page) {
	defer func() {
		if p := recover(); p != nil {
			r.Journal.Count.ParseFaults.Add(1)
			r.links = r.links.Again()
			r.faults.Save(url, page.Raw, p)
		}
	}()
	r.links.Scan(url, page, r.calledOf(url))
}
