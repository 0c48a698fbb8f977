package graph

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orbweaver/derive"
	"orbweaver/derive/bvgraph"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
)

// graphs makes the graphs of WARC files and returns the text of each output, unpacked.
func graphs(t *testing.T, o Options, archives ...*derivetest.Archive) map[string]string {
	t.Helper()
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("c"); err != nil {
		t.Fatal(err)
	}
	for i, a := range archives {
		derivetest.Put(t, fsys, fmt.Sprintf("c/%d.warc.gz", i), a.Bytes())
	}
	o.Dir = "out"
	_, err := derive.Run(t.Context(), fsys, []string{"c"}, derive.Options{
		Dir: "out", Products: []derive.Product{New(fsys, o)},
	})
	if err != nil {
		t.Fatal(err)
	}
	names, err := fsys.List("out/graph")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, vfs.TemporarySuffix) {
			t.Errorf("%s is left", name)
		}
		b, err := vfs.ReadFile(fsys, "out/graph/"+name)
		if err != nil {
			continue // a directory
		}
		if strings.HasSuffix(name, ".gz") {
			b = unzip(t, b)
		}
		found[name] = string(b)
	}
	return found
}

func unzip(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// arcsOf reads the BV graph of a base name as lines of arcs.
func arcsOf(t *testing.T, found map[string]string, base string) string {
	t.Helper()
	p, err := bvgraph.ReadProperties(strings.NewReader(found[base+".properties"]))
	if err != nil {
		t.Fatal(err)
	}
	r := bvgraph.NewReader(strings.NewReader(found[base+".graph"]), p)
	var text strings.Builder
	for x := 0; ; x++ {
		list, err := r.Next()
		if err == io.EOF {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range list {
			fmt.Fprintf(&text, "%d\t%d\n", x, to)
		}
	}
}

func html(refs ...string) string {
	text := ""
	for _, r := range refs {
		text += "<a href='" + r + "'>x</a>"
	}
	return text
}

// small is a web of five pages at three hosts, in two files.
func small() (a, b *derivetest.Archive) {
	a, b = &derivetest.Archive{}, &derivetest.Archive{}
	a.Response("http://www.a.com/", 200, "text/html", html("/2", "/2#x", "http://b.a.com/", "http://gone.org/x", "/"))
	a.Response("http://www.a.com/2", 301, "text/html", "", "Location: /")
	a.Response("http://www.a.com/robots.txt", 200, "text/plain", "Sitemap: http://a.com/s")
	a.Response("http://www.a.com/404", 404, "text/html", html("/never"))
	b.Response("http://b.a.com/", 200, "text/html", "<base href=//c-d.co.uk/p/>"+html("q")+"<img src='http://10.0.0.1/i'>",
		"Link: <http://www.a.com/2>; rel=next, </z>")
	b.Response("http://c-d.co.uk/p/q", 200, "text/plain", "no links <a href=/x>")
	b.Response("http://10.0.0.1/i", 200, "text/html", html("http://b.a.com/"))
	return a, b
}

// The graphs of a small web, file by file.
func TestProduct_crawledPages(t *testing.T) {
	a, b := small()
	found := graphs(t, Options{}, a, b)
	want := map[string]string{
		"c.urls.gz": "http://10.0.0.1/i\nhttp://b.a.com/\nhttp://c-d.co.uk/p/q\nhttp://www.a.com/\nhttp://www.a.com/2\n",
		"c.arcs.gz": "0\t1\n1\t0\n1\t2\n1\t4\n3\t1\n3\t3\n3\t4\n4\t3\n",
		// Names are reversed, without www; a host without a page is there, an address is not.
		"c-host-vertices.txt.gz":   "0\tcom.a\n1\tcom.a.b\n2\torg.gone\n3\tuk.co.c-d\n",
		"c-host-edges.txt.gz":      "0\t1\n0\t2\n1\t0\n1\t3\n",
		"c-domain-vertices.txt.gz": "0\tcom.a\t2\n1\torg.gone\t1\n2\tuk.co.c-d\t1\n",
		"c-domain-edges.txt.gz":    "0\t1\n0\t2\n",
	}
	for name, text := range want {
		if d := cmp.Diff(text, found[name]); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	for base, arcs := range map[string]string{
		"c": "c.arcs.gz", "c-host": "c-host-edges.txt.gz", "c-domain": "c-domain-edges.txt.gz",
	} {
		if d := cmp.Diff(found[arcs], arcsOf(t, found, base)); d != "" {
			t.Errorf("%s.graph:\n%s", base, d)
		}
	}
}

// With all nodes, pages that were only linked to are nodes without arcs.
func TestProduct_allNodes(t *testing.T) {
	a, b := small()
	found := graphs(t, Options{All: true, Name: "web"}, a, b)
	if d := cmp.Diff("http://10.0.0.1/i\nhttp://b.a.com/\nhttp://b.a.com/z\nhttp://c-d.co.uk/p/q\nhttp://gone.org/x\n"+
		"http://www.a.com/\nhttp://www.a.com/2\n", found["web.urls.gz"]); d != "" {
		t.Error(d)
	}
	if !strings.Contains(found["web.arcs.gz"], "5\t4\n") {
		t.Error(found["web.arcs.gz"])
	}
}

// Runs that are cut at any place, in any number of files, give the graph of a model in memory.
func TestProduct_runsInBoundedMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	archives := []*derivetest.Archive{{}, {}, {}}
	arcs := map[[2]string]bool{}
	stored := map[string]bool{}
	for i := range 400 {
		from := fmt.Sprintf("http://h%d.test/%d", rng.IntN(20), i)
		stored[from] = true
		var refs []string
		for range rng.IntN(30) {
			to := fmt.Sprintf("http://h%d.test/%d", rng.IntN(20), rng.IntN(500))
			refs = append(refs, to)
			arcs[[2]string{from, to}] = true
		}
		archives[rng.IntN(3)].Response(from, 200, "text/html", html(refs...))
	}
	var urls []string
	for url := range stored {
		urls = append(urls, url)
	}
	slices.Sort(urls)
	var want []string
	for a := range arcs {
		from, _ := slices.BinarySearch(urls, a[0])
		if to, found := slices.BinarySearch(urls, a[1]); found {
			want = append(want, fmt.Sprintf("%06d\t%06d", from, to))
		}
	}
	slices.Sort(want)
	for _, memory := range []int{64 << 10, 1 << 20} {
		found := graphs(t, Options{Memory: memory}, archives...)
		var got []string
		for line := range strings.Lines(found["c.arcs.gz"]) {
			var from, to int
			if _, err := fmt.Sscan(line, &from, &to); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%06d\t%06d", from, to))
		}
		if !slices.Equal(got, want) {
			t.Errorf("memory of %d: %d arcs, want %d", memory, len(got), len(want))
		}
		if found["c.urls.gz"] != strings.Join(urls, "\n")+"\n" {
			t.Errorf("memory of %d: other nodes", memory)
		}
	}
}

// A part that is damaged on the disk is an error that names it, or another graph, and never a panic.
func TestPart_damaged(t *testing.T) {
	a, _ := small()
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "a.warc.gz", a.Bytes())
	o := derive.Options{Dir: "out", Products: []derive.Product{New(fsys, Options{Dir: "out"})}}
	if _, err := derive.Run(t.Context(), fsys, []string{"a.warc.gz"}, o); err != nil {
		t.Fatal(err)
	}
	const name = "out/graph/parts/a.runs"
	good := derivetest.Get(t, fsys, name)
	refused := 0
	for i := range good {
		bad := slices.Clone(good)
		bad[i] ^= 0xff
		derivetest.Put(t, fsys, name, bad)
		if err := readPart(t, fsys, name); err != nil {
			refused++
			if !errors.Is(err, vfs.ErrCorrupt) || !strings.Contains(err.Error(), "a.runs") {
				t.Errorf("byte %d: %v", i, err)
			}
		}
	}
	if refused < len(good)/4 {
		t.Errorf("only %d of %d damaged files are refused", refused, len(good))
	}
}

// readPart reads all of a file of runs.
func readPart(t *testing.T, fsys vfs.FS, name string) error {
	t.Helper()
	p, err := openPart(fsys, name)
	if err != nil {
		return err
	}
	defer func() { _ = p.file.Close() }() // opened for reading
	for kind := range kinds {
		if err := eachName(t.Context(), p.runs[kind], func([]byte, bool, []int) error { return nil }); err != nil {
			return err
		}
		for i := range p.runs[kind] {
			if err := p.runs[kind][i].eachArc(func(arc) error { return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}
