package engine

import (
	"bytes"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/outcome"
	"orbweaver/engine/parse"
	"orbweaver/engine/robots"
	"orbweaver/engine/sitemap"
	"orbweaver/engine/urlx"
)

// Sitemaps, if they are asked for (Config.Sitemaps), are pages like any other: what a robots.txt names goes through the door as
// it is found, waits for its turn, is archived, and its links go through the door again. The limits of the protocol hold for each
// file, and those of a page (the size of a body) as well: of what was cut off, nothing is known.
//
// A sitemap counts as no link on the way, so that what it names is one link from the page that made us ask for the robots.txt. An
// index may name sitemaps and no index: the item of what an index names says so (Item.Listed), and an index there leads nowhere. A
// sitemap may name pages of any site, since no more is taken from it than from a page with a link there: the scope says what follows.
//
// XML sitemaps that are found as links are read, too, whether sitemaps are asked for or not: see engine/parse.

// lead is an attempt that may lead on.
type lead struct {
	outcome outcome.Outcome
	depth   int
	hops    int
	robots  bool // of a robots.txt
	listed  bool // an index of sitemaps names its URL
	index   bool // and it is one
}

// leadsTo is the item of what an attempt leads to.
func leadsTo(a *lead) Item {
	switch {
	case a.robots:
		return Item{Depth: a.depth}
	case a.outcome == outcome.Redirect:
		return Item{Depth: a.depth, Hops: a.hops + 1, Listed: a.listed}
	case a.index:
		return Item{Depth: a.depth, Listed: true}
	}
	return Item{Depth: a.depth + 1}
}

// sitemapsOf takes the sitemaps that a robots.txt names.
func (l *linkFinder) sitemapsOf(url []byte, p *fetch.Page, way filter.Way) {
	l.reset()
	if !l.o.sitemaps {
		return
	}
	l.open(linkPage{url: url, page: p, way: way})
	l.way = filter.Way{Depth: leadsTo(&lead{depth: way.Depth, robots: true}).Depth}
	body, fault := p.Decoded(l.decoder)
	l.encoding = fault
	l.budget.open(p.PayloadLen, int64(len(body)))
	for _, s := range robots.Parse(body, robotsToken).Sitemaps() {
		l.resolve(url, []byte(s), parse.SitemapFile, false)
	}
}

// listed takes the links of a sitemap that a browser would show as text or save: a list of URLs, or any that is packed. It says
// whether the body was one.
func (l *linkFinder) listed(url, body []byte, p *fetch.Page) bool {
	if !l.o.sitemaps || !isPacked(url, p.ContentType()) && !isList(body, p.ContentType()) {
		return false
	}
	if l.lists == nil {
		l.lists = sitemap.NewReader(sitemap.Options{})
	}
	l.source.Reset(body)
	packed := bytes.HasPrefix(body, []byte("\x1F\x8B"))
	if packed && int64(len(body)) > packedLayer*p.PayloadLen {
		l.encoding = fetch.DecodeLayers
		return true // what is packed does not pack again: two such layers multiply what a byte of the wire can cost
	}
	l.lists.ResetLimit(&l.source, packedFree+packedRatio*int64(len(body)))
	kind := parse.Sitemap
	if l.leadOn(l.lists.Format() == sitemap.Index); l.index {
		kind = parse.SitemapFile
	}
	for e, ok := l.lists.Next(); ok; e, ok = l.lists.Next() {
		if packed {
			l.budget.grow(p.PayloadLen, l.lists.Unpacked())
		}
		l.resolve(url, e.URL, kind, false)
	}
	sum := l.lists.Summary()
	l.refused.long += sum.Long
	l.source.Reset(nil)
	return sum.Format != sitemap.None
}

// A packed sitemap may unpack to so many bytes, as fetch.DecoderOptions has it for pages; the protocol's limit holds beside that.
const (
	packedFree  = 1 << 20
	packedRatio = 200
	packedLayer = 4 // times its size on the wire: one that is packed again by a server does not grow by much when that is undone
)

// isPacked says whether a body may be a packed sitemap, by its type or its name. (It may also have been unpacked on the way.)
func isPacked(url, contentType []byte) bool {
	_, path := urlx.Split(url)
	path, _, _ = bytes.Cut(path, []byte("?"))
	return mediaIs(contentType, "application/gzip") || mediaIs(contentType, "application/x-gzip") ||
		bytes.HasSuffix(path, []byte(".xml.gz")) || bytes.HasSuffix(path, []byte(".txt.gz"))
}

// isList says whether a body may be a list of URLs: text that begins with one.
func isList(body, contentType []byte) bool {
	if !mediaIs(contentType, "text/plain") {
		return false
	}
	body = bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 1024)], []byte("\xEF\xBB\xBF")), " \t\r\n")
	return bytes.HasPrefix(body, []byte("http://")) || bytes.HasPrefix(body, []byte("https://"))
}

// mediaIs says whether a Content-Type has this media type, which is in lower case.
func mediaIs(contentType []byte, media string) bool {
	head, _, _ := bytes.Cut(contentType, []byte(";"))
	return bytes.EqualFold(bytes.TrimSpace(head), []byte(media))
}
