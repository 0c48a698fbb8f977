package corpus

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
)

// archive is a small archive: two of its records are pages with text.
func archive() *derivetest.Archive {
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<html lang='de-AT'><title>T</title><p>Eins \"zwei\" &lt;</html>")
	a.Response("http://a.test/2", 200, "text/html", "<p>two")
	a.Response("http://a.test/3", 200, "text/plain", "no page")
	a.Response("http://a.test/4", 404, "text/html", "<p>gone")
	a.Response("http://a.test/5", 200, "text/html", "<p> ")
	return &a
}

// rows makes the rows of the archive in one form.
func rows(t *testing.T, o Options, name string) []byte {
	t.Helper()
	return rowsOf(t, archive().Bytes(), o, name)
}

// rowsOf makes the rows of a WARC file.
func rowsOf(t *testing.T, stored []byte, o Options, name string) []byte {
	t.Helper()
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.warc.gz", stored)
	_, err := derive.Run(t.Context(), fsys, []string{"x.warc.gz"}, derive.Options{
		Dir: "out", Crawl: "C", Products: []derive.Product{New(o)}, NewLanguageDetector: derivetest.Detector{}.New,
	})
	if err != nil {
		t.Fatal(err)
	}
	return derivetest.Get(t, fsys, "out/corpus/"+name)
}

func wanted() []Row {
	places := archive().Places()
	return []Row{
		{
			Text: "T\nEins \"zwei\" <", ID: "<urn:uuid:00000000-0000-4000-8000-000000000001>", Dump: "C",
			URL: "http://a.test/", Date: "2026-01-02T03:04:01Z", FilePath: "x.warc.gz", Language: "de",
			Title: "T", WordCount: 4, DeclaredLanguage: "de", Offset: places[0].Offset, Length: &places[0].Length,
		},
		{
			Text: "two", ID: "<urn:uuid:00000000-0000-4000-8000-000000000002>", Dump: "C",
			URL: "http://a.test/2", Date: "2026-01-02T03:04:02Z", FilePath: "x.warc.gz", WordCount: 1,
			Offset: places[1].Offset, Length: &places[1].Length,
		},
	}
}

// Pages with text are rows; what is not known is null.
func TestProduct_lines(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(rows(t, Options{}, "x.jsonl.gz")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	const null = `"language":null,"language_score":null,"token_count":null,"title":null,"word_count":1,` +
		`"language_script":null,"declared_language":null,"warc_record_offset":`
	if !bytes.Contains(text, []byte(null)) {
		t.Errorf("%s", text)
	}
	var got []Row
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		var r Row
		if err := in.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if d := cmp.Diff(wanted(), got); d != "" {
		t.Error(d)
	}
}

// The bytes at the place that a row names are its record alone, as a range request of a store returns them.
func TestProduct_placesOfRecords(t *testing.T) {
	stored := archive().Bytes()
	b := rows(t, Options{Form: Parquet}, "x.parquet")
	got, err := parquet.Read[Row](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got {
		z, err := gzip.NewReader(bytes.NewReader(stored[row.Offset : row.Offset+*row.Length]))
		if err != nil {
			t.Fatal(err)
		}
		record, err := io.ReadAll(z)
		if err != nil || !bytes.Contains(record, []byte("WARC-Target-URI: "+row.URL+"\r\n")) ||
			bytes.Count(record, []byte("WARC/1.0")) != 1 {
			t.Errorf("%s: %v, %s", row.URL, err, record)
		}
	}
}

// A record that shares its gzip member with others has no bytes of its own: its length is null.
func TestProduct_sharedMember(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(archive().Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	one := gzip.NewWriter(&whole)
	_, _ = one.Write(plain) // a Buffer does not fail
	_ = one.Close()
	b := rowsOf(t, whole.Bytes(), Options{}, "x.jsonl.gz")
	if z, err = gzip.NewReader(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || bytes.Count(text, []byte(`"warc_record_offset":0,"warc_record_length":null}`)) != 2 {
		t.Errorf("%v, %s", err, text)
	}
}

// The rows of Parquet are the same, in several row groups too.
func TestProduct_parquet(t *testing.T) {
	for _, group := range []int{0, 1} {
		b := rows(t, Options{Form: Parquet, GroupBytes: group}, "x.parquet")
		got, err := parquet.Read[Row](bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(wanted(), got); d != "" {
			t.Error(d)
		}
	}
}

// With a model, the language is the detected one, with its score and script. What the page declares is kept.
func TestProduct_detectedLanguage(t *testing.T) {
	score := 0.75
	want := wanted()
	want[0].Language, want[0].LanguageScript, want[0].LanguageScore = "deu", "Latn", &score
	b := rows(t, Options{Form: Parquet, LanguageModel: "x"}, "x.parquet")
	got, err := parquet.Read[Row](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	z, err := gzip.NewReader(bytes.NewReader(rows(t, Options{LanguageModel: "x"}, "x.jsonl.gz")))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for in := json.NewDecoder(z); in.More(); {
		var r Row
		if err := in.Decode(&r); err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// With a vocabulary, the tokens of each text are counted.
func TestProduct_tokens(t *testing.T) {
	o := Options{Form: Parquet, Tokenizer: "x", NewTokenCounter: func() TokenCounter { return lengths{} }}
	b := rows(t, o, "x.parquet")
	got, err := parquet.Read[Row](bytes.NewReader(b), int64(len(b)))
	if err != nil || *got[0].TokenCount != 15 || *got[1].TokenCount != 3 {
		t.Error(got, err)
	}
	o.Form = Lines
	z, err := gzip.NewReader(bytes.NewReader(rows(t, o, "x.jsonl.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Contains(text, []byte(`"token_count":15,`)) {
		t.Errorf("%s, %v", text, err)
	}
}

// lengths takes each byte for a token.
type lengths struct{}

func (lengths) Count(text []byte) int64 { return int64(len(text)) }

// Words are what white space separates, wherever it is.
func TestCountWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		text := make([]byte, r.IntN(40))
		for i := range text {
			text[i] = "ab\xe4\x7f\x80 \n\t"[r.IntN(8)]
		}
		want := len(bytes.FieldsFunc(bytes.ToValidUTF8(text, []byte("x")), func(r rune) bool { return r <= ' ' }))
		if got := countWords(text); got != int64(want) {
			t.Fatalf("%q: %d words, want %d", text, got, want)
		}
	}
}

// Spellings of the lang attribute.
func TestDeclaredLanguage(t *testing.T) {
	for page, want := range map[string]string{
		`<html lang="en">`: "en", `<HTML class=x LANG=pt-BR>`: "pt", `<html xml:lang='fra'>`: "fra", `<html>lang=de`: "",
		`<html data-lang=xx lang=en>`: "en", `<html hreflang="de">`: "", `<p lang=de>`: "", `<html lang="">`: "",
	} {
		if got := declaredLanguage([]byte(page)); got != want {
			t.Errorf("%s: %q, want %q", page, got, want)
		}
	}
}
