package extracts

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // the digest of the standard
	"encoding/base32"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"orbweaver/derive"
	"orbweaver/warc"
)

// Options of a Product.
type Options struct {
	// Software is written into the warcinfo record: name/version.
	Software string
	// Now is the time of the extraction.
	Now time.Time
}

// Product makes WET or WAT files. It implements derive.Product.
type Product struct {
	kind string // "wet" or "wat"
	o    Options
}

// WET returns the product of texts.
func WET(o Options) *Product { return &Product{"wet", o} }

// WAT returns the product of metadata.
func WAT(o Options) *Product { return &Product{"wat", o} }

// Name implements derive.Product.
func (p *Product) Name() string { return p.kind }

// Settings implements derive.Product.
func (*Product) Settings() string { return "1" }

// Needs implements derive.Product.
func (p *Product) Needs() derive.Needs { return derive.Needs{Bodies: true, Text: p.kind == "wet"} }

// Open implements derive.Product.
func (p *Product) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	name := source.Stem + ".warc." + p.kind + ".gz"
	out, err := outputs.Create(p.kind + "/" + name)
	if err != nil {
		return nil, err
	}
	w := &writer{source: source, name: name, o: p.o, out: out, zip: gzip.NewWriter(out)}
	if p.kind == "wet" {
		w.add = w.addText
	} else {
		w.add = w.addMetadata
	}
	return w, nil
}

// Finish implements derive.Product: there is nothing to combine.
func (*Product) Finish(context.Context, []derive.Finished, *derive.Outputs) error { return nil }

// writer writes one file.
type writer struct {
	source  derive.Source
	name    string
	o       Options
	add     func(*derive.Record) error
	out     io.Writer
	zip     *gzip.Writer
	isBegun bool
}

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	if err := w.begin(rec); err != nil {
		return err
	}
	return w.add(rec)
}

// Close implements derive.FileWriter.
func (w *writer) Close() error { return w.begin(nil) }

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}

// copiedFields are the fields of the warcinfo record of the source that are kept.
const copiedFields = " robots ispartof operator description publisher "

// begin writes the warcinfo record, if it was not written. first is the first record of the source, or nil.
func (w *writer) begin(first *derive.Record) error {
	if w.isBegun {
		return nil
	}
	w.isBegun = true
	var b strings.Builder
	fmt.Fprintf(&b, "Software-Info: %s\r\nExtracted-Date: %s\r\n", w.o.Software, w.o.Now.UTC().Format(time.RFC1123))
	if first != nil && first.Type == warc.Warcinfo {
		for line := range strings.Lines(string(first.Block)) {
			name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
			if ok && strings.Contains(copiedFields, " "+strings.ToLower(name)+" ") {
				fmt.Fprintf(&b, "%s: %s\r\n", name, strings.TrimSpace(value))
			}
		}
	}
	return w.record([]byte(b.String()), []warc.Field{
		{Name: "WARC-Type", Value: "warcinfo"}, {Name: "WARC-Date", Value: w.o.Now.UTC().Format(time.RFC3339)},
		{Name: "WARC-Filename", Value: w.name}, {Name: "WARC-Record-ID", Value: w.identity(nil)},
		{Name: "Content-Type", Value: "application/warc-fields"},
	})
}

// identity returns the identity of what is derived from a record: a UUID of version 5 in form.
func (w *writer) identity(of *derive.Record) string {
	text := w.name
	if of != nil {
		text += fmt.Sprintf(" %s %d %d", of.Get("WARC-Record-ID"), of.Offset, of.Inner)
	}
	sum := sha1.Sum([]byte(text)) //nolint:gosec // no secret
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// clean makes one line of the value of a field.
func clean(value string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, value)
}

// record writes one member. Content-Length follows the fields, and more follow it.
func (w *writer) record(block []byte, fields []warc.Field, more ...warc.Field) error {
	var head bytes.Buffer
	head.WriteString("WARC/1.0\r\n")
	for _, f := range fields {
		fmt.Fprintf(&head, "%s: %s\r\n", f.Name, clean(f.Value))
	}
	fmt.Fprintf(&head, "Content-Length: %d\r\n", len(block))
	for _, f := range more {
		fmt.Fprintf(&head, "%s: %s\r\n", f.Name, clean(f.Value))
	}
	head.WriteString("\r\n")
	w.zip.Reset(w.out)
	for _, b := range [][]byte{head.Bytes(), block, []byte("\r\n\r\n")} {
		if _, err := w.zip.Write(b); err != nil {
			return err
		}
	}
	return w.zip.Close()
}

// digest returns the value of WARC-Block-Digest.
func digest(block []byte) string {
	sum := sha1.Sum(block) //nolint:gosec // the digest of the standard
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// date returns WARC-Date of a record in whole seconds, as the readers of WARC/1.0 expect.
func date(rec *derive.Record) string {
	if rec.Date.IsZero() {
		return rec.Get("WARC-Date")
	}
	return rec.Date.UTC().Format(time.RFC3339)
}
