package engine

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/capture"
	"orbweaver/engine/layout"
	"orbweaver/engine/outcome"
	"orbweaver/engine/robots"
	"orbweaver/engine/seen"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/internal/extsort"
	"orbweaver/warc"
)

// storedCapture is a response or revisit as a rebuild sees it.
type storedCapture struct {
	capture.Capture
	rec   *warc.RecordRead
	url   []byte
	again bool // what a crawl asks for again, unless it was the last try
}

func (r *rebuilder) captureOf(rec *warc.RecordRead) storedCapture {
	c := storedCapture{Capture: capture.Read(rec), rec: rec, url: rec.TargetURI}
	c.again = c.Again(&r.cfg.Politeness)
	return c
}

// sweepRecords mends the archive and notes what it holds.
func (r *rebuilder) sweepRecords() error {
	dir := r.cfg.Dir + "/" + layout.ArchiveDir
	if err := warc.FinishMending(r.fs, dir); err != nil {
		return err
	}
	if err := r.fillGaps(dir); err != nil {
		return err
	}
	files, err := r.files(dir)
	if err != nil {
		return err
	}
	for _, info := range files {
		size, err := r.fs.Size(dir + "/" + info.Name)
		if err != nil {
			return err
		}
		mended, err := warc.Mend(r.fs, dir, info, warc.MendOptions{
			Info:    r.info(),
			OnFault: func(f *warc.Fault) { r.damage(f.File, f.Offset, fmt.Sprintf("%v: %s", f.Kind, f.What)) },
			Visit: func(rec *warc.RecordRead, at warc.Position) (bool, error) {
				if err := r.progress("records", info.Name, rec.Offset); err != nil {
					return false, err
				}
				return r.record(info.Name, rec, at)
			},
		})
		if err != nil {
			return err
		}
		r.before += size
		if r.out.Files++; mended.Changed() {
			r.out.Mended = append(r.out.Mended, mended)
		}
	}
	if err := r.judgeTries(); err != nil {
		return err
	}
	return r.flush(true, r.finished)
}

// gapMax is how many files in a row may be missing: more are no accident.
const gapMax = 1 << 16

// fillGaps puts something in the place of files that are missing, and says that they are.
func (r *rebuilder) fillGaps(dir string) error {
	c := &r.cfg
	files, err := warc.Files(r.fs, dir)
	if err != nil {
		return err
	}
	next := uint32(0)
	for _, f := range files {
		if f.Serial-next > gapMax && f.Serial > next {
			return fmt.Errorf("the archive has no files with serial numbers from %05d to %05d: is it all there?", next, f.Serial-1)
		}
		for ; next < f.Serial; next++ {
			info, err := warc.Placeholder(r.fs, warc.Options{
				Dir: dir, Prefix: c.Archive.Prefix, Host: c.Archive.Host, Compression: f.Compression,
			}, next, r.began)
			if err != nil {
				return err
			}
			r.damage(info.Final(), 0, "the file with this serial number was missing; what was in it is fetched again")
		}
		next = f.Serial + 1
	}
	return nil
}

// files lists the archive and adds it up.
func (r *rebuilder) files(dir string) ([]warc.FileInfo, error) {
	files, err := warc.Files(r.fs, dir)
	if err != nil {
		return nil, err
	}
	r.before, r.total = 0, 0
	for i, f := range files {
		if i > 0 && files[i-1].Serial == f.Serial {
			return nil, fmt.Errorf("%s and %s have the same serial number; move the one that does not belong there away", files[i-1].Name, f.Name)
		}
		size, err := r.fs.Size(dir + "/" + f.Name)
		if err != nil {
			return nil, err
		}
		r.total += size
	}
	return files, nil
}

// finished takes a URL that has its outcome out of the sieve.
func (r *rebuilder) finished(payload []byte) error {
	r.ledger.Count.Finish(outcome.Outcome(payload[0]), 1)
	return nil
}

