package rebuild

import (
	"fmt"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/internal/extsort"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
	"orbweaver/warc/repair"
)

// recordReading is the first reading of the archive: it repairs the files and notes what they hold.
type recordReading struct {
	*rebuilder
	finder     *links.Finder // for its decoder, and the types of pages
	repeatable uint64        // number of attempts after which a crawl may try again
	crawlDelay time.Duration // the longest one
	depths     depths
}

func (r *recordReading) readRecords() error {
	dir := r.archiveDir()
	if err := repair.Finish(r.FS, dir); err != nil {
		return err
	}
	if err := r.fillGaps(); err != nil {
		return err
	}
	files, err := r.beginReading()
	if err != nil {
		return err
	}
	manifest, err := fixity.OpenIfThere(r.FS, dir)
	if err != nil {
		return err
	}
	for _, info := range files {
		size, err := r.FS.Size(dir + "/" + info.Name)
		if err != nil {
			return err
		}
		mended, err := repair.File(r.FS, dir, info, repair.Options{
			Info:     r.WARCInfo(),
			OnChange: manifest.FileReopened,
			OnFault:  func(f *warc.Fault) { r.out.addDamage(f.File, f.Offset, fmt.Sprintf("%v: %s", f.Kind, f.What)) },
			Visit: func(rec *warc.RecordRead, at warc.Position) (bool, error) {
				if err := r.progress.at("records", info.Name, rec.Offset); err != nil {
					return false, err
				}
				return r.takeRecord(info.Name, rec, at)
			},
		})
		if err != nil {
			return err
		}
		r.progress.before += size
		if r.out.Files++; mended.Changed() {
			r.out.Mended = append(r.out.Mended, mended)
		}
	}
	if err := r.judgeTries(); err != nil {
		return err
	}
	if n := r.depths.unknown; n > 0 {
		r.out.note("of %d pages the archive does not say how many links from a seed they are: depths in reports are without "+
			"them (--warc-metadata all keeps it)", n)
	}
	return r.flush(true, r.countFinished)
}

// countFinished counts a URL with its outcome, which has passed the sieve.
func (r *recordReading) countFinished(payload []byte) error {
	r.Journal.Count.Finish(outcome.Outcome(payload[0]), 1)
	return nil
}

// addFinished gives a URL that has its outcome to the sieve.
func (r *recordReading) addFinished(fp xxh3.Uint128, o outcome.Outcome) error {
	r.Journal.Count.URLsFound.Add(1)
	r.Journal.Count.Sieved.Add(1)
	r.Sieve.Add(fp, []byte{byte(o)})
	r.Fetched.NoteRebuilt(o, fp)
	return r.flush(false, r.countFinished)
}

// takeRecord notes one undamaged record, and says whether it may stay in the archive.
func (r *recordReading) takeRecord(file string, rec *warc.RecordRead, at warc.Position) (keep bool, err error) {
	n := &r.Journal.Count
	switch rec.Type {
	case warc.Warcinfo:
		r.takeCrawlID(rec)
		return true, nil
	case warc.Metadata:
		if depth, isKnown := r.depths.take(rec); isKnown {
			n.CountDepth(depth)
		}
		return true, nil
	case warc.Request:
		n.BytesSent.Add(rec.ContentLength)
		return true, nil
	case warc.Response:
		if rec.IsDNS() {
			return true, nil
		}
	case warc.Revisit:
		if why, err := r.checkRevisit(rec); err != nil || why != "" {
			r.out.addDamage(file, rec.Offset, why)
			return false, err
		}
	default:
		return true, nil
	}
	c, err := r.captureOf(rec)
	if err != nil {
		return false, err
	}
	n.CountStatus(c.Status)
	n.BytesReceived.Add(rec.ContentLength)
	if r.Manifest.Created.IsZero() || rec.Date.Before(r.Manifest.Created) {
		r.Manifest.Created = rec.Date
	}
	if rec.Type == warc.Response && rec.PayloadDigest != nil && !rec.IsWall() {
		if err := r.lists.addPayload(rec, at); err != nil {
			return false, err
		}
	}
	r.postpone(&c)
	if c.Outcome.Class() == outcome.ClassAnswer && (!c.Robots || c.Outcome != outcome.Redirect) {
		r.Workbench.Site(r.siteOf(c.url)).Update(func(s *site.State) { s.HasAnswered = true })
	}
	if r.chains.isRobots(&c) {
		n.RobotsFetched.Add(1)
		r.takeCrawlDelay(&c)
		return true, nil
	}
	n.Attempts.Add(1)
	fp := r.fingerprint(c.url)
	if c.repeatable {
		tag := r.repeatable<<16 | uint64(c.Outcome)
		if c.Outcome.IsPage(c.Status) {
			tag |= tagPage
		}
		r.repeatable++
		return true, r.lists.repeatable.Add(extsort.Entry{Hi: fp.Hi, Lo: fp.Lo, Tag: tag})
	}
	r.countPage(&c)
	return true, r.addFinished(fp, c.Outcome)
}

