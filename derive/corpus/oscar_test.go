package corpus

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/derive/extracts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// oscarRow is a row of OSCAR 23.01, as its documentation has it.
type oscarRow struct {
	Content     string            `json:"content"`
	WARCHeaders map[string]string `json:"warc_headers"`
	Metadata    struct {
		Identification          *oscarLanguage   `json:"identification"`
		HarmfulPP               *float32         `json:"harmful_pp"`
		TLSH                    *string          `json:"tlsh"`
		QualityWarnings         []string         `json:"quality_warnings"`
		Categories              []string         `json:"categories"`
		SentenceIdentifications []*oscarLanguage `json:"sentence_identifications"`
	} `json:"metadata"`
}

type oscarLanguage struct {
	Label string  `json:"label"`
	Prob  float32 `json:"prob"`
}

// A row of OSCAR has the header of the WET record of the page. It has a language for the page, and for each long line.
func TestProduct_oscar(t *testing.T) {
	long := "eins " + strings.Repeat("und ", 30)
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<title>T</title><p>zwei<p>"+long)
	a.Response("http://a.test/2", 200, "text/html", "<p>two")
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "x.warc.gz", a.Bytes())
	_, err := derive.Run(t.Context(), fsys, []string{"x.warc.gz"}, derive.Options{
		Dir: "out",
		Products: []derive.Product{
			New(Options{Form: OSCAR, LanguageModel: "m"}), extracts.WET(extracts.Options{LanguageModel: "m"}),
		},
		NewLanguageDetector: derivetest.Detector{}.New,
	})
	if err != nil {
		t.Fatal(err)
	}
	var headers []map[string]string
	wet := warc.NewReader(bytes.NewReader(derivetest.Get(t, fsys, "out/wet/x.warc.wet.gz")), warc.ReaderOptions{})
	defer wet.Close()
	for rec, err := wet.Next(); err == nil; rec, err = wet.Next() {
		h := map[string]string{}
		for _, f := range rec.Fields {
			h[strings.ToLower(f.Name)] = f.Value
		}
		if h["warc-type"] == "conversion" {
			headers = append(headers, h)
		}
	}
	z, err := zstd.NewReader(bytes.NewReader(derivetest.Get(t, fsys, "out/corpus/x.jsonl.zst")))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var got []oscarRow
	in := json.NewDecoder(z)
	in.DisallowUnknownFields()
	for {
		var r oscarRow
		if err := in.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	german := &oscarLanguage{"deu", 0.75}
	want := []oscarRow{{Content: "T\nzwei\n" + strings.TrimSpace(long)}, {Content: "two"}}
	for i := range want {
		want[i].WARCHeaders = headers[i]
	}
	want[0].Metadata.Identification = german
	want[0].Metadata.SentenceIdentifications = []*oscarLanguage{nil, nil, german}
	want[1].Metadata.SentenceIdentifications = []*oscarLanguage{nil}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