// done hands a URL that has its outcome to the sieve.
func (r *rebuilder) done(fp xxh3.Uint128, o outcome.Outcome) error {
	r.ledger.Count.Found.Add(1)
	r.ledger.Count.Sieved.Add(1)
	r.sieve.Add(fp, []byte{byte(o)})
	r.cluster.NoteRebuilt(o, fp)
	return r.flush(false, r.finished)
}

// record notes one sound record, and says whether it may stay.
func (r *rebuilder) record(file string, rec *warc.RecordRead, at warc.Position) (keep bool, err error) {
	n := &r.ledger.Count
	switch rec.Type {
	case warc.Warcinfo:
		r.crawlID(rec)
		return true, nil
	case warc.Request:
		n.BytesSent.Add(rec.ContentLength)
		return true, nil
	case warc.Response:
		if rec.IsDNS() {
			return true, nil
		}
	case warc.Revisit:
		if why, err := r.unresolved(rec); err != nil || why != "" {
			r.damage(file, rec.Offset, why)
			return false, err
		}
	default:
		return true, nil
	}
	c := r.captureOf(rec)
	n.Status(c.Status)
	n.BytesReceived.Add(rec.ContentLength)
	if r.m.Created.IsZero() || rec.Date.Before(r.m.Created) {
		r.m.Created = rec.Date
	}
	if rec.Type == warc.Response && rec.PayloadDigest != nil {
		if err := r.lists.payload(rec, at); err != nil {
			return false, err
		}
	}
	r.postpone(&c)
	if c.Outcome.Class() == outcome.ClassAnswer && (!c.Robots || c.Outcome != outcome.Redirect) {
		r.bench.WithSite(r.siteOf(c.url), func(s *site.State) { s.HasAnswered = true })
	}
	if r.forRobots(&c) {
		n.RobotsFetched.Add(1)
		r.crawlDelay(&c)
		return true, nil
	}
	n.Attempts.Add(1)
	fp := r.fingerprint(c.url)
	if c.again {
		tag := r.tried<<16 | uint64(c.Outcome)
		if outcome.IsPageStatus(c.Status) {
			tag |= tagPage
		}
		r.tried++
		return true, r.lists.tries.Add(extsort.Entry{Hi: fp.Hi, Lo: fp.Lo, Tag: tag})
	}
	r.count(&c)
	return true, r.done(fp, c.Outcome)
}

func (r *rebuilder) fingerprint(url []byte) xxh3.Uint128 {
	return urlx.Fingerprint(r.frontier.HashSeed, url)
}

// forRobots says whether a record is that of a robots.txt, or of what its redirects lead to: the next answer of that
// URL.
func (r *rebuilder) forRobots(c *storedCapture) bool {
	if !c.Robots {
		if len(r.hops) == 0 {
			return false
		}
		fp := r.fingerprint(c.url)
		if r.hops[fp] == 0 {
			return false
		}
		if !c.again {
			if r.hops[fp]--; r.hops[fp] == 0 {
				delete(r.hops, fp)
			}
		}
	}
	if c.Outcome == outcome.Redirect {
		to, err := urlx.Resolve(nil, c.url, c.Page.Location())
		if _, path := urlx.Split(to); err == nil && string(path) != robots.FilePath {
			r.hops[r.fingerprint(to)]++
		}
	}
	return true
}

// tagPage marks an attempt that brought a page, however short; the outcome is in the eight bits below.
const tagPage = 1 << 8

// unresolved says why a revisit does not lead to its payload. One of a page that the server called unchanged, and that
// does not say what payload it has, may name the record of another crawl.
func (r *rebuilder) unresolved(rec *warc.RecordRead) (why string, err error) {
	to, _ := warc.ParseID(rec.Get("WARC-Refers-To")) // none is zero
	unchanged := rec.Get("WARC-Profile") == warc.ProfileNotModified
	if unchanged && !to.IsZero() && rec.PayloadDigest == nil {
		return "", nil
	}
	if to.IsZero() || rec.PayloadDigest == nil {
		return fmt.Sprintf("the revisit of %.200q names no record or no payload", rec.TargetURI), nil
	}
	ok, err := r.lists.resolve(seen.Digest(*rec.PayloadDigest), to, !unchanged)
	if err != nil || ok {
		return "", err
	}
	return fmt.Sprintf("the revisit of %.200q names %s, which is not there any more; it is fetched again", rec.TargetURI, to), nil
}

