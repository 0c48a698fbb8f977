package minhash

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
)

// run makes signatures and clusters of WARC files.
func run(t *testing.T, fsys vfs.FS, o Options, files ...string) {
	t.Helper()
	o.Dir = "out"
	_, err := derive.Run(t.Context(), fsys, files, derive.Options{
		Dir: "out", Crawl: "C", Products: []derive.Product{New(fsys, o)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lines reads a file of JSON lines.
func lines[T any](t *testing.T, fsys vfs.FS, name string) (all []T) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(derivetest.Get(t, fsys, name)))
	if err != nil {
		t.Fatal(err)
	}
	for in := json.NewDecoder(z); ; {
		var line T
		err := in.Decode(&line)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
}

// A page, its copy in another file with a changed word, and two others: one row each, and one cluster of two.
func TestProduct(t *testing.T) {
	text := newGenerator().draw(300)
	page := "<p>" + strings.Join(text, " ")
	text[7] = "changed"
	var a, b derivetest.Archive
	a.Response("http://a.test/?x=<&y", 200, "text/html", page)
	a.Response("http://a.test/short", 200, "text/html", "<p>too short")
	a.Response("http://a.test/404", 404, "text/html", page)
	b.Response("http://b.test/other", 200, "text/html", "<p>"+strings.Join(text[:90], " "))
	b.Response("http://b.test/copy", 200, "text/html", "<h1>"+strings.Join(text, "\n")+"</h1>")
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "a.warc.gz", a.Bytes())
	run(t, fsys, Options{}, "a.warc.gz")
	if got := lines[Member](t, fsys, "out/minhash/clusters.jsonl.gz"); len(got) != 0 {
		t.Errorf("clusters of one file: %+v", got)
	}
	derivetest.Put(t, fsys, "b.warc.gz", b.Bytes())
	run(t, fsys, Options{}, "a.warc.gz", "b.warc.gz")

	rows := lines[Row](t, fsys, "out/minhash/signatures/a.jsonl.gz")
	if len(rows) != 2 || len(rows[0].Buckets) != Buckets || len(rows[1].Buckets) != 0 {
		t.Fatalf("%+v", rows)
	}
	rows[0].Buckets = nil
	want := Row{
		ID: a.ID(1), URL: "http://a.test/?x=<&y", Date: "2026-01-02T03:04:01Z", FilePath: "a.warc.gz", Words: 300,
		SimHash: rows[0].SimHash,
	}
	if d := cmp.Diff(want, rows[0]); d != "" || len(rows[0].SimHash) != 16 {
		t.Error(d)
	}
	members := []Member{
		{0, 2, true, a.ID(1), "http://a.test/?x=<&y", "2026-01-02T03:04:01Z", "a.warc.gz"},
		{0, 2, false, b.ID(2), "http://b.test/copy", "2026-01-02T03:04:02Z", "b.warc.gz"},
	}
	if d := cmp.Diff(members, lines[Member](t, fsys, "out/minhash/clusters.jsonl.gz")); d != "" {
		t.Error(d)
	}
}

// The clusters are those of a comparison of all pages with each other, also if the buckets are sorted on disk.
func TestProduct_clustersLikeBruteForce(t *testing.T) {
	g := newGenerator()
	var a derivetest.Archive
	var texts []string
	signer := NewSigner()
	for i := range 300 {
		text := g.draw(60)
		if i > 0 && g.random.IntN(2) == 0 {
			text = strings.Fields(texts[g.random.IntN(i)])
			text[g.random.IntN(60)] = "changed"
		}
		texts = append(texts, strings.Join(text, " "))
		a.Response(fmt.Sprintf("http://a.test/%d", i), 200, "text/html", "<p>"+texts[i])
	}
	first := make([]uint32, len(texts))
	signatures := make([]Signature, len(texts))
	for i, text := range texts {
		signatures[i] = signer.Sign([]byte(text))
		first[i] = uint32(i)
		for j := range i {
			if from, to := max(first[i], first[j]), min(first[i], first[j]); isNearByMinHash(&signatures[i], &signatures[j]) {
				for k := range first[:i+1] {
					if first[k] == from {
						first[k] = to
					}
				}
			}
		}
	}
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "a.warc.gz", a.Bytes())
	run(t, fsys, Options{Memory: 64 << 10}, "a.warc.gz")
	got := make([]uint32, len(texts))
	for i := range got {
		got[i] = uint32(i)
	}
	for _, m := range lines[Member](t, fsys, "out/minhash/clusters.jsonl.gz") {
		var page int
		if _, err := fmt.Sscanf(m.URL, "http://a.test/%d", &page); err != nil {
			t.Fatal(err)
		}
		got[page] = m.Cluster
	}
	if d := cmp.Diff(first, got); d != "" {
		t.Error(d)
	}
	slices.Sort(first)
	if n := len(slices.Compact(first)); n < 20 || n > 250 {
		t.Errorf("%d clusters and single pages prove little", n)
	}
	if names, _ := fsys.List("out/minhash"); !slices.Equal(names, []string{"clusters.jsonl.gz", "signatures"}) {
		t.Error(names)
	}
}

// A file of signatures that was damaged after it was made is named by the error.
func TestProduct_damagedSignatures(t *testing.T) {
	fsys := vfs.NewMem(1)
	const name = "out/minhash/signatures/a.jsonl.gz"
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { return b[:5] },
		func([]byte) []byte { return packed(`{"buckets":["no number"]}`) },
		func([]byte) []byte { return packed(`{"buckets":7}`) },
	} {
		var a derivetest.Archive
		a.Response("http://a.test/", 200, "text/html", "<p>one two three four five six")
		derivetest.Put(t, fsys, "a.warc.gz", a.Bytes())
		run(t, fsys, Options{}, "a.warc.gz")
		p := New(fsys, Options{Dir: "out"})
		derivetest.Put(t, fsys, name, damage(derivetest.Get(t, fsys, name)))
		c := clusters{fsys: fsys, names: []string{name}, step: func(string) {}}
		err := c.join(t.Context(), "out/minhash/buckets.tmp", p.o.Memory)
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Error(err)
		}
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func packed(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text) // a Buffer does not fail
	_ = z.Close()
	return b.Bytes()
}

// One operation signs a text of 500 words.
func BenchmarkSigner(b *testing.B) {
	text := []byte(strings.Join(newGenerator().draw(textWords), " "))
	s := NewSigner()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s.Sign(text)
	}
}