// checkRevisit says why a revisit does not lead to its payload, "" if it does. A revisit of a page that the server
// called unchanged, and that has no payload digest, may name the record of another crawl.
func (r *recordReading) checkRevisit(rec *warc.RecordRead) (why string, err error) {
	to, _ := warc.ParseID(rec.Get("WARC-Refers-To")) // none is zero
	unchanged := rec.Get("WARC-Profile") == warc.ProfileNotModified
	if unchanged && !to.IsZero() && rec.PayloadDigest == nil {
		return "", nil
	}
	if otherarchives.IsElsewhere(rec) {
		return r.checkElsewhere(rec)
	}
	if to.IsZero() || rec.PayloadDigest == nil {
		return fmt.Sprintf("the revisit of %.200q names no record or no payload", rec.TargetURI), nil
	}
	ok, err := r.lists.resolve(dedup.Digest(*rec.PayloadDigest), to, !unchanged)
	if err != nil || ok {
		return "", err
	}
	return fmt.Sprintf("the revisit of %.200q names %s, which is not there any more; it is fetched again",
		rec.TargetURI, to), nil
}

// checkElsewhere says why the payload of a revisit of another archive cannot be read, "" if it can: there, or here.
func (r *recordReading) checkElsewhere(rec *warc.RecordRead) (why string, err error) {
	if rec.PayloadDigest != nil {
		if _, here, err := r.lists.placeOf(dedup.Digest(*rec.PayloadDigest)); err != nil || here {
			return "", err
		}
	}
	original, err := r.others.Open(rec)
	if err != nil {
		return fmt.Sprintf("%v; without it the links of the page are not known, and the page is fetched again", err), nil
	}
	return "", original.Close()
}

// countPage counts a page that is stored.
func (r *recordReading) countPage(c *storedCapture) {
	if outcome.IsPageStatus(c.Status) {
		r.depths.notePage(c.rec.ID)
	}
	if c.Page != nil {
		r.finder.Identify(c.Page)
		r.Journal.Count.CountAnswer(counters.MediaTypeOf(r.finder.Type.Media), false, 0)
	}
	if c.rec.Type == warc.Revisit && c.rec.Get("WARC-Profile") == warc.ProfileNotModified {
		r.Journal.Count.PagesUnchanged.Add(1)
		r.countStored(c)
		return
	}
	if !outcome.IsPageStatus(c.Status) {
		return
	}
	if c.rec.Type == warc.Revisit {
		r.Journal.Count.RevisitsStored.Add(1)
	} else {
		r.Journal.Count.PagesStored.Add(1)
	}
	r.countStored(c)
}

// takeCrawlID takes the identity of the crawl from a warcinfo record.
func (r *recordReading) takeCrawlID(rec *warc.RecordRead) {
	for line := range strings.Lines(string(rec.Block)) {
		if id, ok := strings.CutPrefix(line, "isPartOf: "); ok && strings.TrimSpace(id) != "" {
			r.Manifest.CrawlID = strings.TrimSpace(id)
		}
	}
}

// postpone makes a site wait whose answer has Retry-After.
func (r *recordReading) postpone(c *storedCapture) {
	p := &r.settings.Politeness
	if c.Page == nil || c.Outcome.Class() != outcome.ClassBusy {
		return
	}
	// When the answer ended is not in the archive, only when the exchange began.
	c.Page.Times.Ended = c.rec.Date.Add(r.settings.TotalTimeout)
	if c.Page.Times.Ended.After(r.began) {
		c.Page.Times.Ended = r.began
	}
	wait, ok := c.Page.Head().RetryAfter(c.Page.Times.Ended)
	if due := c.Page.Times.Ended.Add(min(wait.Wait, p.RetryAfterMax)); ok && due.After(r.began) {
		r.Workbench.Site(r.siteOf(c.url)).Postpone(due, time.Time{})
	}
}

// takeCrawlDelay notes the longest Crawl-delay of all sites: the first request of the crawl waits for that time.
func (r *recordReading) takeCrawlDelay(c *storedCapture) {
	if c.Page == nil || !outcome.IsPageStatus(c.Status) {
		return
	}
	body, _ := c.Page.Decoded(r.finder.Decoder)
	if d, ok := robots.Parse(body, robots.Token).CrawlDelay(); ok {
		r.crawlDelay = max(r.crawlDelay, d)
	}
}
