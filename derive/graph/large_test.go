package graph

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path"
	"testing"
	"time"

	"orbweaver/derive"
	"orbweaver/derive/centrality"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
)

// A large graph: go test ./derive/graph -run Large -arcs 100000000 -out DIR -timeout 0 -v
var (
	arcsWanted = flag.Int("arcs", 60_000, "arcs of the graph of TestProduct_large, with those that are there twice")
	largeDir   = flag.String("out", "", "directory that keeps the outputs of TestProduct_large")
)

// Shape of the graph that is made.
const (
	arcsOfPage  = 20 // on average
	pagesOfHost = 500
	menuPages   = 12 // of a host, to which its pages link
	pagesOfFile = 250_000
)

// large is a Product that makes up the pages of each file, instead of reading them.
type large struct {
	*Product

	pages, files int
}

// largeWriter makes up the pages of one file when its only record comes.
type largeWriter struct {
	*writer

	of   *large
	file int
}

func (l *large) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	inner, err := l.Product.Open(source, outputs)
	if err != nil {
		return nil, err
	}
	w := &largeWriter{writer: inner.(*writer), of: l}
	_, err = fmt.Sscanf(source.Stem, "%d", &w.file)
	return w, err
}

// appendPage appends the URL of a page.
func appendPage(dst []byte, page int) []byte {
	return fmt.Appendf(dst, "http://www.site-%07d.example.org/section-%02d/page-%06d.html", page/pagesOfHost,
		page%pagesOfHost/40, page%pagesOfHost)
}

// Add adds each page whose number leaves the number of the file, as if the pages of each site were spread over all.
func (w *largeWriter) Add(*derive.Record) error {
	r := rand.New(rand.NewPCG(1, uint64(w.file)))
	var url, target []byte
	for page := w.file; page < w.of.pages; page += w.of.files {
		url = appendPage(url[:0], page)
		w.begin(url)
		first := page - page%pagesOfHost
		for range 1 + r.IntN(2*arcsOfPage-1) {
			var to int
			switch n := r.IntN(20); {
			case n < 11: // the menu
				to = first + r.IntN(menuPages)
			case n < 17: // nearby
				to = min(max(page+r.IntN(41)-20, first), first+pagesOfHost-1)
			default: // elsewhere: the first pages are popular
				to = int(float64(w.of.pages) * r.Float64() * r.Float64() * r.Float64())
			}
			target = appendPage(target[:0], min(to, w.of.pages-1))
			w.link(target)
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

// A graph of many runs in many files is made in bounded memory. Its arcs are those that were added, each once.
func TestProduct_large(t *testing.T) {
	dir, fsys := *largeDir, vfs.Disk()
	memory := 64 << 20
	if dir == "" {
		dir, fsys, memory = "large", vfs.FS(vfs.NewMem(1)), 256<<10
	}
	pages := max(*arcsWanted/arcsOfPage, 1)
	files := max(pages/pagesOfFile, 3)
	in := path.Join(dir, "in")
	if err := fsys.MkdirAll(in); err != nil {
		t.Fatal(err)
	}
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "")
	for i := range files {
		derivetest.Put(t, fsys, path.Join(in, fmt.Sprintf("%d.warc.gz", i)), a.Bytes())
	}
	out := path.Join(dir, "out")
	p := &large{New(fsys, Options{Dir: out, Name: "large", Memory: memory}), pages, files}
	began, cpu := time.Now(), cputime.Process()
	var read time.Duration
	report, err := derive.Run(t.Context(), fsys, []string{in}, derive.Options{
		Dir: out, Workers: 1, Products: []derive.Product{p},
		OnProgress: func(p derive.Progress) {
			if p.Combining == "" {
				read = cputime.Process() - cpu
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := centrality.Open(fsys, path.Join(out, "graph", "large"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d nodes, %d arcs, %.2f bits per link, %d bytes written; CPU %v, of that %v for the runs; %v",
		files, g.Nodes, g.Arcs, g.BitsPerLink(), report.Written, cputime.Process()-cpu, read, time.Since(began))
	if least := int64(*arcsWanted) * 6 / 10; g.Nodes != int64(pages) || g.Arcs < least || g.Arcs > int64(*arcsWanted)*2 {
		t.Errorf("%d nodes and %d arcs, want %d nodes and some %d arcs", g.Nodes, g.Arcs, pages, *arcsWanted)
	}
	d, err := g.CountDegrees(t.Context())
	if err != nil || d.Isolated > 0 {
		t.Errorf("%d isolated nodes, %v", d.Isolated, err)
	}
}
