package minhash

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"orbweaver/derive"
	"orbweaver/internal/vfs"
	"orbweaver/warc/deflate"
)

// Row is a page with its signature.
type Row struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Date     string `json:"date"`
	FilePath string `json:"file_path"`
	Words    int    `json:"words"`
	// SimHash in 16 hexadecimal digits.
	SimHash string `json:"simhash"`
	// Buckets in 16 hexadecimal digits each; none for a text that is too short.
	Buckets []string `json:"buckets"`
}

// Options of a Product.
type Options struct {
	// Dir is the directory of the outputs.
	Dir string
	// Memory of the sort of buckets. Default 64 MiB, at least 64 KiB.
	Memory int
}

// Product makes signatures and clusters. It implements derive.Product.
type Product struct {
	fsys vfs.FS
	o    Options
}

// New returns a Product whose temporary files are in fsys.
func New(fsys vfs.FS, o Options) *Product {
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	return &Product{fsys, o}
}

// Name implements derive.Product.
func (*Product) Name() string { return "minhash" }

// Settings implements derive.Product: memory changes no output.
func (*Product) Settings() string { return "2" }

// Needs implements derive.Product.
func (*Product) Needs() derive.Needs { return derive.Needs{Bodies: true, Text: true} }

// Open implements derive.Product.
func (*Product) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	out, err := outputs.Create(path.Join("minhash", "signatures", source.Stem+".jsonl.gz"))
	if err != nil {
		return nil, err
	}
	z := deflate.NewGzipWriter(out)
	return &writer{source: source, zip: z, json: newEncoder(z), signer: NewSigner()}, nil
}

// newEncoder returns an encoder that leaves URLs as they are.
func newEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

// writer writes the signatures of one file.
type writer struct {
	source derive.Source
	zip    *deflate.GzipWriter
	json   *json.Encoder
	signer *Signer
}

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	page := rec.TextPage()
	if page == nil {
		return nil
	}
	date := rec.Get("WARC-Date")
	if !rec.Date.IsZero() {
		date = rec.Date.UTC().Format(time.RFC3339)
	}
	s := w.signer.Sign(page.Text)
	row := Row{
		ID: rec.Get("WARC-Record-ID"), URL: strings.ToValidUTF8(string(rec.TargetURI), "\uFFFD"), Date: date,
		FilePath: w.source.File, Words: s.Words, SimHash: fmt.Sprintf("%016x", s.SimHash), Buckets: []string{},
	}
	if s.IsBucketed() {
		for _, b := range s.Buckets {
			row.Buckets = append(row.Buckets, fmt.Sprintf("%016x", b))
		}
	}
	return w.json.Encode(&row)
}

// Close implements derive.FileWriter.
func (w *writer) Close() error { return w.zip.Close() }

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}

// Finish implements derive.Product.
func (p *Product) Finish(ctx context.Context, files []derive.Finished, outputs *derive.Outputs) error {
	var names []string
	for _, f := range files {
		for _, name := range f.Outputs {
			names = append(names, path.Join(p.o.Dir, name))
		}
	}
	c := clusters{fsys: p.fsys, names: names, step: outputs.Step}
	if err := c.join(ctx, path.Join(p.o.Dir, "minhash", "buckets.tmp"), p.o.Memory); err != nil {
		return err
	}
	out, err := outputs.Create("minhash/clusters.jsonl.gz")
	if err != nil {
		return err
	}
	return c.write(ctx, out)
}
