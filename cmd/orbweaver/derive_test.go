package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
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
	budgets := filepath.Join(out, "graph", "C-domain-budgets.tsv")
	text, err := os.ReadFile(budgets)
	if want := "b.test\t1.469\na.test\t0.6484\n"; err != nil || string(text) != want {
		t.Errorf("budgets %q, %v; want %q", text, err, want)
	}
	call("crawl", "--dry-run", "--dir", filepath.Join(dir, "next"), "--contact", "http://o.test/", "--visit", "ranked",
		"--budgets", budgets, "http://b.test/").want(t, command.ExitDone)
	call("graph", "rank", dir).want(t, command.ExitUsage, "no graph in")
	call("graph", "rank", "--alpha", "1", out).want(t, command.ExitUsage, "--alpha")
}

// The order of visits is measured from a file of any crawler. A damaged record costs itself.
func TestQuality(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<a href=2>x</a> <a href=3>x</a> <a href=http://gone.test/>")
	a.Response("http://a.test/3", 200, "text/html", "<a href=2>x</a>")
	a.Response("http://a.test/2", 200, "text/html", "")
	file, picture := filepath.Join(dir, "x.warc.gz"), filepath.Join(dir, "order.svg")
	writeFile(t, file, a.String())
	r := call("quality", "--picture", picture, file).want(t, command.ExitDone)
	if !strings.HasPrefix(r.out, "3 pages, 0 requisites, 1 root; 3 links among them, 1 to others\n") ||
		strings.Count(r.out, "breadth-first") != 2 {
		t.Error(r.out)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil || !strings.HasPrefix(string(drawn), "<svg ") || strings.Count(string(drawn), "omniscient") != 1 {
		t.Error(err)
	}
	var found struct {
		Area, Gain, Tau map[string]float64
		AtFifth         map[string]float64 `json:"at_20_percent"`
		Curves          map[string][]float64
	}
	r = call("quality", "--json", dir).want(t, command.ExitDone)
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatal(err)
	}
	// The visits are /, 3, 2; breadth-first has 2 before 3.
	if tau := found.Tau["visited"]; math.Abs(tau-1.0/3) > 1e-9 {
		t.Errorf("tau %v", tau)
	}
	if len(found.Area) != 5 || len(found.AtFifth) != 5 || found.Gain["omniscient"]-found.Gain["breadth-first"] != 1 {
		t.Errorf("%+v", found)
	}
	if c := found.Curves["omniscient"]; len(found.Curves) != 5 || len(c) != 101 || c[0] != 0 ||
		math.Abs(c[100]-1) > 1e-9 || c[20] != found.AtFifth["omniscient"] {
		t.Errorf("curve of omniscient: %v", c)
	}
	a.Damage(2)
	writeFile(t, file, a.String())
	r = call("quality", file).want(t, command.ExitFailed, "x.warc.gz at", "1 fault")
	if !strings.HasPrefix(r.out, "2 pages") {
		t.Error(r.out)
	}
	writeFile(t, filepath.Join(dir, "none.txt"), "no archive")
	r = call("quality", filepath.Join(dir, "none.txt")).want(t, command.ExitUsage, "no WARC files in")
	if strings.Contains(r.err, "derive:") {
		t.Error(r.err)
	}
	for bad, text := range map[string]string{dir: "is a directory", filepath.Join(dir, "no", "x"): "cannot be written"} {
		call("quality", "--picture", bad, file).want(t, command.ExitUsage, "--picture: "+bad+" "+text)
	}
	left, err := filepath.Glob(filepath.Join(dir, "orbweaver-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
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
