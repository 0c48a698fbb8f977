package columns

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"orbweaver/derive"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// Options of a Table.
type Options struct {
	// LanguageModel is the identity of the model of derive.Options.NewLanguageDetector. Without it, pages are not read.
	LanguageModel string
	// Memory is how many bytes the rows of one file may take before they are written. Default 32 MiB.
	Memory int
}

// Table is the columnar index. It implements derive.Product.
type Table struct{ o Options }

// New returns a Table.
func New(o Options) *Table {
	if o.Memory == 0 {
		o.Memory = 32 << 20
	}
	return &Table{o}
}

// Name implements derive.Product.
func (*Table) Name() string { return "parquet" }

// Settings implements derive.Product.
func (t *Table) Settings() string {
	return fmt.Sprintf("3 memory=%d language=%s", t.o.Memory, t.o.LanguageModel)
}

// Needs implements derive.Product: heads are always read.
func (t *Table) Needs() derive.Needs { return derive.Needs{Bodies: t.detects(), Text: t.detects()} }

// detects reports whether languages are detected.
func (t *Table) detects() bool { return t.o.LanguageModel != "" }

// Open implements derive.Product.
func (t *Table) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	return &writer{
		source: source, outputs: outputs, memory: t.o.Memory, segment: segmentOf(&source),
		detects: t.detects(),
	}, nil
}

// Finish implements derive.Product: an empty file says that the table is complete.
func (*Table) Finish(_ context.Context, _ []derive.Finished, outputs *derive.Outputs) error {
	_, err := outputs.Create("parquet/_SUCCESS")
	return err
}

// The subsets of a crawl, which are partitions.
const (
	fetched = iota
	diagnostics
	robots
	subsets
)

func subsetName(subset int) string {
	return [subsets]string{"warc", "crawldiagnostics", "robotstxt"}[subset]
}

// segmentOf returns the segment of a file: by its path if that is one of Common Crawl's, otherwise the crawl.
func segmentOf(s *derive.Source) string {
	parts := strings.Split(s.Path, "/")
	for i := range parts {
		if parts[i] == "segments" && i+2 < len(parts) {
			return parts[i+1]
		}
	}
	return s.Crawl
}

// writer makes the Parquet files of a WARC file.
type writer struct {
	source  derive.Source
	segment string
	outputs *derive.Outputs
	detects bool
	memory  int
	used    int
	part    int
	rows    [subsets][]capture
	line    []byte
	target  []byte
}

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	if !rec.IsIndexed {
		return nil
	}
	if rec.Offset > math.MaxInt32 || rec.Length > math.MaxInt32 {
		return &warc.Fault{
			Kind: warc.ErrField, File: w.source.File, Offset: rec.Offset,
			What: "the record lies beyond 2 GiB, where the columns of offset and length end: no row",
		}
	}
	c := w.capture(rec)
	subset := diagnostics
	switch {
	case isRobots(c.url):
		subset = robots
	case c.status == 200 || rec.Type == warc.Resource:
		subset = fetched
	}
	c.memory = captureBytes + len(c.key) + len(c.url) + len(c.redirect) + len(c.digest) + len(c.languages)
	w.rows[subset] = append(w.rows[subset], c)
	if w.used += c.memory; w.used >= w.memory {
		return w.flush()
	}
	return nil
}

// capture returns what the row of a record is made of.
func (w *writer) capture(rec *derive.Record) capture {
	e := &rec.Entry
	w.line = e.Append(w.line[:0])
	key, _, _ := bytes.Cut(w.line, []byte(" "))
	digest := e.Digest
	if _, sum, labelled := bytes.Cut(digest, []byte(":")); labelled {
		digest = sum
	}
	c := capture{
		key: validText(key), url: validText(e.URI), digest: validText(digest), mime: validText(cdxj.MediaType(e.MIME)),
		truncated: rec.Get("WARC-Truncated"), time: e.Date.UnixMilli(), status: -1,
		offset: int32(rec.Offset), length: int32(rec.Length),
	}
	if e.Status > 0 && e.Status < 1000 {
		c.status = int16(e.Status)
	}
	if rec.Head != nil && c.status >= 300 && c.status < 400 {
		c.redirect = w.redirect(e.URI, rec.Head.Get("Location"))
	}
	if rec.Type != warc.Revisit {
		c.detected, c.charset = detect(rec)
	}
	c.languages = validText([]byte(w.languagesOf(rec)))
	return c
}

// languagesOf returns the languages of a page.
func (w *writer) languagesOf(rec *derive.Record) string {
	if w.detects {
		return rec.Languages()
	}
	return rec.Get("WARC-Identified-Content-Language")
}

// redirect returns the target of a redirect, resolved if possible.
func (w *writer) redirect(url []byte, location string) string {
	if location == "" {
		return ""
	}
	base, err := urlx.Normalize(w.target[:0], url)
	if err == nil {
		from := len(base)
		if w.target, err = urlx.Resolve(base, base[:from:from], []byte(location)); err == nil {
			return string(w.target[from:])
		}
	}
	return validText([]byte(location))
}

// validText returns b with U+FFFD for each byte that is not UTF-8, as in the CDXJ index.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}

// isRobots reports whether a URL is that of a robots.txt.
func isRobots(url string) bool {
	u := splitURL(url)
	return u.path == "/robots.txt" && u.query == "" && u.host != ""
}

// Close implements derive.FileWriter.
func (w *writer) Close() error { return w.flush() }

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}

// flush writes the rows as one file for each subset, sorted.
func (w *writer) flush() error {
	for subset := range w.rows {
		if len(w.rows[subset]) == 0 {
			continue
		}
		if err := w.write(subset); err != nil {
			return err
		}
		clear(w.rows[subset])
		w.rows[subset] = w.rows[subset][:0]
	}
	w.part++
	w.used = 0
	return nil
}

// Limits of a Parquet file: a row group is in memory while it is written, and a column whose dictionary becomes too
// large continues without one.
const (
	groupRows      = 100_000
	dictionaryMax  = 1 << 20
	rowsAtATime    = 512
	application    = "orbweaver"
	partNameFormat = "parquet/crawl=%s/subset=%s/%s-%03d.gz.parquet"
)

func (w *writer) write(subset int) error {
	name := fmt.Sprintf(partNameFormat, w.source.Crawl, subsetName(subset), w.source.Stem, w.part)
	out, err := w.outputs.Create(name)
	if err != nil {
		return err
	}
	rows := w.rows[subset]
	slices.SortStableFunc(rows, func(a, b capture) int {
		if n := strings.Compare(a.key, b.key); n != 0 {
			return n
		}
		return int(min(max(a.time-b.time, -1), 1))
	})
	p := parquet.NewGenericWriter[Row](out,
		parquet.Compression(&parquet.Gzip), parquet.MaxRowsPerRowGroup(groupRows),
		parquet.DictionaryMaxBytes(dictionaryMax), parquet.CreatedBy(application, "1", ""),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("url_surtkey"))))
	batch := make([]Row, 0, rowsAtATime)
	for i := range rows {
		batch = append(batch, rows[i].row(w.source.File, w.segment))
		if len(batch) == cap(batch) || i == len(rows)-1 {
			if _, err := p.Write(batch); err != nil {
				return fmt.Errorf("columns: writing %s: %w", name, err)
			}
			batch = batch[:0]
		}
	}
	if err := p.Close(); err != nil {
		return fmt.Errorf("columns: writing %s: %w", name, err)
	}
	return nil
}
