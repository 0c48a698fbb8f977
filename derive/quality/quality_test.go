package quality

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
)

// crawlOf reads the captures of a crawl directory, which were fetched in this order, and its seeds.
func crawlOf(t *testing.T, a *derivetest.Archive, seeds string) *Crawl {
	t.Helper()
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("c"); err != nil {
		t.Fatal(err)
	}
	derivetest.Put(t, fsys, "c/1.warc.gz", a.Bytes())
	if err := fsys.MkdirAll("c/frontier"); err != nil {
		t.Fatal(err)
	}
	derivetest.Put(t, fsys, "c/frontier/seeds", []byte(seeds))
	p := New(fsys, "out")
	for _, name := range []string{"c", "c/1.warc.gz", "none"} {
		if err := p.AddSeeds(name); err != nil {
			t.Fatal(err)
		}
	}
	o := derive.Options{Dir: "out", Products: []derive.Product{p}}
	if _, err := derive.Run(t.Context(), fsys, []string{"c"}, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Crawl().Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Crawl()
}

func measured(t *testing.T, a *derivetest.Archive) *Report {
	t.Helper()
	r, err := crawlOf(t, a, "").Measure(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func page(links ...string) string {
	var b strings.Builder
	for _, l := range links {
		fmt.Fprintf(&b, "<a href='%s'>x</a>", l)
	}
	return b.String()
}

// The root links to 1, 2, 3; 1 to 4; everything to 3. The crawl fetched 1 and its child 4 before 2 and 3. A style sheet
// that is found late was fetched first. A second capture of a page counts for nothing, and so does an answer that broke
// off.
func TestMeasure_aSmallWeb(t *testing.T) {
	a := &derivetest.Archive{}
	a.Response("http://a.org/", 200, "text/html", page("/1", "/2", "/3", "/1", "http://gone.org/"))
	a.Response("http://a.org/1", 200, "text/html", page("/4", "/3"))
	a.Response("http://a.org/4", 302, "text/html", "", "Location: /3")
	a.Response("http://a.org/2", 200, "text/html", page("/3")+"<link rel=stylesheet href=/s.css>")
	a.Response("http://a.org/s.css", 200, "text/css", "")
	a.Record("response", "http://a.org/3", "application/http;msgtype=response",
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", "WARC-Truncated: length")
	a.Response("http://a.org/1", 200, "text/html", page("/2", "/never"))
	a.Response("http://a.org/404", 404, "text/html", page("/2"))
	a.Record("response", "http://a.org/broken", "application/http;msgtype=response",
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+page("/2"), "WARC-Truncated: disconnect")
	r := measured(t, a)
	if r.Documents != 5 || r.Requisites != 1 || r.Roots != 1 || r.Links != 8 || r.Outside != 1 {
		t.Errorf("%+v", r)
	}
	// In-degrees of the visits /, 1, 4, 2, 3: 0 1 1 1 4, of 7.
	want := Curve{}
	for i := range want {
		sum := [...]float64{0, 0, 1, 2, 3, 7, 7}
		k := i * 5 / 100
		want[i] = (sum[k] + (sum[k+1]-sum[k])*(float64(i)/20-float64(k))) / 7
	}
	if got := r.InDegree.Curves[Visited]; !cmp.Equal(got, want, equalEnough()) {
		t.Error(cmp.Diff(got, want))
	}
	// Breadth-first is /, 1, 2, 3, 4: the visit of 4 passed 2 and 3. Depth-first is /, 1, 4, 3, 2.
	near(t, "tau of visits", r.Tau[Visited], 1-4*2.0/20)
	near(t, "tau of depth-first", r.Tau[DepthFirst], 1-4*3.0/20)
	near(t, "tau of breadth-first", r.Tau[BreadthFirst], 1)
	near(t, "area of breadth-first", r.InDegree.Area[BreadthFirst], (0.0+1+2+6+7)/7/5)
	near(t, "area of omniscient", r.InDegree.Area[Omniscient], (4.0+5+6+7+7)/7/5)
	near(t, "gain of visits", r.InDegree.Gain[Visited], (13.0-16)/(29-16))
	near(t, "gain of omniscient", r.Gain[Omniscient], 1)
}

func equalEnough() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
}

func near(t *testing.T, what string, is, want float64) {
	t.Helper()
	if math.Abs(is-want) > 1e-9 {
		t.Errorf("%s: %v, want %v", what, is, want)
	}
}

// A site that is fetched in the order of discovery has tau 1, though its images come first.
func TestMeasure_requisitesGoFirst(t *testing.T) {
	a := &derivetest.Archive{}
	var links []string
	for i := range 20 {
		links = append(links, fmt.Sprintf("/%d", i))
	}
	a.Response("http://a.org/", 200, "text/html", page(links...)+"<iframe src=/f></iframe>")
	a.Response("http://a.org/f", 200, "text/html", "")
	for _, l := range links {
		a.Response("http://a.org"+l, 200, "text/html", "")
	}
	r := measured(t, a)
	near(t, "pages", r.Sites.Mean, 1)
	near(t, "least", r.Sites.Least, 1)
	near(t, "with requisites", r.SitesAll.Mean, 1-4*20.0/(21*20))
}

// A revisit has the links of its payload, as they are for its own URL, wherever the payload is in the archive. If the
// payload is missing, it has those of the head.
func TestMeasure_revisitsHaveTheLinksOfTheirPayload(t *testing.T) {
	a := &derivetest.Archive{}
	put := func(kind, url, digest, body string, fields ...string) {
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + strings.Join(fields, "") + "\r\n"
		a.Record(kind, url, "application/http; msgtype=response", head+body, "WARC-Payload-Digest: sha1:"+digest)
	}
	put("response", "http://a.org/", "ROOT", page("/x/", "/y/", "/z/", "http://b.org/"))
	put("revisit", "http://a.org/x/", "SAME", "", "Link: </z/>; rel=next\r\n")
	put("response", "http://a.org/y/", "SAME", page("1", "/s", "http://b.org/", "1"))
	put("revisit", "http://b.org/", "SAME", "")
	put("revisit", "http://a.org/z/", "GONE", "", "Link: </s>; rel=next\r\n")
	for _, url := range []string{"http://a.org/x/1", "http://a.org/y/1", "http://a.org/s", "http://b.org/s"} {
		put("response", url, "LEAF", "")
	}
	r := measured(t, a) // 4 of the root, 4 of x, 3 of y, 2 of b.org, 1 of z; b.org/1 is linked to twice
	if r.Documents != 9 || r.Links != 14 || r.Outside != 2 || r.Roots != 1 {
		t.Errorf("%d pages, %d links, %d to others, %d roots", r.Documents, r.Links, r.Outside, r.Roots)
	}
}

// Memory is bounded by the number of pages: not by that of their captures, nor by the URLs of revisits that wait for
// their payload.
func TestOpen_memoryIsThatOfThePages(t *testing.T) {
	const pages, captures, urlBytes = 1000, 100, 8 << 10
	var part []byte
	for i := range pages * captures {
		v := visit{page: fingerprintOf(i % pages), date: int64(i), payload: 2, isRevisit: true}
		if i < pages {
			v.source = urlBytes
		}
		part = append(append(part, v.encode()...), make([]byte, v.source)...)
	}
	fsys := vfs.NewMem(1)
	derivetest.Put(t, fsys, "p", part)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := open(fsys, []string{"p"}, 1, nil)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	// the race detector allocates for itself
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 6<<20 && !invariants.Race || c.visited != pages {
		t.Errorf("%d pages took %d bytes in all", c.visited, taken)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// An archive without pages says so.
func TestMeasure_nothing(t *testing.T) {
	a := &derivetest.Archive{}
	a.Response("http://a.org/s.css", 200, "text/css", "")
	_, err := crawlOf(t, a, "").Measure(t.Context(), func(int) {})
	if err != ErrEmpty { //nolint:errorlint // it is returned as it is
		t.Error(err)
	}
}

// The orders are those of a model with maps and recursion, on webs at random.
func TestOrdersAgainstAModel(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 2 + rng.IntN(50)
		web := make([][]int, n)
		a := &derivetest.Archive{}
		for i := range web {
			for range rng.IntN(6) {
				to := rng.IntN(n)
				web[i] = append(web[i], to)
			}
		}
		for i := range web {
			links := make([]string, 0, len(web[i])+100)
			for range 70 * (i % 2) { // more than one chunk is read of such a page
				links = append(links, "/gone", "/0")
			}
			for _, to := range web[i] {
				links = append(links, fmt.Sprint("/", to))
			}
			if i%2 == 1 {
				web[i] = append([]int{0}, web[i]...)
			}
			a.Response(fmt.Sprintf("http://a.org/%d", i), 200, "text/html", page(links...))
		}
		c := crawlOf(t, a, "")
		begin, err := c.findRoots(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d := newDocuments(c, begin)
		breadth, err := d.breadthFirst(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		depth, err := d.depthFirst(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		roots := modelRoots(web)
		if !slices.Equal(begin.lateRoots, roots) || len(begin.firstRoots) > 0 {
			t.Errorf("seed %d: roots %v, want %v", seed, begin, roots)
		}
		if want := modelBreadth(web, roots); !slices.Equal(breadth, want) {
			t.Errorf("seed %d: breadth-first %v, want %v", seed, breadth, want)
		}
		if want := modelDepth(web, roots); !slices.Equal(depth, want) {
			t.Errorf("seed %d: depth-first %v, want %v", seed, depth, want)
		}
	}
}

func modelRoots(web [][]int) (roots []uint32) {
	for i := range web {
		isRoot := true
		for earlier := range i {
			isRoot = isRoot && !slices.Contains(web[earlier], i)
		}
		if isRoot {
			roots = append(roots, uint32(i))
		}
	}
	return roots
}

func modelBreadth(web [][]int, roots []uint32) (order []uint32) {
	for at := 0; at < len(web); at++ {
		for _, root := range roots { // those that are due, and the next one if nothing else is left
			if (int(root) <= at || at == len(order)) && !slices.Contains(order, root) {
				order = append(order, root)
			}
		}
		for _, to := range web[order[at]] {
			if !slices.Contains(order, uint32(to)) {
				order = append(order, uint32(to))
			}
		}
	}
	return order
}

func modelDepth(web [][]int, roots []uint32) (order []uint32) {
	var visit func(i int)
	visit = func(i int) {
		if slices.Contains(order, uint32(i)) {
			return
		}
		order = append(order, uint32(i))
		for next := 0; next <= len(web[i]); next++ {
			for _, root := range roots {
				if int(root) <= len(order) {
					visit(int(root))
				}
			}
			if next < len(web[i]) {
				visit(web[i][next])
			}
		}
	}
	for _, root := range roots {
		visit(int(root))
	}
	return order
}

// One page of a crawl has a fifth of all rank at 20 %, whatever the rank is. It has no gain, and no sign of a zero.
func TestMeasure_onePage(t *testing.T) {
	a := &derivetest.Archive{}
	a.Response("http://a.org/", 200, "text/html", "")
	r := measured(t, a)
	for _, f := range []Figures{r.Figures, r.InDegree} {
		for _, name := range Orders() {
			near(t, name, f.AtFifth[name], 0.2)
			near(t, name, f.Area[name], 1)
		}
		if len(f.Gain) > 0 {
			t.Error(f.Gain)
		}
	}
	r.Gain[Visited], r.Tau[Visited] = -1e-5, -1e-6
	var out strings.Builder
	if err := r.Print(&out); err != nil || strings.Contains(out.String(), "-0.0") ||
		strings.Contains(out.String(), "within a site") {
		t.Errorf("%v: %s", err, &out)
	}
}

// Tau counts pairs.
func TestTau(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 60 {
		var numbers []uint32
		for _, p := range rng.Perm(n) {
			numbers = append(numbers, uint32(p))
		}
		same, pairs := 0, 0
		for i := range numbers {
			for j := range i {
				pairs++
				if numbers[j] < numbers[i] {
					same++
				} else {
					same--
				}
			}
		}
		want := 1.0
		if pairs > 0 {
			want = float64(same) / float64(pairs)
		}
		near(t, fmt.Sprint(n), Tau(numbers), want)
	}
}

// The exponent of in-degrees that follow a power law from 5 on is found. Equal in-degrees have none.
func TestSkewOf(t *testing.T) {
	for _, exponent := range []float64{1.8, 2.5} {
		var degrees []float64
		for i := range 40_000 {
			u := (float64(i) + 0.5) / 40_000
			degrees = append(degrees, math.Floor(4.5*math.Pow(u, -1/(exponent-1))+0.5), float64(i%5))
		}
		s := skewOf(degrees)
		if math.Abs(s.Exponent-exponent) > 0.03 || s.From < 4 || s.From > 40 || s.Fit > 0.01 || s.Top < 0.1 {
			t.Errorf("exponent %v: %+v", exponent, s)
		}
	}
	if s := skewOf(slices.Repeat([]float64{3}, 1000)); s.Exponent != 0 || math.Abs(s.Top-0.01) > 1e-9 {
		t.Errorf("equal ones: %+v", s)
	}
}

// A part that ends in the middle of a capture is an error that names it.
func TestEachVisit_cutShort(t *testing.T) {
	fsys := vfs.NewMem(1)
	v := visit{links: 2}
	derivetest.Put(t, fsys, "p", append(v.encode(), make([]byte, 16)...))
	c, err := open(fsys, []string{"p"}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	derivetest.Put(t, fsys, "p", append(v.encode(), make([]byte, 12)...))
	if _, err := open(fsys, []string{"p"}, 1, nil); err == nil || !strings.HasPrefix(err.Error(), "p: ") {
		t.Error(err)
	}
}
