package novelty

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

var large = flag.Int("large", 40_000, "pages of the large honest site")

// site uses a Detector as the engine does: it asks whether a URL is delayed, and later whether a delayed one is
// fetched, and reports its page.
type site struct {
	w       *Detector
	g       Group
	words   Words
	waiting []waiting
	pages   uint32
}

type waiting struct{ path, text string }

// word is a word of letters for each number.
func word(n int) string {
	w := []byte{'w'}
	for ; n > 0; n /= 26 {
		w = append(w, byte('a'+n%26))
	}
	return string(w)
}

func newSite(name string) *site { return newSiteWith(name, 400) }

func newSiteWith(name string, floor int) *site {
	w := NewDetector(Options{Seed: 7, Floor: floor})
	return &site{w: w, g: w.GroupOf('s', []byte(name))}
}

// visit reports whether a URL is fetched at once; otherwise it waits for drain.
func (s *site) visit(path, text string) bool {
	if s.w.ShouldDelay(s.g, []byte(path)) {
		s.waiting = append(s.waiting, waiting{path, text})
		return false
	}
	s.w.NotePage(s.g, []byte(path), s.page(text, false), &s.words)
	return true
}

// page returns a page with its own payload.
func (s *site) page(text string, late bool) Page {
	s.pages++
	return Page{Payload: s.pages, Text: []byte(text), WasDelayed: late}
}

// drain releases at most most delayed URLs, and returns how many were fetched and skipped. It visits the URLs that f
// finds.
func (s *site) drain(most int, f func(path string)) (fetched, left int) {
	for len(s.waiting) > 0 && fetched+left < most {
		one := s.waiting[0]
		s.waiting = s.waiting[1:]
		if _, ok := s.w.ReleaseDelayed(s.g, []byte(one.path)); !ok {
			left++
			continue
		}
		fetched++
		s.w.NotePage(s.g, []byte(one.path), s.page(one.text, true), &s.words)
		if f != nil {
			f(one.path)
		}
	}
	return fetched, left
}

// X1: on a large site whose pages all have something new, nothing is delayed: with long or short pages, many folders or
// one, and also if half of the pages are copies.
func TestX1_ofALargeHonestSiteNothingIsDelayed(t *testing.T) {
	for _, copies := range []int{0, 2} { // one page in this many is no copy
		s := newSite("http://large.test")
		r := rand.New(rand.NewPCG(1, 1))
		words := make([]string, 8000)
		for i := range words {
			words[i] = word(i * 2654435761 % 1_000_003)
		}
		lost := 0
		for n := range *large {
			path := fmt.Sprintf("/%s/%d/page-%d.html", words[n%7], n%300, n)
			if n%11 == 0 {
				path = fmt.Sprintf("/show?id=%d&view=%s", n, words[n%3])
			}
			text := "<title>Welcome</title><p>home news about"
			switch {
			case copies > 0 && r.IntN(copies) == 0:
			case n%3 == 0:
				text = fmt.Sprintf("<title>Item %d</title><p>In stock: %d", n, n%50)
			default:
				for range 60 {
					text += " " + words[min(int(r.ExpFloat64()*900), len(words)-1)]
				}
			}
			if !s.visit(path, text) {
				lost++
			}
		}
		t.Logf("%d pages, one of %d a copy: %d delayed", *large, copies, lost)
		if lost > 0 {
			t.Errorf("%d of %d pages are delayed", lost, *large)
		}
		if silent := s.w.IrrelevantParams(s.g); silent != nil {
			t.Errorf("parameters are taken for silent: %+v", silent)
		}
	}
}

