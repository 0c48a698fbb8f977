package parse

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/net/html"

	"orbweaver/internal/invariants"
)

// typicalPage returns a page of about 16 KiB with typical proportions: head, text, twenty links, and unused attributes.
func typicalPage() []byte {
	r := rand.New(rand.NewPCG(1, 1))
	words := []string{"orb", "weaver", "silk", "thread", "radius", "hub", "spiral", "capture", "frame", "anchor"}
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Of webs</title>\n" +
		"<link rel=\"stylesheet\" href=\"/css/main.css?v=3\"><script>var a = \"<a href='no'>\"; function f() { return " +
		"1 < 2; }</script></head><body>")
	for i := 0; b.Len() < 16<<10; i++ {
		fmt.Fprintf(&b, "<div class=\"row item-%d\" id=\"i%d\"><p>", i, i)
		for range 90 {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		fmt.Fprintf(&b, "<a class=\"link\" href=\"/articles/%d/page.html?x=1&amp;y=%d\">more</a> <img "+
			"src=\"/img/%d.png\" alt=\"\"></p></div>\n", i, i, i)
	}
	b.WriteString("</body></html>")
	return b.Bytes()
}

func BenchmarkScan(b *testing.B) {
	page, media := typicalPage(), []byte("text/html; charset=utf-8")
	s := NewScanner(Options{})
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if r, _ := s.Scan(page, media); len(r.Links) < 20 {
			b.Fatal(len(r.Links))
		}
	}
}

// BenchmarkDenseMarkup measures an ordinary page with almost no text.
func BenchmarkDenseMarkup(b *testing.B) {
	var page []byte
	for i := range 400 {
		page = fmt.Appendf(page, "<li class=\"n%d\"><a href=\"/p/%d\" title='t'>x</a></li>", i, i)
	}
	s := NewScanner(Options{})
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Scan(page, []byte("text/html; charset=utf-8"))
	}
}

// BenchmarkTokenizer is what the tokenizer of x/net takes to read the page of BenchmarkScan.
func BenchmarkTokenizer(b *testing.B) {
	page := typicalPage()
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		z := html.NewTokenizer(bytes.NewReader(page))
		for z.Next() != html.ErrorToken {
			for _, more := z.TagName(); more; {
				_, _, more = z.TagAttr()
			}
		}
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	page, media := typicalPage(), []byte("text/html; charset=utf-8")
	latin := append([]byte("<meta charset=iso-8859-1><a href='/\xE9?\xE9'>"), page...)
	s := NewScanner(Options{})
	for name, body := range map[string][]byte{"utf-8": page, "latin": latin} {
		header := media
		if name == "latin" {
			header = []byte("text/html")
		}
		if n := testing.AllocsPerRun(50, func() { _, _ = s.Scan(body, header) }); n != 0 && !invariants.Race {
			t.Errorf("%s: %v allocations for one page", name, n)
		}
	}
}
