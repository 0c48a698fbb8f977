package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/attempt"
	"orbweaver/engine/catalogue"
	"orbweaver/engine/fetch"
	"orbweaver/engine/layout"
	"orbweaver/engine/urlx"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// holdings are the answers that the archive holds from before this pass, for those who ask whether they still hold. All
// of its methods are safe for concurrent use: there are a few readers, and who finds none free waits for one.
type holdings struct {
	list    *catalogue.Index
	seed    uint64 // of fingerprints
	readers chan *holdingReader
	say     func(msg string, args ...any)

	mu   sync.Mutex
	lost throttle.Log // guarded by mu: of what cannot be read
}

// holdingReader reads records for one at a time.
type holdingReader struct {
	archive  *warc.Archive
	restorer fetch.Restorer
	places   []catalogue.Place
	block    []byte
}

// headMax is how much of a stored block is looked at for a head, in bytes: what has a longer one is fetched whole
// again.
const headMax = 16 << 10

// holdingReaders is how many read at a time: about what a disk serves side by side. Each has some 200 KB.
const holdingReaders = 16

// CatalogueFile names the list of what the archive holds from before a pass, relative to the crawl directory.
func CatalogueFile(pass int) string {
	return fmt.Sprintf("%s/%s%08d", layout.FrontierDir, catalogueStem, pass)
}

const catalogueStem = "catalogue-"

// openHoldings opens the catalogue that a manifest names, or makes it again; nil in a first pass.
func openHoldings(fsys vfs.FS, dir string, m *manifest, say func(msg string, args ...any)) (*holdings, error) {
	if m.Earlier == nil {
		return nil, nil //nolint:nilnil // as the comment says
	}
	name := dir + "/" + CatalogueFile(m.Pass)
	list, err := catalogue.Open(fsys, name, *m.Earlier)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, catalogue.ErrCorrupt) {
		say("the list of what the archive holds is made again", "error", err)
		var cut catalogue.Cut
		if cut, err = listArchive(fsys, dir, m, say); err != nil {
			return nil, err
		}
		m.Earlier = &cut
		list, err = catalogue.Open(fsys, name, cut)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	h := &holdings{list: list, seed: m.HashSeed, readers: make(chan *holdingReader, holdingReaders), say: say}
	for range holdingReaders {
		h.readers <- &holdingReader{archive: warc.OpenArchive(fsys, dir+"/"+layout.ArchiveDir), block: make([]byte, catalogue.BlockBytes)}
	}
	return h, nil
}

// dropCatalogues removes those that a manifest does not name, and what a kill left of making one.
func dropCatalogues(fsys vfs.FS, dir string, m *manifest) error {
	names, err := fsys.List(dir + "/" + layout.FrontierDir)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	for _, name := range names {
		name, ours := layout.FrontierDir+"/"+name, strings.HasPrefix(name, catalogueStem)
		if !ours || m.Earlier != nil && name == CatalogueFile(m.Pass) {
			continue
		}
		if err := vfs.RemoveIfExists(fsys, dir+"/"+name); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	return nil
}

// close closes the files. Nobody may use it any more.
func (h *holdings) close() error {
	errs := []error{h.list.Close()}
	for range cap(h.readers) {
		errs = append(errs, (<-h.readers).archive.Close())
	}
	return errors.Join(errs...)
}

// ask fills in what can be asked about a URL by its last good answer from before this pass. False: nothing can, since
// there is none that is whole, can be read, and says by what to know it again.
func (h *holdings) ask(q *question, url []byte) bool {
	r := <-h.readers
	defer func() { h.readers <- r }()
	ok, err := h.look(r, q, url)
	if err != nil {
		h.tell(url, err)
	}
	return ok && err == nil
}

func (h *holdings) look(r *holdingReader, q *question, url []byte) (bool, error) {
	all, err := r.find(h, url)
	if err != nil || len(all) == 0 {
		return false, err
	}
	at := all[len(all)-1]
	rec, err := r.read(at, url, headMax)
	if err != nil || rec == nil {
		return false, err
	}
	cut := !at.Revisit && rec.Get("WARC-Truncated") != "" // a revisit lacks its payload, and is of a whole one
	head, _, ok := rec.HTTPMessage()
	if cut || !ok || head.Status != statusGood || !q.put(&head, rec.Date) {
		return false, nil
	}
	if !at.Revisit {
		q.before = attempt.NewPreviousCapture(rec, at)
		return true, nil
	}
	q.before, err = h.follow(r, rec)
	return !q.before.IsNone(), err
}

// tell says now and then what could not be read: the crawl goes on, and fetches the page whole.
func (h *holdings) tell(url []byte, err error) {
	h.mu.Lock()
	n, ok := h.lost.Allow(time.Now())
	h.mu.Unlock()
	if ok {
		h.say("what the archive holds of a page cannot be read; the page is fetched whole", "url", string(url), "error", err, "times", n)
	}
}

// find gives the places of a URL, in the order of the archive.
func (r *holdingReader) find(h *holdings, url []byte) (all []catalogue.Place, err error) {
	r.places, err = h.list.Lookup(r.places[:0], r.block, urlx.Fingerprint(h.seed, url))
	return r.places, err
}

// read reads the record at a place, nil if it is not one of this URL: then the fingerprint was that of another.
func (r *holdingReader) read(at catalogue.Place, url []byte, limit int64) (*warc.RecordRead, error) {
	rec, err := r.archive.ReadStart(warc.Position{Serial: at.Serial, Offset: at.Offset}, limit)
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

// follow finds the response that a revisit names: the one that has the payload.
func (h *holdings) follow(r *holdingReader, revisit *warc.RecordRead) (before attempt.PreviousCapture, err error) {
	if revisit.Get("WARC-Profile") != warc.ProfileIdentical {
		return before, nil
	}
	to, _ := warc.ParseID(revisit.Get("WARC-Refers-To")) // none is zero
	url := []byte(revisit.Get("WARC-Refers-To-Target-URI"))
	all, err := r.find(h, url)
	if err != nil || to.IsZero() {
		return before, err
	}
	for _, at := range all {
		if at.Revisit {
			continue
		}
		if rec, err := r.read(at, url, 0); err != nil {
			return before, err
		} else if rec != nil && rec.ID == to {
			return attempt.NewPreviousCapture(rec, at), nil
		}
	}
	return before, nil
}

// page reads back the response that an earlier stands for, with url to resolve against; nil if it cannot be read.
func (h *holdings) page(before *attempt.PreviousCapture, url []byte) *fetch.Page {
	r := <-h.readers
	defer func() { h.readers <- r }()
	rec, err := r.read(before.Place, []byte(before.URI), warc.BlockMax)
	if err == nil && rec != nil {
		if p, ok := r.restorer.Stored(url, rec.Block); ok {
			return p
		}
	}
	if err == nil {
		err = errNoRecord
	}
	h.tell(url, err)
	return nil
}