// X2: of an endless part that repeats itself, and of a site of such parts, the floor and a bounded number more is
// fetched.
func TestX2_anEndlessPartCostsItsFloor(t *testing.T) {
	const floor = 400
	for name, path := range map[string]func(n int) string{
		"one folder": func(n int) string { return fmt.Sprintf("/calendar/%d/%d", n/12, n%12) },
		"many folders": func(n int) string {
			return fmt.Sprintf("/%c%c/%c%c/x", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26, 'a'+n/17576%26)
		},
		"many queries": func(n int) string {
			return fmt.Sprintf("/search?%c%c=%d&%c=1", 'a'+n%26, 'a'+n/26%26, n,
				'a'+n/676%26)
		},
		"one below many": func(n int) string { return fmt.Sprintf("/shop/%c%c%c/x", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26) },
	} {
		for links := 1; links <= 5; links += 4 { // links from each page to new ones
			s := newSiteWith("http://trap.test", floor)
			const text = "nothing happens here today"
			found, prompt := 0, 0
			follow := func(string) {
				for range links {
					if s.visit(path(found), text) {
						prompt++
					}
					found++
				}
			}
			for found < 300 {
				follow("")
			}
			fetched, left := s.drain(20_000, follow)
			t.Logf("%s, %d links: %d fetched at once, %d late, %d of %d left out", name, links, prompt, fetched, left, found)
			if most := watchAfterPages + evidencePages + creditInitial; prompt > most {
				t.Errorf("%s: %d are fetched at once, more than %d", name, prompt, most)
			}
			most := max(floorsAbove*floor, foundPerFloor*floor/links) + int(trapWindow(floor))*windowsPerFloor
			if fetched < floor || fetched > most {
				t.Errorf("%s: %d are fetched late, want at most %d", name, fetched, most)
			}
			if left == 0 {
				t.Errorf("%s: none is left out", name)
			}
		}
	}
}

// X2: a chain of pages with one payload, or with URLs that repeat their own parts, costs its floor, although only one
// URL is unfetched at a time.
func TestX2_anEndlessChainOfOnePayloadOrOfNestedURLsCostsItsFloor(t *testing.T) {
	const floor = 400
	for name, step := range map[string]struct {
		same bool // payload
		path func(n int) string
	}{
		"one payload": {true, func(n int) string { return fmt.Sprintf("/offer/%d", n) }},
		"nested folders": {false, func(n int) string {
			return "/shop" + strings.Repeat("/cart/shop", n%50+4) +
				fmt.Sprintf("/%d/", n)
		}},
		"nested parameters": {false, func(n int) string {
			return fmt.Sprintf("/list?id=%d%s", n,
				strings.Repeat("&back=1", n%20+4))
		}},
	} {
		s := newSiteWith("http://trap.test", floor)
		fetched := 0
		for n := 0; n < 20*floor; n++ {
			path, payload := []byte(step.path(n)), uint32(7)
			if !step.same {
				payload = uint32(n)
			}
			late := s.w.ShouldDelay(s.g, path)
			if late {
				if _, ok := s.w.ReleaseDelayed(s.g, path); !ok {
					break
				}
			}
			fetched++
			s.w.NotePage(s.g, path, Page{Payload: payload, Text: []byte("your cart has nothing in it"),
				WasDelayed: late}, &s.words)
		}
		if fetched < floor || fetched > floorsAbove*floor+int(trapWindow(floor))+watchAfterPages+evidencePages+creditInitial {
			t.Errorf("%s: %d are fetched", name, fetched)
		}
	}
}

// X5: of a part of up to ten floors of different pages no URL is skipped, however it is linked.
func TestX5_aPartOfTenFloorsIsFetchedWholeInEveryShape(t *testing.T) {
	const floor, pages = 400, foundPerFloor * 400
	const text = "nothing happens here today"
	path := func(n int) []byte { return fmt.Appendf(nil, "/archive/day-%d.html", n) }
	for _, fan := range []int{1, 2, 3, 8, 50} { // links from each page to the next ones
		s := newSiteWith("http://archive.test", floor)
		prompt, late, fetched := []int{0}, []int(nil), 0
		fetch := func(n int, delayed bool) {
			fetched++
			s.w.NotePage(s.g, path(n), Page{Payload: uint32(n % 3), Text: []byte(text), WasDelayed: delayed}, &s.words)
			for k := n*fan + 1; k <= n*fan+fan && k < pages; k++ {
				if s.w.ShouldDelay(s.g, path(k)) {
					late = append(late, k)
				} else {
					prompt = append(prompt, k)
				}
			}
		}
		for len(prompt)+len(late) > 0 {
			if len(prompt) > 0 {
				n := prompt[0]
				prompt = prompt[1:]
				fetch(n, false)
				continue
			}
			n := late[0]
			late = late[1:]
			if why, ok := s.w.ReleaseDelayed(s.g, path(n)); !ok {
				t.Fatalf("fan %d: page %d is left out after %d: %+v", fan, n, fetched, why)
			}
			fetch(n, true)
		}
		if fetched != pages {
			t.Errorf("fan %d: %d of %d pages", fan, fetched, pages)
		}
	}
}

