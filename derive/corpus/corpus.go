package corpus

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"orbweaver/derive"
	"orbweaver/internal/jsontext"
	"orbweaver/warc/deflate"
)

// Row is a page, with the names of FineWeb, LanguageScript as in FineWeb2, title as CCNet has it, and the place of the
// record with the names of Common Crawl's columnar index.
type Row struct {
	Text             string   `json:"text"           parquet:"text"`
	ID               string   `json:"id"             parquet:"id"`
	Dump             string   `json:"dump"           parquet:"dump,dict"`
	URL              string   `json:"url"            parquet:"url"`
	Date             string   `json:"date"           parquet:"date"`
	FilePath         string   `json:"file_path"      parquet:"file_path,dict"`
	Language         string   `json:"language"       parquet:"language,optional,dict"`
	LanguageScore    *float64 `json:"language_score" parquet:"language_score,optional"`
	TokenCount       *int64   `json:"token_count"    parquet:"token_count,optional"`
	Title            string   `json:"title"          parquet:"title,optional"`
	WordCount        int64    `json:"word_count"     parquet:"word_count"`
	LanguageScript   string   `json:"language_script" parquet:"language_script,optional,dict"`
	DeclaredLanguage string   `json:"declared_language" parquet:"declared_language,optional,dict"`
	// Offset and Length of the record in FilePath, in bytes. Length is null if the record shares its gzip member.
	Offset int64  `json:"warc_record_offset" parquet:"warc_record_offset"`
	Length *int64 `json:"warc_record_length" parquet:"warc_record_length,optional"`
}

// Form is the form of the files.
type Form string

const (
	// Lines are JSON lines with the names of FineWeb: NAME.jsonl.gz.
	Lines Form = "jsonl"
	// Parquet has the same columns: NAME.parquet.
	Parquet Form = "parquet"
	// OSCAR are JSON lines as in OSCAR 23.01: NAME.jsonl.zst.
	OSCAR Form = "oscar"
)

// suffix is the end of the names of the files.
func (f Form) suffix() string {
	switch f {
	case Parquet:
		return ".parquet"
	case OSCAR:
		return ".jsonl.zst"
	}
	return ".jsonl.gz"
}

// Options of a Product.
type Options struct {
	// LanguageModel is the identity of the model of derive.Options.NewLanguageDetector. Without it, the language is the
	// declared one.
	LanguageModel string
	// NewTokenCounter returns a counter for one file, and Tokenizer is the identity of its vocabulary. Without them,
	// TokenCount is null.
	NewTokenCounter func() TokenCounter
	Tokenizer       string
	// Form of the files. Default Lines.
	Form Form
	// GroupBytes is the text of a row group of Parquet. Default 32 MiB.
	GroupBytes int
}

// TokenCounter counts the tokens of a text, which it borrows.
type TokenCounter interface {
	Count(text []byte) int64
}

// noTokens counts nothing.
type noTokens struct{}

func (noTokens) Count([]byte) int64 { return 0 }

// Product makes rows. It implements derive.Product.
type Product struct{ o Options }

// New returns a Product.
func New(o Options) *Product {
	if o.NewTokenCounter == nil {
		o.NewTokenCounter = func() TokenCounter { return noTokens{} }
	}
	if o.Form == "" {
		o.Form = Lines
	}
	if o.GroupBytes == 0 {
		o.GroupBytes = 32 << 20
	}
	return &Product{o}
}

// Name implements derive.Product.
func (*Product) Name() string { return "corpus" }

// Settings implements derive.Product.
func (p *Product) Settings() string {
	if p.o.Form == OSCAR {
		return "2 oscar language=" + p.o.LanguageModel
	}
	return fmt.Sprintf("4 parquet=%t language=%s tokens=%s", p.o.Form == Parquet, p.o.LanguageModel, p.o.Tokenizer)
}

// Needs implements derive.Product.
func (*Product) Needs() derive.Needs { return derive.Needs{Bodies: true, Text: true} }

// Finish implements derive.Product: there is nothing to combine.
func (*Product) Finish(context.Context, []derive.Finished, *derive.Outputs) error { return nil }

// Open implements derive.Product.
func (p *Product) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	out, err := outputs.Create("corpus/" + source.Stem + p.o.Form.suffix())
	if err != nil {
		return nil, err
	}
	if p.o.Form == OSCAR {
		return newOSCAR(source, out)
	}
	w := &writer{
		source: source, detects: p.o.LanguageModel != "", counts: p.o.Tokenizer != "", tokens: p.o.NewTokenCounter(),
	}
	if p.o.Form == Parquet {
		w.rows = &groups{
			GenericWriter: parquet.NewGenericWriter[Row](out, parquet.Compression(&parquet.Zstd)), most: p.o.GroupBytes,
		}
	} else {
		w.rows = &lines{zip: deflate.NewGzipWriter(out)}
	}
	return w, nil
}

// rowWriter writes rows in one form.
type rowWriter interface {
	// write writes a row with this text, which it borrows.
	write(row *Row, text []byte) error
	io.Closer
}

