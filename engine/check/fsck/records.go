package fsck

import (
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"orbweaver/engine/records/capture"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/internal/extsort"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// tally is what the records of the archive come to, up to the checkpoint.
type tally struct {
	cut   warc.Checkpoint
	from  warc.Checkpoint // where this pass began
	dedup opened[*dedup.Map]

	statuses       [600]int64 // of responses and revisits
	pages          int64      // responses with a status of 2xx, those of robots.txt left out
	robots         int64      // those
	robotsMoved    int64      // redirects that a robots.txt may have led through
	revisits       int64      // revisits with a status of 2xx
	elsewhere      int64      // revisits of records of other archives
	unchanged      int64      // revisits of what the server said is as it was
	matched        uint64     // responses that the map of payloads names
	unclaimed      int64      // responses whose payload the map does not have
	reached        bool       // a record ends at the checkpoint
	capturesBehind int64      // responses and revisits behind the checkpoint
	behindIDs      map[warc.ID]bool
	behindRevisit  []reference // revisits behind the checkpoint of what the map of payloads does not have
	removed        struct {    // WARC files that are in an object store and not here
		count int64
		bytes int64
		place string // of the first
	}
	damaged atomic.Bool // some record could not be read: the sums are not true
}

type reference struct {
	file   string
	offset int64
	to     warc.ID
}

func newTally(c *checker) *tally {
	t := &tally{dedup: c.dedup, behindIDs: map[warc.ID]bool{}, reached: true}
	if c.hasCut {
		t.cut, t.from, t.reached = c.cut.ArchiveEnd(), c.cut.From, c.cut.ArchiveEnd().Length == 0
	}
	return t
}

// recordCheck checks the records of the archive against the map of payloads, and notes whose they are.
type recordCheck struct{ *checker }

// readRecords reads the records of one file for the tally. The Verifier reports the damage.
func (c *recordCheck) readRecords(t *tally, info warc.FileInfo, size int64, r io.Reader) error {
	name := layout.ArchiveDir + "/" + info.Name
	z := warc.NewReader(r, warc.ReaderOptions{Name: name})
	defer z.Close()
	whole := int64(0)
	err := warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		if err := rec.ReadStart(warc.StartMost); err != nil {
			return err
		}
		if err := c.record(t, name, warc.Checkpoint{Serial: info.Serial, Length: rec.Offset}, rec); err != nil {
			return err
		}
		if err := rec.Skip(); err != nil {
			return err
		}
		whole = rec.Offset + rec.Length
		if info.Serial == t.cut.Serial && whole == t.cut.Length {
			t.reached = true
		}
		return nil
	}, func(f *warc.Fault) error {
		if !info.Open || !errors.Is(f, member.ErrTruncated) {
			t.damaged.Store(true)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if info.Open && whole < size {
		c.note(areaArchive, name,
			"its last record, at %d, is torn; it was not acknowledged, and is cut off when the crawl resumes", whole)
	}
	return nil
}

// record adds one record to the tally. It reads the rest of its block.
func (c *recordCheck) record(t *tally, file string, at warc.Checkpoint, rec *warc.RecordRead) error {
	if rec.Type != warc.Response && rec.Type != warc.Revisit || rec.IsDNS() {
		return nil
	}
	isBehind := !at.Before(t.cut)
	capture, err := capture.Read(rec) // before anything is noted: the record may be damaged
	if err == nil {
		err = rec.Skip()
	}
	if err != nil {
		return err
	}
	id := [2]uint64{binary.BigEndian.Uint64(rec.ID[:8]), binary.BigEndian.Uint64(rec.ID[8:])}
	if err := c.places.ids.Add(extsort.Entry{Hi: id[0], Lo: id[1], Tag: placeTag(isRecord, at)}); err != nil {
		return err
	}
	if err := c.unchanged(t, rec, at); err != nil {
		return err
	}
	if isBehind {
		t.capturesBehind++
		if rec.Type == warc.Response {
			t.behindIDs[rec.ID] = true
			return nil
		}
		return t.behindRevisits(file, rec)
	}
	if otherarchives.IsElsewhere(rec) {
		t.elsewhere++
		c.checkOriginal(file, rec)
	} else if err := c.firstOf(t, file, rec, &capture, at.Before(t.from)); err != nil {
		return err
	}
	if at.Before(t.from) {
		return nil // of an earlier pass: the counters have forgotten it, and its URL may wait
	}
	t.count(rec, &capture)
	return c.place(rec, &capture, at)
}

// checkOriginal looks for the payload of a revisit in the other archives, if they are named.
func (c *recordCheck) checkOriginal(file string, rec *warc.RecordRead) {
	if len(c.o.With) == 0 {
		return
	}
	original, err := c.originals.Open(rec)
	if err == nil {
		err = original.Close()
	}
	if errors.Is(err, vfs.ErrElsewhere) {
		c.note(areaArchive, file, "at %d: %v", rec.Offset, err)
		return
	}
	if err != nil {
		c.fault(areaArchive, file, "at %d: %v", rec.Offset, err)
	}
}

// unchanged notes what a revisit of this pass refers to, if the server said that the page is as it was: the response is
// in this archive. The first pass sends no conditions, so it may be in the archive of an earlier crawl.
func (c *recordCheck) unchanged(t *tally, rec *warc.RecordRead, at warc.Checkpoint) error {
	to := refersTo(rec)
	if !notModified(rec) || !c.hasCut || c.cut.Pass == 0 || at.Before(t.from) || to.IsZero() {
		return nil
	}
	e := extsort.Entry{
		Hi:  binary.BigEndian.Uint64(to[:8]),
		Lo:  binary.BigEndian.Uint64(to[8:]),
		Tag: placeTag(isReference, at),
	}
	return c.places.ids.Add(e)
}

func notModified(rec *warc.RecordRead) bool {
	return rec.Type == warc.Revisit && rec.Get("WARC-Profile") == warc.ProfileNotModified
}

func (t *tally) count(rec *warc.RecordRead, c *capture.Capture) {
	status := c.Status
	if status < 100 || status > 599 {
		status = 0
	}
	t.statuses[status]++
	switch page := c.Outcome.IsPage(status); {
	case rec.Type == warc.Revisit && page:
		t.revisits++
	case notModified(rec):
		t.unchanged++
	case rec.Type == warc.Revisit:
	case page && c.Robots:
		t.robots++
	case page:
		t.pages++
	case c.Robots && status >= 300 && status < 400:
		t.robotsMoved++
	}
}

// place notes whose record it is.
func (c *recordCheck) place(rec *warc.RecordRead, capture *capture.Capture, at warc.Checkpoint) error {
	fp := urlx.Fingerprint(c.cut.HashSeed, rec.TargetURI)
	if capture.Outcome == outcome.Redirect && (capture.Robots || c.hops[fp]) {
		to, err := urlx.Resolve(nil, rec.TargetURI, capture.Page.Head().Location())
		if _, path := urlx.Split(to); err == nil && string(path) != robotsPath {
			hop := urlx.Fingerprint(c.cut.HashSeed, to)
			c.hops[hop] = true
			if err := c.places.add(hop, isHop, at); err != nil {
				return err
			}
		}
	}
	if capture.Outcome == outcome.Transient || capture.Outcome == outcome.Unasked {
		c.places.loose++
	}
	switch {
	case capture.Robots:
		c.places.robots++
		return nil
	case !hasAnswer(capture.Outcome), capture.Again(&c.policy):
		return c.places.add(fp, asked, at)
	default:
		return c.places.add(fp, stored, at)
	}
}

const robotsPath = "/robots.txt"

// hasAnswer says whether an outcome is that of an answer which is as good as it gets.
func hasAnswer(o outcome.Outcome) bool { return o.Class() == outcome.ClassAnswer }

// behindRevisits remembers a revisit of something that was stored after the checkpoint.
func (t *tally) behindRevisits(file string, rec *warc.RecordRead) error {
	payloads, ok := t.dedup.get()
	if !ok || notModified(rec) || otherarchives.IsElsewhere(rec) {
		return nil
	}
	to := refersTo(rec)
	if rec.PayloadDigest != nil {
		first, ok, err := payloads.Lookup(dedup.Digest(*rec.PayloadDigest))
		if err != nil && !errors.Is(err, vfs.ErrCorrupt) {
			return err
		}
		if ok && warc.ID(first.RecordID) == to {
			return nil
		}
	}
	t.behindRevisit = append(t.behindRevisit, reference{file, rec.Offset, to})
	return nil
}

func refersTo(rec *warc.RecordRead) warc.ID {
	id, err := warc.ParseID(rec.Get("WARC-Refers-To"))
	if err != nil {
		return warc.ID{}
	}
	return id
}

// firstOf holds a record against the map of payloads: what the map names must be there, and a revisit must name what
// the map names, so that it resolves. old says that it is of an earlier pass, whose counters are forgotten.
func (c *recordCheck) firstOf(t *tally, file string, rec *warc.RecordRead, capture *capture.Capture, old bool) error {
	payloads, ok := t.dedup.get()
	if !ok {
		return nil
	}
	if notModified(rec) {
		if refersTo(rec).IsZero() {
			c.fault(areaArchive, file, "at %d: the revisit of %.200q does not say which record is unchanged",
				rec.Offset, rec.TargetURI)
		}
		return nil // it may be a record that is not the first with its payload, or that of an earlier crawl
	}
	if rec.PayloadDigest == nil {
		if rec.Type == warc.Revisit {
			c.fault(areaArchive, file, "at %d: the revisit of %.200q has no payload digest", rec.Offset, rec.TargetURI)
		}
		return nil
	}
	first, ok, err := payloads.Lookup(dedup.Digest(*rec.PayloadDigest))
	if errors.Is(err, vfs.ErrCorrupt) {
		return nil // seen's own Check has told it
	}
	if err != nil {
		return err
	}
	switch {
	case rec.Type == warc.Response && !ok:
		if !capture.Robots && !capture.Again(&c.policy) && !old {
			t.unclaimed++
		}
	case rec.Type == warc.Revisit:
		if to := refersTo(rec); !ok || to != warc.ID(first.RecordID) || to == rec.ID {
			c.fault(areaArchive, file,
				"at %d: the revisit of %.200q names %s, which is not the first record with its payload", rec.Offset,
				rec.TargetURI, to)
		}
	case ok && warc.ID(first.RecordID) == rec.ID:
		t.matched++
		if first.URI != string(rec.TargetURI) || first.Date.Sub(rec.Date).Abs() >= time.Millisecond {
			c.fault("seen", layout.SeenDir,
				"it says of record %s that it is of %.200q at %s, and the record says %.200q at %s", rec.ID,
				first.URI, first.Date.Format(time.RFC3339Nano), rec.TargetURI, rec.Date.Format(time.RFC3339Nano))
		}
	}
	return nil
}
