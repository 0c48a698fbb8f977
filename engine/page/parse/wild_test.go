package parse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// wild writes badly nested markup: HTML, SVG and MathML in each other, end tags without start tags, tables with invalid
// content, raw text, escapes in scripts, NULs, and unclosed quotes.
func (s *soup) wild() {
	for range 1 + s.IntN(14) {
		switch s.IntN(12) {
		case 0, 1, 2:
			s.links++
			fmt.Fprintf(&s.b, "<%s %s=%s/p%d%s", s.pick("a", "area", "img", "iframe", "image", "td", "video", "embed"),
				s.pick("href", "src", "href", "SRC", "xlink:href"), s.pick("", "", "", "\"", "'"), s.links,
				s.pick("", "", "", "\"", "'", "\x00"))
			s.b.WriteString(s.pick(">", ">", ">", ">", ">", " />", "", " x", "<a"))
		case 3, 4:
			s.b.WriteString("<" + s.pick("svg", "math", "foreignObject", "desc", "title", "mi", "mtext",
				"annotation-xml", "g", "annotation-xml encoding=text/html") +
				s.pick(">", ">", ">", "/>"))
		case 5, 6:
			s.b.WriteString("</" + s.pick("svg", "math", "foreignObject", "desc", "title", "mi", "annotation-xml", "p",
				"div", "table", "a", "b", "br", "body", "html") + ">")
		case 7:
			s.b.WriteString("<" + s.pick("p", "div", "table", "tr", "td", "b", "i", "ul", "li", "center", "h1", "font",
				"font color=x", "noscript", "form", "body", "head", "html") + ">")
		case 8:
			s.raw("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "script")
		case 9:
			s.b.WriteString(s.pick("<![CDATA[", "]]>", "<![CDATA[<a href=/c>]]>", "<template>", "</template>", "<!--",
				"-->", "--!>"))
		case 10:
			s.b.WriteString(s.pick("\x00", "<a\x00href=/n>", "<\x00a href=/n>", "<a href=/\x00>", "\"", "'",
				"<a title=\"", "<a title='", "<plaintext", "é"))
		default:
			s.text()
		}
		if s.IntN(3) == 0 {
			s.links++
			fmt.Fprintf(&s.b, "<area href=/p%d>", s.links)
		}
	}
}

// TestWildSoupAgreesWithTokenizer: without foreign content, the tokenizer decides alone.
func TestWildSoupAgreesWithTokenizer(t *testing.T) {
	s := NewScanner(Options{})
	held := 0
	for seed := range uint64(10 * soups()) {
		w := soup{Rand: rand.New(rand.NewPCG(seed, 3))}
		w.wild()
		body := w.b.String()
		if folded := strings.ToLower(body); strings.Contains(folded, "<svg") || strings.Contains(folded, "<math") {
			continue
		}
		agree(t, s, []byte(body))
		held++
	}
	if t.Logf("%d bodies", held); held < 3*soups() {
		t.Errorf("only %d bodies: the test has lost its teeth", held)
	}
}

// TestWildSoupAgainstTreeBuilder: the scanner builds no tree. The test limits how often it finds other links than a
// browser, in bodies made to be misread.
func TestWildSoupAgainstTreeBuilder(t *testing.T) {
	s := NewScanner(Options{})
	bodies, odd, found, extra, missing := 0, 0, 0, 0, 0
	for seed := range uint64(5 * soups()) {
		w := soup{Rand: rand.New(rand.NewPCG(seed, 4))}
		w.b.WriteString("<!doctype html><body>")
		w.wild()
		// what stands in these two is a document to us, and text to the tree
		body := []byte(strings.NewReplacer("noframes", "xmp", "noembed", "xmp").Replace(w.b.String()))
		want, got := parserLinks(t, body), map[string]bool{}
		more, less := 0, 0
		for _, ref := range scannedLinks(t, s, body) {
			if got[ref] = true; !want[ref] {
				more++
			}
		}
		for ref := range want {
			if !got[ref] {
				less++
			}
		}
		bodies, found, extra, missing = bodies+1, found+len(want), extra+more, missing+less
		if more+less > 0 {
			if odd++; odd <= 40 && testing.Verbose() {
				t.Logf("seed %d: %q\n a browser %v\n we        %v", seed, body, want, got)
			}
		}
	}
	t.Logf("%d of %d bodies differ; of %d links %d are missing and %d are more", odd, bodies, found, missing, extra)
	if found < bodies || odd*1000 > bodies {
		t.Errorf("one body in a thousand may differ, and they must hold links")
	}
}
