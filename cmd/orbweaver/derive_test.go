package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/derive/derivetest"
	"orbweaver/internal/cli/command"
)

// derive makes outputs from a file of another crawler, keeps what is complete, and its status says whether a record was
// damaged.
func TestDerive(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<title>a</title>")
	a.Response("http://a.test/2", 200, "text/html", "<title>b</title>")
	file := filepath.Join(dir, "x.warc.gz")
	writeFile(t, file, a.String())
	out := filepath.Join(dir, "out")
	args := []string{"derive", "--parquet", "--crawl", "C", "--out", out}
	r := call(append(args, file)...).want(t, command.ExitDone)
	if !strings.HasPrefix(r.out, "1 WARC file, 2 records, 0 faults\n2 outputs") {
		t.Error(r.out)
	}
	if _, err := os.Stat(filepath.Join(out, "parquet", "crawl=C", "subset=warc", "x-000.gz.parquet")); err != nil {
		t.Error(err)
	}
	if r = call(append(args, file)...).want(t, command.ExitDone); !strings.Contains(r.out, "1 file was complete") {
		t.Error(r.out)
	}
	a.Damage(1)
	writeFile(t, filepath.Join(dir, "y.warc.gz"), a.String())
	call(append(args, "--json", dir)...).want(t, command.ExitFailed, "y.warc.gz at 0", "1 fault")
	call("derive", "--out", out, file).want(t, command.ExitUsage, "nothing to make")
	call(append(args, filepath.Join(dir, "none"))...).want(t, command.ExitUsage, "no such file or directory")
}

// Graphs are made, counted and ranked.
func TestDerive_graph(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<a href=2>x</a> <a href=http://b.test/>")
	a.Response("http://a.test/2", 200, "text/html", "<a href=.>x</a>")
	file := filepath.Join(dir, "x.warc.gz")
	writeFile(t, file, a.String())
	out := filepath.Join(dir, "out")
	call("derive", "--graph", "--crawl", "C", "--out", out, file).want(t, command.ExitDone)
	r := call("graph", "stats", "--which", "C", "--top", "1", out).want(t, command.ExitDone)
	if !strings.HasPrefix(r.out, "C: 2 nodes, 2 arcs") || !strings.HasSuffix(r.out, "1 incoming: http://a.test/\n") {
		t.Error(r.out)
	}
	r = call("graph", "rank", out).want(t, command.ExitDone)
	if r.err != "" {
		t.Errorf("progress without a terminal: %q", r.err)
	}
	for _, name := range []string{"C-ranks.txt.gz", "C-host-ranks.txt.gz", "C-domain-ranks.txt.gz"} {
		if !strings.Contains(r.out, name+": 2 nodes; harmonic centrality: exact") {
			t.Errorf("no %s in\n%s", name, r.out)
		}
	}
	call("graph", "rank", dir).want(t, command.ExitUsage, "no graph in")
	call("graph", "rank", "--alpha", "1", out).want(t, command.ExitUsage, "--alpha")
}

// Texts and metadata are made in the same pass, and other commands read them.
func TestDerive_texts(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<title>a</title><p>words")
	file := filepath.Join(dir, "x.warc.gz")
	writeFile(t, file, a.String())
	out := filepath.Join(dir, "out")
	args := []string{"derive", "--wet", "--wat", "--corpus", "--out", out, file}
	call(append(args, "--corpus-format", "parquet")...).want(t, command.ExitDone)
	wet := filepath.Join(out, "wet", "x.warc.wet.gz")
	r := call("warc", "cat", "--type", "conversion", wet).want(t, command.ExitDone)
	if !strings.Contains(r.out, "a\nwords") {
		t.Error(r.out)
	}
	if _, err := os.Stat(filepath.Join(out, "corpus", "x.parquet")); err != nil {
		t.Error(err)
	}
	call(append(args, "--corpus-format", "csv")...).want(t, command.ExitUsage, "--corpus-format")
}

// Two pages with the same text are a cluster.
func TestDerive_minhash(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<p>one two three four five")
	a.Response("http://a.test/2", 200, "text/html", "<p>One, two, three, four: five!")
	file := filepath.Join(dir, "x.warc.gz")
	writeFile(t, file, a.String())
	out := filepath.Join(dir, "out")
	call("derive", "--minhash", "--out", out, file).want(t, command.ExitDone)
	packed, err := os.ReadFile(filepath.Join(out, "minhash", "clusters.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if n := strings.Count(string(text), `"cluster":0,"size":2,`); err != nil || n != 2 {
		t.Errorf("%v\n%s", err, text)
	}
}
