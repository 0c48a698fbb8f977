package recrawl

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/throttle"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/block"
)

// Captures are the captures of earlier passes: the index and the archive. Pass.Open makes it.
type Captures struct {
	index    *capture.Index
	hashSeed uint64
	readers  chan *captureReader // the free ones
	warn     func(msg string, args ...any)

	mu         sync.Mutex
	unreadable throttle.Log // guarded by mu
}

// captureReader reads records for one goroutine at a time.
type captureReader struct {
	archive  *warc.Archive
	dir      string // of the archive
	objects  *objectReader
	restorer *fetch.Restorer
	places   []capture.Place
	block    []byte
}

const (
	// headMost is how much of a stored block is read for its head, in bytes. A page with a longer head is requested
	// unconditionally.
	headMost = 16 << 10
	// readersMost is how many readers there are: about what a disk serves in parallel. Each has some 200 KB.
	readersMost = 16
)

// statusOK is the only status that a 304 refers to.
const statusOK = 200

// errNoCapture means that the archive does not hold the record at its place.
var errNoCapture = errors.New("recrawl: the record is not at its place in the archive")

func newCaptures(p *Pass, index *capture.Index) *Captures {
	c := &Captures{index: index, hashSeed: p.HashSeed, readers: make(chan *captureReader, readersMost), warn: p.Warn}
	dir := p.Dir + "/" + layout.ArchiveDir
	removed := &removedFiles{bySerial: map[uint32]*removedFile{}}
	for range readersMost {
		c.readers <- &captureReader{
			archive: warc.OpenArchive(p.FS, dir), dir: dir, objects: newObjectReader(p.FS, removed),
			restorer: fetch.NewRestorer(), block: make([]byte, capture.IndexBlockBytes),
		}
	}
	return c
}

// Close closes the files. No other method may run or be called later.
func (c *Captures) Close() error {
	errs := []error{c.index.Close()}
	for range cap(c.readers) {
		r := <-c.readers
		errs = append(errs, r.archive.Close(), r.objects.Close())
	}
	return errors.Join(errs...)
}

// HasCaptures reports true.
func (c *Captures) HasCaptures() bool { return true }

// free gives a reader back.
func (c *Captures) free(r *captureReader) {
	r.objects.release()
	c.readers <- r
}

// FillCondition uses the last capture of url.
func (c *Captures) FillCondition(condition *Condition, url []byte) bool {
	r := <-c.readers
	defer c.free(r)
	ok, err := c.lastCapture(r, condition, url)
	if err != nil {
		c.warnUnreadable(url, err)
	}
	return ok && err == nil
}

func (c *Captures) lastCapture(r *captureReader, condition *Condition, url []byte) (bool, error) {
	places, err := r.lookup(c, url)
	if err != nil || len(places) == 0 {
		return false, err
	}
	last := places[len(places)-1]
	var rec *warc.RecordRead
	var head block.Head
	ok := false
	for _, most := range []int64{warc.HeadMost, headMost} {
		if rec, err = r.readRecord(last, url, most); err != nil || rec == nil {
			return false, err
		}
		if head, _, ok = rec.HTTPMessage(); ok || int64(len(rec.Block)) == rec.ContentLength {
			break
		}
	}
	// A revisit record has no payload, and refers to a complete one.
	isTruncated := !last.Revisit && rec.Get("WARC-Truncated") != ""
	if isTruncated || !ok || head.Status != statusOK || !condition.setValidators(&head, rec.Date) {
		return false, nil
	}
	if !last.Revisit {
		condition.Previous = attempt.NewPreviousCapture(rec, last)
		return true, nil
	}
	condition.Previous, err = c.firstRecord(r, rec)
	return !condition.Previous.IsNone(), err
}

// warnUnreadable logs a fault, at most one per throttle.Every.
func (c *Captures) warnUnreadable(url []byte, err error) {
	c.mu.Lock()
	n, ok := c.unreadable.Allow(time.Now())
	c.mu.Unlock()
	if ok {
		c.warn("an earlier capture cannot be read; the page is requested unconditionally",
			"url", string(url), "error", err, "times", n)
	}
}

// lookup returns the places of a URL, in the order of the archive. They are valid until the next call.
func (r *captureReader) lookup(c *Captures, url []byte) (places []capture.Place, err error) {
	r.places, err = c.index.Lookup(r.places[:0], r.block, urlx.Fingerprint(c.hashSeed, url))
	return r.places, err
}

// readRecord reads the record at a place. It returns nil if the record belongs to another URL with the same
// fingerprint.
func (r *captureReader) readRecord(at capture.Place, url []byte, blockMost int64) (*warc.RecordRead, error) {
	rec, err := r.readStart(at, blockMost)
	if err != nil {
		return nil, err
	}
	kind := warc.Response
	if at.Revisit {
		kind = warc.Revisit
	}
	if rec.Type != kind || !bytes.Equal(rec.TargetURI, url) {
		return nil, nil //nolint:nilnil // as the comment says
	}
	return rec, nil
}

// readStart reads from the file, or from its object if it was removed here.
func (r *captureReader) readStart(at capture.Place, blockMost int64) (*warc.RecordRead, error) {
	f, isRemoved := r.objects.files.find(at.Serial)
	if !isRemoved {
		rec, err := r.archive.ReadStart(warc.Position{Serial: at.Serial, Offset: at.Offset}, blockMost)
		if err == nil {
			return rec, nil
		}
		away := new(receipts.ElsewhereError)
		if !errors.As(err, &away) {
			return nil, err
		}
		f = r.objects.files.add(at.Serial, r.dir, away)
	}
	return r.objects.readStart(f, at.Offset, blockMost)
}

// firstRecord finds the response record with the payload of a revisit record; none if there is none.
func (c *Captures) firstRecord(r *captureReader, revisit *warc.RecordRead) (first attempt.PreviousCapture, err error) {
	if revisit.Get("WARC-Profile") != warc.ProfileIdentical {
		return first, nil
	}
	id, _ := warc.ParseID(revisit.Get("WARC-Refers-To")) // zero if absent
	url := []byte(revisit.Get("WARC-Refers-To-Target-URI"))
	places, err := r.lookup(c, url)
	if err != nil || id.IsZero() {
		return first, err
	}
	for _, at := range places {
		if at.Revisit {
			continue
		}
		if rec, err := r.readRecord(at, url, 0); err != nil {
			return first, err
		} else if rec != nil && rec.ID == id {
			return attempt.NewPreviousCapture(rec, at), nil
		}
	}
	return first, nil
}

// ReadPage reads the record from the archive.
func (c *Captures) ReadPage(previous *attempt.PreviousCapture, url []byte) *fetch.Page {
	r := <-c.readers
	defer c.free(r)
	rec, err := r.readRecord(previous.Place, []byte(previous.URI), warc.StartMost)
	if err == nil && rec != nil {
		var p *fetch.Page
		var ok bool
		if p, ok, err = r.restorer.Restore(url, rec.Content(), rec.ContentLength); ok {
			return p
		}
	}
	if err == nil {
		err = errNoCapture
	}
	c.warnUnreadable(url, err)
	return nil
}
