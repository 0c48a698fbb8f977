package filter

import (
	"errors"
	"strings"
	"testing"
)

// scoreOf compiles an expression and returns the score of a link of a page about webs.
func scoreOf(t *testing.T, expression, url, anchor string) int {
	t.Helper()
	s, err := CompileScore(expression, nil)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	var page ScoredPage
	s.From(&page, []byte("http://www.a.test/x"), &Response{Status: 200, ContentType: []byte("text/html")})
	s.Read(&page, []byte("About Webs"), []byte("Webs of silk. WEBS of steel. B\u00fccher"), false)
	return s.Of(&page, Link{URL: []byte(url), Way: Way{Depth: 2}, Kind: "anchor"}, []byte(anchor), 15)
}

// A score knows the link, its text, and the page, in any case of letters.
func TestScore_knowsLinkAndPage(t *testing.T) {
	for expression, want := range map[string]int{
		`via_count("webs")`: 2, `via_count("WEBS")`: 2, `via_count("none")`: 0, `via_count("b\u00fccher")`: 1,
		`via_count("webs") + via_count("webs")`: 4, `anchor contains "orb weaver"`: 1, `anchor == "an orb weaver"`: 1,
		`via_title contains "webs" ? 7 : 1`: 7, `host == "b.test" and path == "/p"`: 1, `depth`: 2, `same_domain ? 9 : 3`: 3,
		`via_host == "www.a.test" && status == 200 ? 2.9 : 0`: 2, `100`: 15, `-3`: 0, `false`: 0, `1/0`: 0,
		`kind == "anchor" ? 5 : 0`: 5, `needs_render`: 0,
	} {
		if got := scoreOf(t, expression, "http://b.test/p", " An Orb Weaver "); got != want {
			t.Errorf("%s is %d, want %d", expression, got, want)
		}
	}
	if got := scoreOf(t, `same_domain ? 9 : 3`, "http://b.a.test/", ""); got != 9 {
		t.Errorf("of the same domain: %d", got)
	}
}

// Each page has its own words.
func TestScore_forgetsThePageBefore(t *testing.T) {
	s, err := CompileScore(`via_count("silk")`, nil)
	if err != nil {
		t.Fatal(err)
	}
	var page ScoredPage
	link := Link{URL: []byte("http://b.test/")}
	for _, c := range []struct {
		text string
		want int
	}{{"silk silk", 2}, {"", 0}, {"silk", 1}} {
		s.From(&page, []byte("http://a.test/"), &Response{})
		s.Read(&page, nil, []byte(c.text), false)
		if got := s.Of(&page, link, nil, 15); got != c.want {
			t.Errorf("%q has %d", c.text, got)
		}
	}
}

// What is no number, or could cost the text of the page for each link, is refused with the reason.
func TestScore_refusals(t *testing.T) {
	for expression, says := range map[string]string{
		`anchor`: "does not always yield a number", `url contains`: "unexpected token", `text > 2`: "knows url, site",
		`via_count(anchor)`: "a word that is written out", `via_count("")`: "a word that is written out",
		`via_count(path) + via_count("x")`: "a word that is written out", `size > 3`: "via_title, via_count",
		`len(map(["x"], via_count))`: "bad expression", `["a"] | map(via_count(#)) | len()`: "a word that is written out",
	} {
		_, err := CompileScore(expression, nil)
		if !errors.Is(err, ErrExpression) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// An evaluation that fails counts, and its link is the last one.
func TestScore_countsFailures(t *testing.T) {
	f, err := Compile(&Options{Score: `int(anchor)`}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var page ScoredPage
	f.Score.From(&page, []byte("http://a.test/"), &Response{})
	link := Link{URL: []byte("http://b.test/")}
	bad, good := f.Score.Of(&page, link, []byte("x"), 15), f.Score.Of(&page, link, []byte("3"), 15)
	if bad != 0 || good != 3 {
		t.Errorf("%d and %d", bad, good)
	}
	if f.Errors()["score"] != 1 {
		t.Errorf("%v", f.Errors())
	}
}

// A word counts where it is whole. Its borders are those of letters, digits and accents in any script.
func TestCountWord(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       int
	}{
		{"party start artful", "art", 0}, {"art", "art", 1}, {"art, (art) art-deco art's _art_ art.", "art", 6},
		{"art art art", "art", 3}, {"art2 2art art", "art", 1}, {"", "art", 0}, {"art", "", 0}, {"", "", 0},
		{"new york, new yorker, renew york", "new york", 1}, {"new  york", "new york", 0}, {"a b a b a", "a b a", 1},
		{"c++ c++11 c", "c++", 2}, {"1984 19840", "1984", 1}, {"-a-a", "-a", 2}, {"xa-a-a", "a-a", 1},
		{"\u00e9cole \u00e9coles d'\u00e9cole", "\u00e9cole", 2}, {"caf\u00e9 caf", "caf", 1}, {"cafe\u0301 cafe", "cafe", 1},
		{"\u043c\u0438\u0440 \u043c\u0438\u0440\u0430", "\u043c\u0438\u0440", 1}, // Russian
		{"\u6771\u4eac\u90fd \u6771\u4eac", "\u6771\u4eac", 2},                   // Japanese has no spaces
		{"a\u6771", "a", 1}, {"\xffart\xff", "art", 1}, {"\u0664\u0665 \u0664", "\u0664", 1},
	} {
		if got := countWord([]byte(c.text), []byte(c.word)); got != c.want {
			t.Errorf("%q has %q %d times, want %d", c.text, c.word, got, c.want)
		}
	}
}

// FuzzCountWord compares with the words between all other characters.
func FuzzCountWord(f *testing.F) {
	f.Add("party start art", "art")
	f.Add("\u00e9cole caf\u00e9", "caf\u00e9")
	f.Fuzz(func(t *testing.T, text, word string) {
		got, want := countWord([]byte(text), []byte(word)), 0
		if strings.ContainsFunc(word, func(r rune) bool { return !isOfWord(r) }) || word == "" {
			if got > strings.Count(text, word) || got < 0 {
				t.Errorf("%q has %q %d times", text, word, got)
			}
			return
		}
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isOfWord(r) }) {
			if part == word {
				want++
			}
		}
		if got != want {
			t.Errorf("%q has %q %d times, want %d", text, word, got, want)
		}
	})
}