// X4: of a finite part that repeats itself no URL is skipped, if it was found at once or in lists, however large it is.
func TestX4_aPartWithAnEndIsFetchedWhole(t *testing.T) {
	const pages, floor = 30_000, 400
	// URLs in a list; each list is found when the previous one is exhausted
	for _, listed := range []int{pages, 5000, 200} {
		s := newSiteWith("http://reference.test", floor)
		n := 0
		list := func() {
			for end := min(n+listed, pages); n < end; n++ {
				s.visit(fmt.Sprintf("/fn/f%d.html", n), "returns the lower half of the register")
			}
		}
		list()
		s.visit("/index", "the first list")
		fetched, left := 0, 0
		for len(s.waiting) > 0 {
			f, l := s.drain(listed, nil)
			fetched, left = fetched+f, left+l
			list()
		}
		if left > 0 && listed >= 5000 {
			t.Errorf("lists of %d: %d of %d are left out", listed, left, pages)
		}
		t.Logf("lists of %d: %d delayed and fetched, %d left out", listed, fetched, left)
	}
}

// A part that looks like a trap does not count against other parts. When it has new content again, it is no longer
// delayed.
func TestAPoorPartSpeaksForItselfAndMayRecover(t *testing.T) {
	s := newSite("http://a.test")
	for n := range 2000 {
		s.visit(fmt.Sprintf("/news/%d", n), "story "+word(n))
		s.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today")
	}
	if s.visit("/calendar/9999", "") {
		t.Error("the calendar is not delayed")
	}
	if !s.visit("/about/us", "we are") || !s.visit("/news/9999", "story") {
		t.Error("others are delayed")
	}
	s.drain(1000, nil)
	for n := range 300 {
		s.visit(fmt.Sprintf("/calendar/%d", 10_000+n), "event "+word(n))
	}
	if _, left := s.drain(1_000_000, nil); left > 0 {
		t.Errorf("%d are left out", left)
	}
	if !s.visit("/calendar/99999", "event") {
		t.Error("a calendar with events is delayed")
	}
}

// X3: memory is bounded, whatever names and paths a site chooses.
func TestX3_memoryIsBounded(t *testing.T) {
	w := NewDetector(Options{MemoryBytes: 1 << 20, Seed: 1})
	r := rand.New(rand.NewPCG(2, 2))
	var words Words
	for n := range 100_000 {
		g := w.GroupOf('s', fmt.Appendf(nil, "http://h%d.test", r.IntN(500)))
		path := fmt.Appendf(nil, "/%x/%x/%x?p%d=%d", r.Uint32(), r.Uint32(), r.Uint32(), n%30, n)
		w.NotePage(g, path, Page{Text: fmt.Appendf(nil, "<p>%x %x %x %x %x", r.Uint64(), r.Uint64(), r.Uint64(),
			r.Uint64(), n)}, &words)
		if n%1000 == 0 {
			if s := w.Stats(); s.Bytes > 1<<20+1<<18 {
				t.Fatalf("after %d pages: %+v", n, s)
			}
		}
	}
	if s := w.Stats(); s.Evicted == 0 || s.Groups == 0 {
		t.Errorf("%+v", s)
	}
}

// A resumed Detector has the same findings; invalid bytes are refused and change nothing.
func TestTheStateComesBack(t *testing.T) {
	s := newSite("http://a.test")
	for n := range 300 {
		s.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today")
		s.visit(fmt.Sprintf("/news/%d", n), "story "+word(n))
	}
	calendar := func(s *site) (fetched, left int) {
		return s.drain(1_000_000, func(path string) {
			var n int
			if _, err := fmt.Sscanf(path, "/calendar/%d", &n); err != nil {
				t.Fatal(err)
			}
			s.visit(fmt.Sprintf("/calendar/%d", n+300), "nothing happens here today")
		})
	}
	if fetched, left := calendar(s); fetched < 400 || left == 0 {
		t.Fatalf("%d fetched, %d left out", fetched, left)
	}
	state := s.w.AppendState(nil)
	again := newSite("http://a.test")
	if err := again.w.Load(state); err != nil {
		t.Fatal(err)
	}
	for n := range 1000 {
		if again.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today") {
			t.Fatal("the calendar is not delayed after a resume")
		}
		if !again.visit(fmt.Sprintf("/news/%d", n+300), "story "+word(n+300)) {
			t.Fatal("news is delayed after a resume")
		}
	}
	if fetched, _ := again.drain(1_000_000, nil); fetched > 0 {
		t.Errorf("after a resume %d of an endless calendar are fetched", fetched)
	}
	if more := again.w.AppendState([]byte("x")); len(more) < 2 || more[0] != 'x' {
		t.Errorf("a state of %d bytes", len(more))
	}
	for cut := range state {
		if err := newSite("").w.Load(state[:cut]); cut > 1 && err == nil {
			t.Errorf("%d bytes of %d are a state", cut, len(state))
		}
	}
}

