package mining

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// mined returns what is offered for a page with links, in order; known URLs are not wanted.
func mined(m *Miner, page string, known map[string]bool, links ...string) (offered []string) {
	each := func(f func([]byte)) {
		for _, link := range links {
			f([]byte(link))
		}
	}
	m.Mine([]byte(page), each, func(url []byte) bool { return !known[string(url)] }, func(url []byte) {
		offered = append(offered, string(url))
	})
	return offered
}

// Folders above a page are tried, the nearest first, and the query is no part of one.
func TestMine_ancestorsAreTheFoldersAbove(t *testing.T) {
	m := New(Options{Mine: []string{ancestors}, MineMost: 100})
	for page, want := range map[string]string{
		"http://a.test/video/clips/x.html": "http://a.test/video/clips/ http://a.test/video/ http://a.test/",
		"http://a.test/video/clips/":       "http://a.test/video/ http://a.test/",
		"http://a.test/b/c?d/e/f":          "http://a.test/b/ http://a.test/",
		"http://a.test/":                   "",
		"http://a.test/pics/7.html":        "http://a.test/pics/ http://a.test/",
	} {
		if got := strings.Join(mined(m, page, nil), " "); got != want {
			t.Errorf("%s: %s", page, got)
		}
	}
}

// The neighbours of a numbered page have the step and the zeros that the links of the site show. Of a page that is
// alone only the next one is tried.
func TestMine_siblingsHaveStepAndZerosOfTheirSeries(t *testing.T) {
	for _, c := range []struct {
		page, links, want string
	}{
		{"/Page1", "", "/Page2"},
		{"/pics1/", "", "/pics2/"},
		{"/g/1.html", "/g/2.html", "/g/2.html /g/3.html /g/0.html"},
		{"/g/010.html", "/g/020.html /g/050.html", "/g/020.html /g/030.html /g/000.html /g/011.html"},
		{"/g/099.html", "/g/098.html", "/g/100.html /g/101.html /g/098.html"},
		{"/list?of=b2&page=7&view=all", "", "/list?of=b2&page=8&view=all"},
		{"/song7.mp3", "/song3.mp3", "/song11.mp3 /song15.mp3 /song3.mp3 /song8.mp3"},
		{"/a/song.mp3", "", ""},                              // the number of an extension
		{"/20261129101500.html", "", ""},                     // a time
		{"/caf%C3%A9.html", "", ""},                          // a part of an escape
		{"/g/1.html", "http://b.test/g/9.html", "/g/2.html"}, // a link to another site
	} {
		m := New(Options{Mine: []string{siblings}, MineMost: 100})
		var links []string
		for link := range strings.FieldsSeq(c.links) {
			if link[0] == '/' {
				link = "http://a.test" + link
			}
			links = append(links, link)
		}
		got := strings.ReplaceAll(strings.Join(mined(m, "http://a.test"+c.page, nil, links...), " "), "http://a.test", "")
		if got != c.want {
			t.Errorf("%s beside %q: %s", c.page, c.links, got)
		}
	}
}

// A site may try 20 mined URLs; after one find 20 more, and those that have waited come first.
func TestMine_stopsWhereItDoesNotPay(t *testing.T) {
	m := New(Options{Mine: []string{siblings}, MineMost: 1000})
	offered := 0
	for i := range 50 {
		offered += len(mined(m, fmt.Sprintf("http://a.test/%c%c1", 'a'+i/26, 'a'+i%26), nil))
	}
	if offered != triesFree {
		t.Errorf("%d are tried without a find", offered)
	}
	m.NoteFind([]byte("http://a.test/aa2"), 1)
	if got := mined(m, "http://a.test/about", nil); len(got) != triesOfFind || got[0] != "http://a.test/au2" {
		t.Errorf("after a find: %v", got)
	}
	m.NoteFind([]byte("http://a.test/aa2"), -1)
	if got := mined(m, "http://a.test/about", nil); len(got) != 0 {
		t.Errorf("after it was taken back: %v", got)
	}
	waiting := 0
	for _, s := range m.mu.young {
		for url := range s.isWaiting {
			waiting += urlCost + len(url)
		}
	}
	if m.mu.bytes != waiting {
		t.Errorf("%d bytes are counted, and %d wait", m.mu.bytes, waiting)
	}
	if got := mined(m, "http://b.test/x1", nil); len(got) != 1 {
		t.Errorf("another site: %v", got)
	}
}