// count adds a page that is stored.
func (r *rebuilder) count(c *storedCapture) {
	if c.rec.Type == warc.Revisit && c.rec.Get("WARC-Profile") == warc.ProfileNotModified {
		r.ledger.Count.Unchanged.Add(1)
		r.stored(c)
		return
	}
	if !outcome.IsPageStatus(c.Status) {
		return
	}
	if c.rec.Type == warc.Revisit {
		r.ledger.Count.Revisits.Add(1)
	} else {
		r.ledger.Count.Pages.Add(1)
	}
	r.stored(c)
}

// stored counts a page against the limit of its site.
func (r *rebuilder) stored(c *storedCapture) {
	if r.cfg.Limits.MaxPerHost > 0 {
		r.bench.WithSite(r.siteOf(c.url), func(s *site.State) { s.Stored++ })
	}
}

// judgeTries looks at the answers that a crawl asks for again: a URL that had all its tries is done, the others begin
// anew.
func (r *rebuilder) judgeTries() error {
	var last extsort.Entry
	tries := 0
	judge := func() error {
		o := outcome.Outcome(last.Tag & 0xff)
		if tries == 0 || tries < r.cfg.Politeness.Table[o].Tries {
			return nil
		}
		n := &r.ledger.Count
		n.Retries.Add(-1)
		if last.Tag&tagPage != 0 {
			n.Pages.Add(1)
		}
		if err := r.lists.lasts.Add(extsort.Entry{Hi: last.Tag >> 16}); err != nil {
			return err
		}
		return r.done(xxh3.Uint128{Hi: last.Hi, Lo: last.Lo}, o)
	}
	for e, err := range r.lists.tries.Sorted() {
		if err != nil {
			return err
		}
		if e.Hi != last.Hi || e.Lo != last.Lo {
			if err := judge(); err != nil {
				return err
			}
			tries = 0
		}
		last = e
		tries++
		r.ledger.Count.Retries.Add(1)
	}
	return judge()
}

// crawlID takes over the crawl's identity.
func (r *rebuilder) crawlID(rec *warc.RecordRead) {
	for line := range strings.Lines(string(rec.Block)) {
		if id, ok := strings.CutPrefix(line, "isPartOf: "); ok && strings.TrimSpace(id) != "" {
			r.m.CrawlID = strings.TrimSpace(id)
		}
	}
}

// postpone makes a site that asked to be left alone wait, as long as it asked for.
func (r *rebuilder) postpone(c *storedCapture) {
	p := &r.cfg.Politeness
	if c.Page == nil || c.Outcome.Class() != outcome.ClassBusy {
		return
	}
	// When the answer ended is not in the archive, only when the exchange began.
	c.Page.Ended = c.rec.Date.Add(r.cfg.Fetch.TotalTimeout)
	if c.Page.Ended.After(r.began) {
		c.Page.Ended = r.began
	}
	wait, ok := c.Page.RetryAfter()
	if due := c.Page.Ended.Add(min(wait.Wait, p.RetryAfterMax)); ok && due.After(r.began) {
		r.bench.Postpone(r.siteOf(c.url), due, time.Time{})
	}
}

// crawlDelay notes the longest Crawl-delay. Whose it is does not matter: the first request of all waits for that long.
func (r *rebuilder) crawlDelay(c *storedCapture) {
	if c.Page == nil || !outcome.IsPageStatus(c.Status) {
		return
	}
	body, _ := c.Page.Decoded(r.links.Decoder)
	if d, ok := robots.Parse(body, robots.Token).CrawlDelay(); ok {
		r.longest = max(r.longest, d)
	}
}

// pull makes the numbers of last tries come one by one.
func pull(s *sorted) (next func() (uint64, bool, error), stop func()) {
	get, stop := iter.Pull2(s.Sorted())
	return func() (uint64, bool, error) {
		e, err, ok := get()
		return e.Hi, ok && err == nil, err
	}, stop
}
