package novelty

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var large = flag.Int("large", 40_000, "pages of the large honest site")

// site asks a Watch as an engine does: first whether a URL is wanted, then what its page brought.
type site struct {
	w     *Watch
	g     Group
	words Words
}

func newSite(name string) *site {
	w := NewWatch(Options{Seed: 7})
	return &site{w: w, g: w.GroupOf('s', []byte(name))}
}

func (s *site) visit(path, text string) bool {
	if !s.w.Allows(s.g, []byte(path)) {
		return false
	}
	s.w.Weigh(s.g, []byte(path), Page{Text: []byte(text)}, &s.words)
	return true
}

// X1: a site with very many pages loses none, be they long or short, in many folders or one; nor if half of them are copies.
func TestX1_aLargeHonestSiteLosesNothing(t *testing.T) {
	for _, copies := range []int{0, 2} { // one of so many is none
		s := newSite("http://large.test")
		r := rand.New(rand.NewPCG(1, 1))
		words := make([]string, 8000)
		for i := range words {
			words[i] = fmt.Sprintf("w%x", i*2654435761%1_000_003)
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
		t.Logf("%d pages, one of %d a copy: %d lost", *large, copies, lost)
		if lost > 0 {
			t.Errorf("%d of %d pages are lost", lost, *large)
		}
		if silent := s.w.Silent(s.g); silent != nil {
			t.Errorf("parameters are taken for silent: %+v", silent)
		}
	}
}

// X2: repetition without an end costs the evidence, the credit and what was earned.
func TestX2_repetitionIsAllowedNoMoreThanItsBudget(t *testing.T) {
	for name, path := range map[string]func(n int) string{
		"one folder": func(n int) string { return fmt.Sprintf("/calendar/%d/%d", n/12, n%12) },
		"many folders": func(n int) string {
			return fmt.Sprintf("/%c%c/%c%c/x", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26, 'a'+n/17576%26)
		},
		"many queries":   func(n int) string { return fmt.Sprintf("/search?%c%c=%d&%c=1", 'a'+n%26, 'a'+n/26%26, n, 'a'+n/676%26) },
		"one below many": func(n int) string { return fmt.Sprintf("/shop/%c%c%c/x", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26) },
	} {
		s := newSite("http://trap.test")
		allowed := 0
		for n := range 50_000 {
			if s.visit(path(n), "nothing happens here today") {
				allowed++
			}
		}
		t.Logf("%s: %d of 50000", name, allowed)
		if most := warmth + evidence + creditNew + 50_000/gapMin/100; allowed > most {
			t.Errorf("%s: %d are allowed, more than %d", name, allowed, most)
		}
	}
}

// A part of a site that is found poor does not speak for the others, and comes back when it has something new to say.
func TestAPoorPartSpeaksForItselfAndMayRecover(t *testing.T) {
	s := newSite("http://a.test")
	for n := range 2000 {
		s.visit(fmt.Sprintf("/news/%d", n), fmt.Sprintf("story %d", n))
		s.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today")
	}
	if s.visit("/calendar/9999", "") && s.visit("/calendar/9998", "") {
		t.Error("the calendar is asked for yet")
	}
	if !s.visit("/about/us", "we are") || !s.visit("/news/9999", "story") {
		t.Error("others suffer")
	}
	brought := 0
	for n := range 100_000 {
		if s.visit(fmt.Sprintf("/calendar/%d", 10_000+n), fmt.Sprintf("event %d", n)) {
			brought++
		}
	}
	if brought < 50_000 {
		t.Errorf("a calendar with events is asked for %d times", brought)
	}
}

// X3: whoever chooses names and paths, memory is bounded.
func TestX3_memoryIsBounded(t *testing.T) {
	w := NewWatch(Options{MemoryBytes: 1 << 20, Seed: 1})
	r := rand.New(rand.NewPCG(2, 2))
	var words Words
	for n := range 100_000 {
		g := w.GroupOf('s', fmt.Appendf(nil, "http://h%d.test", r.IntN(500)))
		path := fmt.Appendf(nil, "/%x/%x/%x?p%d=%d", r.Uint32(), r.Uint32(), r.Uint32(), n%30, n)
		w.Weigh(g, path, Page{Text: fmt.Appendf(nil, "<p>%x %x %x %x %x", r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), n)}, &words)
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

// What was found is found again after a resume; of bytes that are no state nothing is taken.
func TestTheStateComesBack(t *testing.T) {
	s := newSite("http://a.test")
	for n := range 300 {
		s.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today")
		s.visit(fmt.Sprintf("/news/%d", n), fmt.Sprintf("story %d", n))
	}
	state := s.w.AppendState(nil)
	again := newSite("http://a.test")
	if err := again.w.Load(state); err != nil {
		t.Fatal(err)
	}
	allowed := 0
	for n := range 1000 {
		if again.visit(fmt.Sprintf("/calendar/%d", n), "nothing happens here today") {
			allowed++
		}
		if !again.visit(fmt.Sprintf("/news/%d", n+300), fmt.Sprintf("story %d", n+300)) {
			t.Fatal("news is refused after a resume")
		}
	}
	if allowed > creditNew+8 {
		t.Errorf("after a resume %d are allowed", allowed)
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

func TestKeysOfURLs(t *testing.T) {
	c := func(path string) []uint64 {
		c := chainOf(1, 99, []byte(path))
		return c.keys[:c.n]
	}
	for _, same := range [][2]string{
		{"/calendar/2024/x", "/calendar/1999/y.html"}, {"/?a=1&b=2", "/?b=3&a"}, {"/list/7/p?x", "/list/12/p?x=9"}, {"", "/index.html"},
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

// A page that took its time has to say more.
func TestHostile_T06_slownessRaisesWhatIsWanted(t *testing.T) {
	count := func(took time.Duration) (allowed int) {
		s := newSite("http://slow.test")
		for n := range 1000 {
			path := fmt.Appendf(nil, "/maze/%d", n)
			if s.w.Allows(s.g, path) {
				allowed++
				s.w.Weigh(s.g, path, Page{Text: fmt.Appendf(nil, "all the same but %d", n), Took: took}, &s.words)
			}
		}
		return allowed
	}
	if quick, slowly := count(time.Millisecond), count(time.Minute); quick != 1000 || slowly > 200 {
		t.Errorf("quick pages: %d, slow ones: %d", quick, slowly)
	}
}

// A parameter is taken for silent after several pages that were the same with another value of it, and not if one page stays the same
// under all of them.
func TestHostile_T02_silentParametersAreLearnt(t *testing.T) {
	s := newSite("http://shop.test")
	page := func(n int) string { return fmt.Sprintf("this is page %d of the shop", n) }
	for n := range 400 {
		s.visit(fmt.Sprintf("/p/%d?id=%d&SID=%x", n%40, n%40, n), page(n%40))
		s.visit(fmt.Sprintf("/item?no=%d", n), "there is no such item at all")
	}
	silent := s.w.Silent(s.g)
	if silent == nil || !silent.Has([]byte("sid")) || silent.Has([]byte("id")) || silent.Has([]byte("no")) {
		t.Errorf("silent: %+v", silent)
	}
	if other := s.w.Silent(s.w.GroupOf('s', []byte("http://other.test"))); other != nil {
		t.Errorf("of another site: %+v", other)
	}
}

func FuzzWeigh(f *testing.F) {
	f.Add("/a/b?c=d;e&&=;x", "<p>text<img src='x'><script>a</script><!-- x -->", uint8(3))
	f.Add(";;;?&=", "<img src=<style", uint8(200))
	f.Fuzz(func(t *testing.T, path, text string, times uint8) {
		w := NewWatch(Options{MemoryBytes: 1 << 18, Seed: 3})
		g := w.GroupOf('s', []byte("http://a.test"))
		var words Words
		for i := range int(times) {
			p := []byte(fmt.Sprint(path, i%3))
			w.Allows(g, p)
			w.Weigh(g, p, Page{Text: []byte(text), Known: i%5 == 4}, &words)
			w.Silent(g)
			w.Spent(g)
		}
		if err := NewWatch(Options{}).Load(w.AppendState(nil)); err != nil {
			t.Error(err)
		}
		_ = NewWatch(Options{}).Load([]byte(text)) // whatever it says
	})
}
