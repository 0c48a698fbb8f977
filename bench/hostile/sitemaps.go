package hostile

import (
	"strconv"
	"strings"
)

// sitemaps are the cases of sitemaps that are too much.
func sitemaps() []Case {
	return []Case{
		{ID: "Z06", Robots: func(x *Exchange) {
			var b strings.Builder
			for _, path := range []string{
				"/self.xml", "/ring.xml", "/deep/1.xml", "/bomb.xml.gz", "/many.txt.gz", "/packed-twice.xml.gz",
			} {
				b.WriteString("Sitemap: http://" + x.Host + path + "\n")
			}
			x.Keep = x.Page("200 OK", "Content-Type: text/plain\r\n", b.String())
		}, Play: playSitemap},
	}
}

const sitemapSpace = " xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"

// index sends an index of sitemaps, and of a page that says that it was read.
func index(x *Exchange, paths ...string) {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?><sitemapindex" + sitemapSpace)
	for _, path := range paths {
		b.WriteString("<sitemap><loc>http://" + x.Host + path + "</loc></sitemap>")
	}
	b.WriteString("</sitemapindex>")
	x.Page("200 OK", "Content-Type: application/xml\r\n", b.String())
}

func playSitemap(x *Exchange) {
	const gz = okLine + "Content-Type: application/gzip\r\n\r\n"
	entry := func(path string) string { return "<url><loc>http://" + x.Host + path + "</loc></url>" }
	switch {
	case x.Path == "/self.xml":
		index(x, "/self.xml", "/self.xml?again", "/self.xml?and-again")
	case x.Path == "/ring.xml":
		index(x, "/ring2.xml", "/ring2.xml?2")
	case strings.HasPrefix(x.Path, "/ring2.xml"):
		index(x, "/ring.xml", "/ring.xml?2", "/ring.xml?3")
	case strings.HasPrefix(x.Path, "/deep/"): // each names another
		n, _ := strconv.Atoi(strings.TrimSuffix(x.Path[len("/deep/"):], ".xml")) // 0 for what is no number
		index(x, "/deep/"+strconv.Itoa(n+1)+".xml")
	case x.Path == "/bomb.xml.gz": // gigabytes of entries, all the same
		x.Write(gz)
		x.sendGzip("<?xml version=\"1.0\"?><urlset"+sitemapSpace+entry("/bomb/found"), 10<<10)
	case x.Path == "/many.txt.gz": // 60,000; 50,000 of them count
		x.Write(gz)
		var b strings.Builder
		for i := range 60_000 {
			b.WriteString("http://" + x.Host + "/many/" + strconv.Itoa(i) + "\n")
		}
		x.Write(packed(b.String()))
	case x.Path == "/packed-twice.xml.gz":
		x.Write(okLine + "Content-Type: application/gzip\r\nContent-Encoding: gzip\r\n\r\n" +
			wrapped("<?xml version=\"1.0\"?><urlset"+sitemapSpace+entry("/packed-twice/found")+"</urlset>", 2))
	default:
		x.HTML("<p>" + x.Path)
	}
}
