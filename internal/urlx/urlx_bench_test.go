package urlx

import "testing"

// typicalLinks are references as in an ordinary page.
var typicalLinks = []string{
	"/", "/about", "/news/2026/11/21/some-long-headline-about-nothing.html", "article.php?id=4711&lang=en",
	"../images/logo.png", "./style.css", "#top", "?page=2", "https://www.example.org/", "//cdn.example.net/lib/app.min.js",
	"https://twitter.example.com/share?url=https%3A%2F%2Fexample.com%2Fa&text=Hello%20world", "/tag/crawling/page/12/",
	"http://blog.example.com/2025/01/a_post", "/search?q=web+crawler&sort=date", "contact.html",
	"/static/js/main.8f3ab2.js",
	"https://en.example.org/wiki/Web_crawler#History", "/user/42/profile", "/a/b/../c/./d.html", "/favicon.ico",
}

const benchBase = "https://www.example.com/news/2026/index.html?x=1"

func BenchmarkResolveAndFingerprint(b *testing.B) {
	base, dst := []byte(benchBase), make([]byte, 0, LengthMax)
	refs := make([][]byte, len(typicalLinks))
	for i, l := range typicalLinks {
		refs[i] = []byte(l)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, ref := range refs {
			url, err := Resolve(dst, base, ref)
			if err != nil {
				b.Fatal(err)
			}
			_ = Fingerprint(1, url)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(refs)), "ns/link")
}

func BenchmarkResolve(b *testing.B) {
	for name, ref := range map[string]string{
		"absolute path": "/news/2026/11/21/some-long-headline-about-nothing.html",
		"absolute URL":  "https://en.example.org/wiki/Web_crawler",
		"relative":      "../images/logo.png", "query": "?page=2", "odd": "HTTP://user@ex\u00e4mple.com:80\\p\tq r",
	} {
		b.Run(name, func(b *testing.B) {
			base, dst, ref := []byte(benchBase), make([]byte, 0, LengthMax), []byte(ref)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Resolve(dst, base, ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSURT(b *testing.B) {
	url, dst := []byte("https://www.example.com/news/2026/11/Article.html?id=4711&Lang=en"), make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		_ = SURT(dst, url)
	}
}
