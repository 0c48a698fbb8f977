package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/catalogue"
	"orbweaver/engine/fetch"
	"orbweaver/engine/urlx"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// holdings are the answers that the archive holds from before this pass, for those who ask whether they still hold. All of its methods
// are safe for concurrent use: there are a few readers, and who finds none free waits for one.
type holdings struct {
	list    *catalogue.Catalogue
	seed    uint64 // of fingerprints
	readers chan *holdingReader
	say     func(msg string, args ...any)

	mu   sync.Mutex
	lost murmur // guarded by mu: of what cannot be read
}

// holdingReader reads records for one at a time.
type holdingReader struct {
	archive  *warc.Archive
	restorer fetch.Restorer
	places   []catalogue.Place
	block    []byte
}

// headMax is how much of a stored block is looked at for a head, in bytes: a longer one is fetched whole again.
const headMax = 64 << 10

// CatalogueFile names the list of what the archive holds from before a pass, relative to the crawl directory.
func CatalogueFile(pass int) string {
	return fmt.Sprintf("%s/%s%08d", FrontierDir, catalogueStem, pass)
}

const catalogueStem = "catalogue-"

// listArchive makes the catalogue of a pass, from the indexes of the archive: where one is missing or cannot be read, from the file.
func (e *Engine) listArchive(m *manifest) (cut catalogue.Cut, err error) {
	s, err := extsort.New(e.seams.FS, extsort.Options{File: e.frontierDir() + "/" + catalogueStem + "sort"})
	if err != nil {
		return cut, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l := lister{fs: e.seams.FS, dir: e.cfg.Dir + "/" + ArchiveDir, seed: m.HashSeed, end: m.From, out: s, say: e.seams.Log.Warn}
	if err := l.all(); err != nil {
		return cut, fmt.Errorf("engine: list of the archive: %w", err)
	}
	return catalogue.Write(e.seams.FS, e.cfg.Dir+"/"+CatalogueFile(m.Pass), s)
}

// lister reads where the good answers of the archive lie.
type lister struct {
	fs   vfs.FS
	dir  string // of the archive
	seed uint64
	end  warc.Cut
	out  *extsort.Sorter
	say  func(msg string, args ...any)
}

func (l *lister) all() error {
	files, err := warc.Files(l.fs, l.dir)
	if err != nil {
		return err
	}
	for _, info := range files {
		if !(warc.Cut{Serial: info.Serial}).Before(l.end) {
			break
		}
		known := false
		if !info.Open {
			if known, err = l.index(info); err != nil {
				return err
			}
		}
		if !known {
			if err := l.file(info); err != nil {
				return err
			}
		}
	}
	return nil
}

// index reads the CDXJ of a file. False means that it is not there, or is none; what it gave so far is as true as what the file gives,
// and the catalogue does not mind to be told twice.
func (l *lister) index(info warc.FileInfo) (known bool, err error) {
	f, err := l.fs.Open(l.dir + "/" + info.Index())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF && len(line) == 0 { //nolint:errorlint // bufio's own word
			return true, nil
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) { //nolint:errorlint // as above
			return false, err
		}
		entry, broken := warc.ParseIndexLine(line)
		if err != nil || broken != nil {
			l.say("an index of the archive is damaged: its file is read instead", "index", info.Index())
			return false, nil
		}
		if err := l.add(entry.URL, entry.Status, catalogue.Place{Serial: info.Serial, Offset: entry.Offset, Revisit: entry.Revisit}); err != nil {
			return false, err
		}
	}
}