// writer writes the rows of one file.
type writer struct {
	source  derive.Source
	detects bool
	counts  bool
	tokens  TokenCounter
	rows    rowWriter
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
	text := bytes.TrimRight(page.Text, "\n")
	row := Row{
		ID: rec.Get("WARC-Record-ID"), Dump: w.source.Crawl,
		URL: strings.ToValidUTF8(string(rec.TargetURI), "\uFFFD"), Date: date, FilePath: w.source.File,
		DeclaredLanguage: declaredLanguage(rec.Body()), Title: string(page.Title), WordCount: countWords(text),
		Offset: rec.Offset,
	}
	if rec.Length > 0 {
		row.Length = &rec.Length
	}
	row.Language = row.DeclaredLanguage
	if w.detects {
		l := rec.Language()
		row.Language, row.LanguageScript = l.Code, l.Script
		if l.Code != "" {
			row.LanguageScore = &l.Score
		}
	}
	if w.counts {
		n := w.tokens.Count(text)
		row.TokenCount = &n
	}
	return w.rows.write(&row, text)
}

// Close implements derive.FileWriter.
func (w *writer) Close() error { return w.rows.Close() }

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}

// lines writes JSON lines.
type lines struct {
	zip  *deflate.GzipWriter
	json jsontext.Object
}

// pieceMost is how much of a text is written at a time, in bytes.
const pieceMost = 64 << 10

func (l *lines) write(row *Row, text []byte) error {
	o := &l.json
	o.Reset()
	o.Open('{')
	o.Name("text")
	o.Text = append(o.Text, '"')
	for len(text) > 0 { // a long one takes no memory
		n := min(len(text), pieceMost)
		for n < len(text) && n > pieceMost-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		o.Text = jsontext.AppendContent(o.Text, text[:n])
		if text = text[n:]; len(text) == 0 {
			break
		}
		if _, err := l.zip.Write(o.Text); err != nil {
			return err
		}
		o.Reset()
	}
	o.Text = append(o.Text, '"')
	o.String("id", row.ID)
	o.String("dump", row.Dump)
	o.String("url", row.URL)
	o.String("date", row.Date)
	o.String("file_path", row.FilePath)
	l.orNull("language", row.Language)
	if row.LanguageScore != nil {
		o.Name("language_score")
		o.Text = strconv.AppendFloat(o.Text, *row.LanguageScore, 'g', -1, 64)
	} else {
		o.Null("language_score")
	}
	l.number("token_count", row.TokenCount)
	l.orNull("title", row.Title)
	l.number("word_count", &row.WordCount)
	l.orNull("language_script", row.LanguageScript)
	l.orNull("declared_language", row.DeclaredLanguage)
	l.number("warc_record_offset", &row.Offset)
	l.number("warc_record_length", row.Length)
	o.Close('}')
	o.Text = append(o.Text, '\n')
	_, err := l.zip.Write(o.Text)
	return err
}

// orNull appends a string, or null for an empty one.
func (l *lines) orNull(name, value string) {
	if value == "" {
		l.json.Null(name)
		return
	}
	l.json.String(name, value)
}

// number appends a number, or null for nil.
func (l *lines) number(name string, n *int64) {
	if n == nil {
		l.json.Null(name)
		return
	}
	l.json.Name(name)
	l.json.Text = strconv.AppendInt(l.json.Text, *n, 10)
}

func (l *lines) Close() error { return l.zip.Close() }

// groups writes Parquet.
type groups struct {
	*parquet.GenericWriter[Row]

	most, used int
}

func (g *groups) write(row *Row, text []byte) error {
	row.Text = string(text)
	if _, err := g.Write([]Row{*row}); err != nil {
		return err
	}
	if g.used += len(row.Text); g.used < g.most {
		return nil
	}
	g.used = 0
	return g.Flush()
}

// countWords counts the runs of bytes above that of a space.
func countWords(text []byte) (words int64) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	before := uint64(tops) // the byte before is white space: the top bit of the highest byte
	for len(text) >= 8 {
		w := binary.LittleEndian.Uint64(text)
		isSpace := ^((w&^tops + (0x7f-' ')*ones) | w) & tops // the top bit of each byte that is at most a space
		words += int64(bits.OnesCount64(^isSpace & (isSpace<<8 | before>>56) & tops))
		before = isSpace
		text = text[8:]
	}
	isBetween := before>>63 == 1
	for _, c := range text {
		if isBetween && c > ' ' {
			words++
		}
		isBetween = c <= ' '
	}
	return words
}

// languageBytes is how much of a page is searched for its language.
const languageBytes = 4096

// declaredLanguage returns the primary language in the lang attribute of the html element, in lower case.
func declaredLanguage(page []byte) string {
	page = page[:min(len(page), languageBytes)]
	found := false
	for !found {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			return ""
		}
		page = page[at+1:]
		found = len(page) >= len("html") && bytes.EqualFold(page[:len("html")], []byte("html"))
	}
	element, _, _ := bytes.Cut(page[len("html"):], []byte(">"))
	element = bytes.ToLower(element)
	for found {
		var before []byte
		before, element, found = bytes.Cut(element, []byte("lang="))
		if len(before) == 0 || !bytes.ContainsRune([]byte(" \t\r\n:\"'"), rune(before[len(before)-1])) {
			continue
		}
		value := strings.TrimLeft(string(element), "\"'")
		end := strings.IndexFunc(value, func(r rune) bool { return r < 'a' || r > 'z' })
		if end < 0 {
			end = len(value)
		}
		if end >= 2 && end <= 3 {
			return value[:end]
		}
	}
	return ""
}
