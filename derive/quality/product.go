package quality

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"

	"orbweaver/derive"
	"orbweaver/derive/graph"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// Product finds visits and links in WARC files. It implements derive.Product. After the Run, Crawl has what was found.
type Product struct {
	fsys  vfs.FS
	dir   string
	seed  uint64
	crawl *Crawl
}

// New returns a Product for a Run whose directory for outputs is dir.
func New(fsys vfs.FS, dir string) *Product {
	return &Product{fsys: fsys, dir: dir, seed: rand.Uint64()}
}

// Crawl is what the Run has found; nil if it did not end. The caller closes it.
func (p *Product) Crawl() *Crawl { return p.crawl }

// Name implements derive.Product.
func (*Product) Name() string { return "quality" }

// Settings implements derive.Product.
func (*Product) Settings() string { return "1" }

// Needs implements derive.Product: whole pages are read.
func (*Product) Needs() derive.Needs { return derive.Needs{Bodies: true} }

// Open implements derive.Product.
func (p *Product) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	out, err := outputs.Create(path.Join("quality", source.Stem+".visits"))
	return &writer{out: out, seed: p.seed}, err
}

// Finish implements derive.Product.
func (p *Product) Finish(_ context.Context, files []derive.Finished, outputs *derive.Outputs) error {
	outputs.Step("pages")
	var names []string
	for _, f := range files {
		for _, name := range f.Outputs {
			names = append(names, path.Join(p.dir, name))
		}
	}
	var err error
	p.crawl, err = open(p.fsys, names)
	return err
}

// writer writes the captures of one WARC file: visit, then 8 bytes for each link.
type writer struct {
	out     io.Writer
	seed    uint64
	links   graph.Links
	targets []byte
}

// visit is a capture.
type visit struct {
	page, site uint64 // fingerprints
	date       int64  // in nanoseconds since 1970
	links      uint32
	isDocument bool
}

// visitBytes is the length of a visit on disk.
const visitBytes = 29

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	url, ok := w.links.Page(rec)
	if !ok {
		return nil
	}
	site, _ := urlx.Split(url)
	v := visit{page: w.fingerprint(url), site: w.fingerprint(site), date: rec.Date.UnixNano()}
	w.targets = w.targets[:0]
	w.links.Each(rec, func(target []byte, kind parse.Kind) {
		link := w.fingerprint(target)
		if kind.IsRequisite() {
			link |= 1
		}
		w.targets = binary.LittleEndian.AppendUint64(w.targets, link)
		v.links++
	})
	v.isDocument = rec.Entry.Status >= 300
	if !v.isDocument {
		format := rec.Page().Format
		v.isDocument = format == parse.HTML || format == parse.XML
	}
	_, err := w.out.Write(append(v.encode(), w.targets...))
	return err
}

// fingerprint is that of a URL or site. Its lowest bit is 0: a link to a requisite sets it.
func (w *writer) fingerprint(url []byte) uint64 { return urlx.Fingerprint(w.seed, url).Hi &^ 1 }

// Close implements derive.FileWriter.
func (*writer) Close() error { return nil }

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}

func (v *visit) encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, visitBytes), v.page)
	b = binary.LittleEndian.AppendUint64(b, v.site)
	b = binary.LittleEndian.AppendUint64(b, uint64(v.date))
	b = binary.LittleEndian.AppendUint32(b, v.links)
	if v.isDocument {
		return append(b, 1)
	}
	return append(b, 0)
}

// eachVisit calls f with each capture of a part. links reads the fingerprints of its targets, as many as f likes.
func eachVisit(fsys vfs.FS, name string, f func(v visit, links io.Reader) error) (err error) {
	file, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := fsys.Size(name)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<20)
	var b [visitBytes]byte
	for {
		if _, err := io.ReadFull(in, b[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v := visit{
			page: binary.LittleEndian.Uint64(b[:]), site: binary.LittleEndian.Uint64(b[8:]),
			date:  int64(binary.LittleEndian.Uint64(b[16:])),
			links: binary.LittleEndian.Uint32(b[24:]), isDocument: b[28] != 0,
		}
		links := &io.LimitedReader{R: in, N: 8 * int64(v.links)}
		if err := f(v, links); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, links); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}