// A page that counts as a find brings four tries at most before its text is compared, and the others after that.
func TestMine_aLikelyFindBringsFewTries(t *testing.T) {
	m := New(Options{Mine: []string{siblings}, MineMost: 1000})
	for i := range 60 {
		mined(m, fmt.Sprintf("http://a.test/%c%c1", 'a'+i/26, 'a'+i%26), nil)
	}
	const page = "http://a.test/aa2"
	m.NoteFind([]byte(page), 1)
	if got := mined(m, page, nil); len(got) != triesLikely {
		t.Errorf("for itself: %v", got)
	}
	m.NoteFind([]byte(page), -1)
	if got := mined(m, "http://a.test/about", nil); len(got) != 0 {
		t.Errorf("after it was taken back: %v", got)
	}
	m.NoteFind([]byte(page), 1)
	if got := mined(m, "http://a.test/about", nil); len(got) != triesOfFind-triesLikely {
		t.Errorf("for another page: %v", got)
	}
}

// A shape without a find gets at most half of what a site may still try. The folders above 60 pages have no page, and
// yet the first numbered folder is tried. A find gives room to its own shape.
func TestMine_aUselessShapeLeavesTriesToOthers(t *testing.T) {
	m := New(Options{Mine: []string{ancestors}, MineMost: 1000})
	known, offered := map[string]bool{"http://a.test/": true}, 0
	for i := range 60 {
		offered += len(mined(m, fmt.Sprintf("http://a.test/w%c%c/caf%%C3%%A9/x.html", 'a'+i/26, 'a'+i%26), known))
	}
	if offered < triesFree*2/3 || offered >= triesFree {
		t.Errorf("%d tries for two shapes without a find", offered)
	}
	got := mined(m, "http://a.test/video/12/x.html", known)
	if len(got) != 1 || got[0] != "http://a.test/video/12/" {
		t.Fatalf("a shape that is new: %v", got)
	}
	m.NoteFind([]byte(got[0]), 1)
	for i := range 30 {
		page := fmt.Sprintf("http://a.test/video/%d/x.html", 100+i)
		if got := mined(m, page, known); !slices.Contains(got, strings.TrimSuffix(page, "x.html")) {
			t.Fatalf("%s: %v", page, got)
		}
		m.NoteFind([]byte(page[:len(page)-len("x.html")]), 1)
	}
}

// The limit of a site holds, however much is found.
func TestMine_hasALimitForEachSite(t *testing.T) {
	m := New(Options{Mine: []string{siblings}, MineMost: 30})
	offered := 0
	for i := range 100 {
		page := fmt.Sprintf("http://a.test/p%d.html", 10*i)
		offered += len(mined(m, page, nil))
		m.NoteFind([]byte(page), 1)
	}
	if offered != 30 {
		t.Errorf("%d are tried", offered)
	}
}

// Whatever the pages are, what is offered is of their site, and the cost of a page is bounded.
func TestMine_anyPage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m := New(Options{Mine: []string{ancestors, siblings}, MineMost: 1 << 20})
	begun := time.Now()
	const alphabet = "/0123456789ab.?%&=0000"
	for range 20_000 {
		page := []byte("http://h" + fmt.Sprint(rng.IntN(50)) + ".test/")
		for range rng.IntN(40) {
			page = append(page, alphabet[rng.IntN(len(alphabet))])
		}
		site := string(page[:slices.Index(page[7:], '/')+7])
		for _, url := range mined(m, string(page), nil) {
			if !strings.HasPrefix(url, site+"/") || len(url) > len(page)+digitsMost {
				t.Fatalf("of %s it makes %s", page, url)
			}
			m.NoteFind([]byte(url), 1)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("20,000 pages took %v", took)
	}
}

// A million sites and a site with endless folders stay within the memory that the package page states.
func TestMine_memoryIsBounded(t *testing.T) {
	m := New(Options{Mine: []string{ancestors, siblings}, MineMost: 1 << 20})
	before := heap()
	for i := range 100_000 {
		mined(m, fmt.Sprintf("http://h%d.test/a%d/", i, i), nil)
	}
	for i := range 200_000 {
		mined(m, fmt.Sprintf("http://deep%d.test/%s%d", i%50, strings.Repeat("x", 200), 7*i), nil)
	}
	if used := heap() - before; used > 130<<20 {
		t.Errorf("%d MiB", used>>20)
	}
	runtime.KeepAlive(m)
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// A word that is not known is refused with those that are.
func TestOptions_refuseOtherWords(t *testing.T) {
	o := Options{Mine: []string{ancestors, "sibling"}}
	if err := o.Validate(); err == nil || err.Error() != `--mine: "sibling" is not one of ancestors, siblings` {
		t.Error(err)
	}
}
