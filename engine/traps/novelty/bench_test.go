package novelty

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchPages returns n pages of 16 KiB, a third of it text.
func benchPages(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 1))
	pages := make([][]byte, n)
	for i := range pages {
		var b bytes.Buffer
		fmt.Fprintf(&b, "<html><head><title>page %d</title><script>%s</script></head><body>", i,
			bytes.Repeat([]byte("var x = 1;\n"), 200))
		for b.Len() < 16<<10 {
			b.WriteString("<div class=\"item item-large\"><a class=\"link link-more\" href=\"/some/where/over/the/rainbow\">")
			for range 8 {
				fmt.Fprintf(&b, "%s ", word(r.IntN(4000)))
			}
			b.WriteString("</a></div>\n")
		}
		pages[i] = b.Bytes()
	}
	return pages
}

// The cost of reading the words of a page of 16 KiB.
func BenchmarkWords(b *testing.B) {
	pages := benchPages(64)
	var w Words
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Read(pages[i%len(pages)])
	}
	b.ReportMetric(float64(len(w.single)), "words/page")
}

// The cost of ShouldDelay for a URL and of NotePage for a page, for sites whose pages are new.
func BenchmarkWatch(b *testing.B) {
	pages := benchPages(512)
	var paths [][]byte
	for i := range 1024 {
		paths = append(paths, fmt.Appendf(nil, "/section%d/2024/article-%d.html", i%7, i))
	}
	for _, what := range []string{"delays", "weigh", "weigh-all"} {
		b.Run(what, func(b *testing.B) {
			w := NewDetector(Options{Seed: 1})
			g := w.GroupOf('s', []byte("http://a.test"))
			var words Words
			for i := range 4096 {
				w.NotePage(g, paths[i%len(paths)], Page{Text: fmt.Appendf(nil, "new%s", word(i))}, &words)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				switch what {
				case "delays":
					w.ShouldDelay(g, paths[i%len(paths)])
				case "weigh":
					w.NotePage(g, paths[i%len(paths)], Page{Text: append(pages[i%len(pages)], " x"+word(i)...)}, &words)
				default:
					words.Read(pages[i%len(pages)])
					s := w.shard(g)
					s.words.addAll(uint64(g), &words)
					words.isNew(1, paths[i%len(paths)], nil)
				}
			}
		})
	}
}
