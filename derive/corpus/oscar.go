package corpus

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"orbweaver/derive"
	"orbweaver/internal/jsontext"
	"orbweaver/internal/sha1pair"
	"orbweaver/warc"
	"orbweaver/warc/header"
)

// sentenceMin is the length of a line that is searched for its language, in bytes. Shorter lines say too little.
const sentenceMin = 100

// sentenceScore is the least score of the language of a line.
const sentenceScore = 0.5

// oscar writes the rows of one file as OSCAR 23.01 has them.
type oscar struct {
	file   string // the WET file of the source
	zip    *zstd.Encoder
	sha    *sha1pair.Hasher
	fields []warc.Field
	json   jsontext.Object
}

func newOSCAR(source derive.Source, out io.Writer) (*oscar, error) {
	zip, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	return &oscar{file: derive.ConversionFile(source, "wet"), zip: zip, sha: sha1pair.NewHasher()}, nil
}

// Add implements derive.FileWriter.
func (w *oscar) Add(rec *derive.Record) error {
	page := rec.TextPage()
	if page == nil {
		return nil
	}
	text := bytes.TrimRight(page.Text, "\n")
	o := &w.json
	o.Reset()
	o.Open('{')
	o.Bytes("content", text)
	o.Name("warc_headers")
	o.Open('{')
	sum, _ := w.sha.Sums(page.Text, nil)
	w.fields = derive.AppendConversionFields(w.fields[:0], rec, w.file, sum)
	for _, f := range w.fields {
		if f.Name == header.LengthName {
			f.Value = strconv.Itoa(len(page.Text))
		}
		o.String(strings.ToLower(f.Name), f.Value)
	}
	o.Close('}')
	o.Name("metadata")
	o.Open('{')
	o.Name("identification")
	w.language(rec.Language(), 0)
	for _, name := range []string{"harmful_pp", "tlsh", "quality_warnings", "categories"} {
		o.Null(name)
	}
	o.Name("sentence_identifications")
	o.Open('[')
	for line := range bytes.Lines(text) {
		l := derive.Language{}
		if len(line) >= sentenceMin {
			l = rec.LanguageOf(line)
		}
		w.language(l, sentenceScore)
	}
	o.Close(']')
	o.Close('}')
	o.Close('}')
	o.Text = append(o.Text, '\n')
	_, err := w.zip.Write(o.Text)
	return err
}

// language appends a language, or null if its score is less than least.
func (w *oscar) language(l derive.Language, least float64) {
	o := &w.json
	if l.Code == "" || l.Score < least {
		o.NullValue()
		return
	}
	o.Open('{')
	o.String("label", l.Code)
	o.Name("prob")
	o.Text = strconv.AppendFloat(o.Text, l.Score, 'g', -1, 64)
	o.Close('}')
}

// Close implements derive.FileWriter.
func (w *oscar) Close() error { return w.zip.Close() }

// Abandon implements derive.FileWriter.
func (*oscar) Abandon() {}