// file reads the records themselves. What is damaged is passed over: its pages are fetched whole.
func (l *lister) file(info warc.FileInfo) (err error) {
	f, err := l.fs.Open(l.dir + "/" + info.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	z := warc.NewReader(io.NewSectionReader(f, 0, size), warc.ReaderOptions{Name: info.Name})
	defer z.Close()
	for {
		rec, err := z.Next()
		if err == io.EOF { //nolint:errorlint // Next's own word
			return nil
		}
		var damage *warc.Fault
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if rec.Type != warc.Response && rec.Type != warc.Revisit || !rec.IsHTTP() {
			continue
		}
		head, _, err := rec.HTTP(false)
		if err != nil {
			continue // a record without a head, or damage: the next call of Next tells
		}
		at := catalogue.Place{Serial: info.Serial, Offset: rec.Offset, Revisit: rec.Type == warc.Revisit}
		if err := l.add(rec.TargetURI, head.Status, at); err != nil {
			return err
		}
	}
}

// statusGood is the one that a 304 is about.
const statusGood = 200

func (l *lister) add(url []byte, status int, at catalogue.Place) error {
	if status != statusGood || !(warc.Cut{Serial: at.Serial, Length: at.Offset}).Before(l.end) {
		return nil
	}
	if e, ok := catalogue.Entry(urlx.Fingerprint(l.seed, url), at); ok {
		return l.out.Add(e)
	}
	return nil
}

// openHoldings opens the catalogue that the manifest names, or makes it again, and what reads the archive by it; none in a first pass.
func (e *Engine) openHoldings(m *manifest) error {
	if m.Earlier == nil {
		return nil
	}
	name := e.cfg.Dir + "/" + CatalogueFile(m.Pass)
	list, err := catalogue.Open(e.seams.FS, name, *m.Earlier)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, catalogue.ErrCorrupt) {
		e.seams.Log.Warn("the list of what the archive holds is made again", "error", err)
		var cut catalogue.Cut
		if cut, err = e.listArchive(m); err != nil {
			return err
		}
		m.Earlier = &cut
		list, err = catalogue.Open(e.seams.FS, name, cut)
	}
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	n := 2 * e.cfg.Parsers
	e.held = &holdings{list: list, seed: m.HashSeed, readers: make(chan *holdingReader, n), say: e.seams.Log.Warn}
	for range n {
		e.held.readers <- &holdingReader{
			archive: warc.OpenArchive(e.seams.FS, e.cfg.Dir+"/"+ArchiveDir), block: make([]byte, catalogue.BlockBytes),
		}
	}
	return nil
}

// dropCatalogues removes those of other passes, and what a kill left of making one.
func (e *Engine) dropCatalogues(m *manifest) error {
	names, err := e.seams.FS.List(e.frontierDir())
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	for _, name := range names {
		if name = FrontierDir + "/" + name; strings.HasPrefix(name, FrontierDir+"/"+catalogueStem) && (m.Earlier == nil || name != CatalogueFile(m.Pass)) {
			if err := vfs.RemoveIfExists(e.seams.FS, e.cfg.Dir+"/"+name); err != nil {
				return fmt.Errorf("engine: %w", err)
			}
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

// ask fills in what can be asked about a URL by its last good answer from before this pass. False: nothing can, since there is none that
// is whole, can be read, and says by what to know it again.
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
	head, _, ok := rec.HTTPMessage()
	if !ok || head.Status != statusGood || rec.Get("WARC-Truncated") != "" || !q.put(&head, rec.Date) {
		return false, nil
	}
	if !at.Revisit {
		q.before = earlierOf(rec, at)
		return true, nil
	}
	q.before, err = h.follow(r, rec)
	return !q.before.none(), err
}

// tell says now and then what could not be read: the crawl goes on, and fetches the page whole.
func (h *holdings) tell(url []byte, err error) {
	h.mu.Lock()
	n, ok := h.lost.may(time.Now())
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
func (h *holdings) follow(r *holdingReader, revisit *warc.RecordRead) (before earlier, err error) {
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
			return earlierOf(rec, at), nil
		}
	}
	return before, nil
}

// page reads back the response that an earlier stands for, with url to resolve against; nil if it cannot be read.
func (h *holdings) page(before *earlier, url []byte) *fetch.Page {
	r := <-h.readers
	defer func() { h.readers <- r }()
	rec, err := r.read(before.at, []byte(before.URI), storedBlockMax)
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