// A number with thousands separators is one word, a date is three.
func TestNumbersAreWords(t *testing.T) {
	var w Words
	for text, want := range map[string]int{"entry 12,345 of 1.234.567": 4, "05.03.2031": 3, "12.99": 2,
		"1,23 4,5678": 4, "7'000": 1, "x,123": 2, ",123": 1} {
		if w.Read([]byte(text)); len(w.single)+len(w.figures) != want {
			t.Errorf("%s: %d words, want %d", text, len(w.single)+len(w.figures), want)
		}
	}
}

func TestKeysOfURLs(t *testing.T) {
	c := func(path string) []uint64 {
		c := chainOf(1, 99, []byte(path), false)
		return c.keys[:c.n]
	}
	for _, same := range [][2]string{
		{"/calendar/2024/x", "/calendar/1999/y.html"}, {"/?a=1&b=2", "/?b=3&a"}, {"/list/7/p?x", "/list/12/p?x=9"},
		{"", "/index.html"},
	} {
		if !slices.Equal(c(same[0]), c(same[1])) {
			t.Errorf("%s and %s are apart", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{"/a/x", "/b/x"}, {"/?a=1", "/?c=1"}, {"/a/?q", "/a/"}, {"/x?q", "/y?q"}} {
		if slices.Equal(c(other[0]), c(other[1])) {
			t.Errorf("%s and %s are one", other[0], other[1])
		}
	}
	if n := len(c("/1/2/3/4/5/6/7/8/9?a=b")); n != chainMax {
		t.Errorf("%d keys", n)
	}
}

// A slow page needs more new words.
func TestHostile_T06_slownessRaisesWhatIsWanted(t *testing.T) {
	count := func(took time.Duration) (allowed int) {
		s := newSite("http://slow.test")
		for n := range 1000 {
			path := fmt.Appendf(nil, "/maze/%d", n)
			if !s.w.ShouldDelay(s.g, path) {
				allowed++
				s.w.NotePage(s.g, path, Page{Text: fmt.Appendf(nil, "all the same but %s", word(n)), Duration: took}, &s.words)
			}
		}
		return allowed
	}
	if quick, slowly := count(time.Millisecond), count(time.Minute); quick != 1000 || slowly > 200 {
		t.Errorf("quick pages: %d, slow ones: %d", quick, slowly)
	}
}

// A parameter becomes irrelevant after several pages that were equal with another value, but not if it is the same page
// each time.
func TestHostile_T02_silentParametersAreLearnt(t *testing.T) {
	s := newSite("http://shop.test")
	page := func(n int) string { return fmt.Sprintf("this is page %s of the shop", word(n)) }
	for n := range 400 {
		s.visit(fmt.Sprintf("/p/%d?id=%d&SID=%x", n%40, n%40, n), page(n%40))
		s.visit(fmt.Sprintf("/item?no=%d", n), "there is no such item at all")
	}
	silent := s.w.IrrelevantParams(s.g)
	if silent == nil || !silent.Has([]byte("sid")) || silent.Has([]byte("id")) || silent.Has([]byte("no")) {
		t.Errorf("silent: %+v", silent)
	}
	if other := s.w.IrrelevantParams(s.w.GroupOf('s', []byte("http://other.test"))); other != nil {
		t.Errorf("of another site: %+v", other)
	}
}

// A parameter that was irrelevant for some pages and then changes others becomes relevant again.
func TestASilentParameterIsDisproved(t *testing.T) {
	s := newSite("http://shop.test")
	for n := range 200 {
		s.visit(fmt.Sprintf("/p/%d?view=%d", n%20, n), fmt.Sprintf("this is page %d of the shop", n%20))
	}
	if silent := s.w.IrrelevantParams(s.g); silent == nil || !silent.Has([]byte("view")) {
		t.Fatalf("silent: %+v", silent)
	}
	for n := range 8 {
		path := fmt.Sprintf("/p/%d?view=%d", n%20, 1000+n)
		s.w.NotePage(s.g, []byte(path), Page{Text: fmt.Appendf(nil, "the large view of item %d has more to say", n),
			WasDelayed: true}, &s.words)
	}
	if silent := s.w.IrrelevantParams(s.g); silent != nil {
		t.Errorf("silent yet: %+v", silent)
	}
}
