package links

import (
	"bytes"

	"orbweaver/engine/fetch"
	"orbweaver/engine/fetch/coding"
	"orbweaver/engine/filter"
	"orbweaver/engine/parse"
	"orbweaver/engine/queued"
	"orbweaver/engine/robots"
	"orbweaver/engine/robots/reading"
	"orbweaver/engine/sitemap"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// Sitemaps, if they are asked for (Config.Sitemaps), are pages like any other: what a robots.txt names goes through the
// door as it is found, waits for its turn, is archived, and its links go through the door again. The limits of the
// protocol hold for each file, and those of a page (the size of a body) as well: of what was cut off, nothing is known.
//
// A sitemap counts as no link on the way, so that what it names is one link from the page that made us ask for the
// robots.txt. An index may list sitemaps but no index: see queued.URL.ListedByIndex. A sitemap may list pages of any
// site; the scope decides about them, as it does about links.
//
// XML sitemaps that are found as links are read, too, whether sitemaps are asked for or not: see engine/parse.

// Lead is an attempt that may lead on.
type Lead struct {
	Outcome outcome.Outcome
	Depth   int
	Embeds  int
	Hops    int
	Robots  bool // of a robots.txt
	Listed  bool // an index of sitemaps names its URL
	Index   bool // and it is one
	// Speculative: see queued.URL
	Speculative bool
}

// LeadsTo is the item of what an attempt leads to. Its Embeds are those of the attempt: admission changes them for each
// link by its kind.
func LeadsTo(a *Lead) queued.URL {
	switch {
	case a.Robots:
		return queued.URL{Depth: a.Depth}
	case a.Outcome == outcome.Redirect:
		return queued.URL{
			Depth: a.Depth, Embeds: a.Embeds, Speculative: a.Speculative, Redirects: a.Hops + 1, ListedByIndex: a.Listed,
		}
	case a.Index:
		return queued.URL{Depth: a.Depth, ListedByIndex: true}
	}
	return queued.URL{Depth: a.Depth + 1, Embeds: a.Embeds}
}

// SitemapsOf takes the sitemaps that a robots.txt names, if it is known. o is the outcome of its exchange.
func (l *Finder) SitemapsOf(url []byte, p *fetch.Page, o outcome.Outcome, way filter.Way) {
	l.Reset()
	if !l.O.Sitemaps {
		return
	}
	ruling := reading.Of(p, o, 0, l.Decoder)
	if l.Encoding = ruling.Coding; ruling.Verdict != reading.Rules {
		return
	}
	l.Open(Page{URL: url, Page: p, Way: way})
	l.passage.way = filter.Way{Depth: LeadsTo(&Lead{Depth: way.Depth, Robots: true}).Depth}
	l.Encoding = ruling.Coding // Open forgets it
	l.Budget.Open(p.PayloadLen, int64(len(ruling.Body)))
	for _, s := range robots.Parse(ruling.Body, robots.Token).Sitemaps() {
		l.Resolve(url, []byte(s), parse.SitemapFile, false)
	}
}

// listed takes the links of a sitemap that a browser would show as text or save: a list of URLs, or any that is packed.
// It says whether the body was one.
func (l *Finder) listed(url, body []byte, p *fetch.Page) bool {
	if !l.O.Sitemaps || !isPacked(url, l.Type.Media) && !isList(body, l.Type.Media) {
		return false
	}
	lists := l.textLists.reader
	l.textLists.source.Reset(body)
	packed := bytes.HasPrefix(body, []byte("\x1F\x8B"))
	if packed && int64(len(body)) > packedLayer*p.PayloadLen {
		l.Encoding = coding.Layers
		return true // what is packed does not pack again: two such layers multiply what a byte of the wire can cost
	}
	lists.ResetLimit(&l.textLists.source, packedFree+packedRatio*int64(len(body)))
	kind := parse.Sitemap
	if l.leadOn(lists.Format() == sitemap.Index); l.Index {
		kind = parse.SitemapFile
	}
	for e, ok := lists.Next(); ok; e, ok = lists.Next() {
		if packed {
			l.Budget.grow(p.PayloadLen, lists.Unpacked())
		}
		l.Resolve(url, e.URL, kind, false)
	}
	sum := lists.Summary()
	l.Refused.Long += sum.Long
	l.textLists.source.Reset(nil)
	return sum.Format != sitemap.None
}

// A packed sitemap may unpack to so many bytes, as coding.Options has it for pages; the protocol's limit holds
// beside that.
const (
	packedFree  = 1 << 20
	packedRatio = 200
	// times its size on the wire: one that is packed again by a server does not grow by much when that is undone
	packedLayer = 4
)

// isPacked says whether a body may be a packed sitemap, by its type or its name. (It may also have been unpacked on the
// way.)
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
