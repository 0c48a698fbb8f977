package quality

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"syscall"

	"orbweaver/derive"
	"orbweaver/derive/graph"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Product finds visits and links in WARC files. It implements derive.Product. After the Run, Crawl has what was found.
type Product struct {
	fsys  vfs.FS
	dir   string
	seed  uint64
	seeds []uint64 // fingerprints
	crawl *Crawl
}

// New returns a Product for a Run whose directory for outputs is dir.
func New(fsys vfs.FS, dir string) *Product {
	return &Product{fsys: fsys, dir: dir, seed: rand.Uint64()}
}

// AddSeeds adds the seeds of a crawl directory, before the Run. Other names have none.
func (p *Product) AddSeeds(dir string) error {
	for _, list := range [...]string{layout.SeedsFile, layout.AddedSeeds} {
		if err := p.addSeedsOf(path.Join(dir, list)); err != nil {
			return fmt.Errorf("seeds: %w", err)
		}
	}
	return nil
}

// addSeedsOf adds the seeds of a file, one in normal form a line. What follows the last line end is the rest of an
// append that a kill has ended.
func (p *Product) addSeedsOf(name string) error {
	file, err := p.fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	for lines := bufio.NewReaderSize(file, urlx.LengthMax+2); ; {
		url, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p.seeds = append(p.seeds, fingerprint(p.seed, url[:len(url)-1]))
	}
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
	p.crawl, err = open(p.fsys, names, p.seed, p.seeds)
	return err
}

// writer writes the captures of one WARC file: visit, then 8 bytes for each link, then the source.
type writer struct {
	out             io.Writer
	seed            uint64
	links           graph.Links
	targets, source []byte
}

// visit is a capture. Its source is the payload of a page as links of another page with the same payload need it, and
// the URL of a revisit. See payloadSource.
type visit struct {
	page, site uint64 // fingerprints
	payload    uint64 // of the digest; 0 for none
	date       int64  // in nanoseconds since 1970
	links      uint32
	source     uint32 // bytes
	isDocument bool
	isRevisit  bool // its links are those of the head alone
	isSitemap  bool
	isSeed     bool // this is no capture: a metadata record says that the page is a seed

	at int64 // of its links in the part, in bytes; not on disk
}

// visitBytes is the length of a visit on disk.
const visitBytes = 41

// payloadSource appends the base and the links of a payload, as they are written there.
func payloadSource(dst []byte, res *parse.Result) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(res.Base))), res.Base...)
	for i := range res.Links {
		ref := res.Links[i].Ref
		dst = append(binary.AppendUvarint(append(dst, byte(res.Links[i].Kind)), uint64(len(ref))), ref...)
	}
	return dst
}

// readSource reads what payloadSource has written, and borrows it.
func readSource(b []byte, dst []parse.Link) (base []byte, links []parse.Link) {
	text := func() (text []byte) {
		n, at := binary.Uvarint(b)
		text, b = b[at:at+int(n)], b[at+int(n):]
		return text
	}
	base, links = text(), dst[:0]
	for len(b) > 0 {
		kind := parse.Kind(b[0])
		b = b[1:]
		links = append(links, parse.Link{Kind: kind, Ref: text()})
	}
	return base, links
}

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	if rec.Type == warc.Metadata {
		return w.addSeed(rec)
	}
	url, ok := w.links.Page(rec)
	if cut := rec.Get("WARC-Truncated"); !ok || cut != "" && cut != warc.TruncatedLength.String() {
		return nil // what a limit of length has cut is a page
	}
	site, _ := urlx.Split(url)
	v := visit{page: fingerprint(w.seed, url), site: fingerprint(w.seed, site), date: rec.Date.UnixNano()}
	w.targets, w.source = w.targets[:0], w.source[:0]
	if len(rec.Entry.Digest) > 0 {
		v.payload = fingerprint(w.seed, rec.Entry.Digest)
	}
	w.links.Each(rec, func(target []byte, kind parse.Kind) {
		w.targets = binary.LittleEndian.AppendUint64(w.targets, linkOf(w.seed, target, kind))
		v.links++
	})
	if v.isDocument = rec.Entry.Status >= 300; !v.isDocument {
		format := rec.Page().Format
		v.isDocument, v.isSitemap = format == parse.HTML || format == parse.XML, format == parse.SitemapXML
		switch v.isRevisit = rec.Type == warc.Revisit; {
		case v.isRevisit:
			w.source = append(w.source, url...)
		case v.payload != 0:
			w.source = payloadSource(w.source, rec.Page())
		}
	}
	v.source = uint32(len(w.source))
	_, err := w.out.Write(append(append(v.encode(), w.targets...), w.source...))
	return err
}

// addSeed adds the page of a metadata record that has the field seed, as those of Orbweaver and Heritrix have.
func (w *writer) addSeed(rec *derive.Record) error {
	for line := range bytes.Lines(rec.Block) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && string(name) == "seed" {
			url, err := urlx.Normalize(nil, rec.TargetURI)
			if err != nil {
				return nil //nolint:nilerr // dns:, urn: and so on are no pages
			}
			v := visit{page: fingerprint(w.seed, url), isSeed: true}
			_, err = w.out.Write(v.encode())
			return err
		}
	}
	return nil
}

// fingerprint is that of a URL or site. Its lowest bit is 0: a link to a requisite sets it.
func fingerprint(seed uint64, url []byte) uint64 { return urlx.Fingerprint(seed, url).Hi &^ 1 }

// linkOf is the fingerprint of the target of a link.
func linkOf(seed uint64, target []byte, kind parse.Kind) uint64 {
	link := fingerprint(seed, target)
	if kind.IsRequisite() {
		link |= 1
	}
	return link
}

// Close implements derive.FileWriter.
func (*writer) Close() error { return nil }

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}

func (v *visit) encode() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, visitBytes), v.page)
	b = binary.LittleEndian.AppendUint64(b, v.site)
	b = binary.LittleEndian.AppendUint64(b, v.payload)
	b = binary.LittleEndian.AppendUint64(b, uint64(v.date))
	b = binary.LittleEndian.AppendUint32(b, v.links)
	b = binary.LittleEndian.AppendUint32(b, v.source)
	flags := byte(0)
	if v.isDocument {
		flags |= 1
	}
	if v.isRevisit {
		flags |= 2
	}
	if v.isSitemap {
		flags |= 4
	}
	if v.isSeed {
		flags |= 8
	}
	return append(b, flags)
}

// eachVisit calls f with each capture and seed of a part, which f borrows. links reads the fingerprints of its targets
// and its source, as many as f likes.
func eachVisit(fsys vfs.FS, name string, f func(v *visit, links io.Reader) error) (err error) {
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
	v, links := new(visit), &io.LimitedReader{R: in}
	var b [visitBytes]byte
	for at := int64(visitBytes); ; at += visitBytes {
		if _, err := io.ReadFull(in, b[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*v = visit{
			page: binary.LittleEndian.Uint64(b[:]), site: binary.LittleEndian.Uint64(b[8:]),
			payload: binary.LittleEndian.Uint64(b[16:]), date: int64(binary.LittleEndian.Uint64(b[24:])),
			links: binary.LittleEndian.Uint32(b[32:]), source: binary.LittleEndian.Uint32(b[36:]),
			isDocument: b[40]&1 != 0, isRevisit: b[40]&2 != 0,
			isSitemap: b[40]&4 != 0, isSeed: b[40]&8 != 0, at: at,
		}
		links.N = 8*int64(v.links) + int64(v.source)
		at += links.N
		if err := f(v, links); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, links); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}
