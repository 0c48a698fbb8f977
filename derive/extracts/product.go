package extracts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orbweaver/derive"
	"orbweaver/internal/jsontext"
	"orbweaver/internal/sha1pair"
	"orbweaver/warc"
)

// Options of a Product.
type Options struct {
	// Software is written into the warcinfo record: name/version.
	Software string
	// Now is the time of the extraction.
	Now time.Time
	// LanguageModel is the identity of the model of derive.Options.NewLanguageDetector; "" if there is none.
	LanguageModel string
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
func (p *Product) Settings() string {
	switch {
	case p.kind == "wat":
		return "4"
	case p.o.LanguageModel == "":
		return "3"
	}
	return "3 language=" + p.o.LanguageModel
}

// Needs implements derive.Product.
func (p *Product) Needs() derive.Needs {
	return derive.Needs{Bodies: true, Text: p.kind == "wet", Details: p.kind == "wat"}
}

// Open implements derive.Product.
func (p *Product) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	name := derive.ConversionFile(source, p.kind)
	out, err := outputs.Create(p.kind + "/" + name)
	if err != nil {
		return nil, err
	}
	records, err := newFile(out)
	if err != nil {
		return nil, err
	}
	w := &writer{source: source, name: name, o: p.o, records: records, sha: sha1pair.NewHasher()}
	w.now = p.o.Now.UTC().Format(time.RFC3339)
	if p.kind == "wet" {
		w.add = w.addText
	} else {
		w.add = w.addMetadata
		w.page.rules = elementRules()
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
	records *file
	isBegun bool
	sha     *sha1pair.Hasher
	json    jsontext.Object
	now     string // Options.Now

	repeated repeated
	page     pageWriter

	fields []warc.Field
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
	return w.records.write([]warc.Field{
		{Name: "WARC-Type", Value: "warcinfo"}, {Name: "WARC-Date", Value: w.now},
		{Name: "WARC-Filename", Value: w.name}, {Name: "WARC-Record-ID", Value: derive.ConversionID(w.name, nil)},
		{Name: "Content-Type", Value: "application/warc-fields"}, {Name: "Content-Length"},
	}, []byte(b.String()))
}
