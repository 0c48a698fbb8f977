package links

import (
	"bytes"
	"errors"
	"io"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/engine/page/sitemap"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// Sitemaps, if they are asked for (Config.Sitemaps), are pages like any other: what a robots.txt names passes
// admission, waits its turn, is archived, and its links pass admission, too. The limits of the protocol hold for
// each file, and those of a page (the size of a body) as well: of what was cut off, nothing is known. What a
// robots.txt or an index calls a sitemap is read by its bytes alone, whatever its type and its name are.
//
// A sitemap counts as no link on the way, so that what it names is one link from the page that made us ask for the
// robots.txt. An index may list sitemaps but no index: see queued.URL.ListedByIndex. A sitemap may list pages of any
// site; the scope decides about them, as it does about links.
//
// XML sitemaps that are found as links are read, too, whether sitemaps are asked for or not: see engine/page/parse.

// Lead is an attempt that may lead on.
type Lead struct {
	Outcome outcome.Outcome
	Depth   int
	Embeds  int
	Hops    int
	Robots  bool // of a robots.txt
	Sitemap bool // a robots.txt or an index calls it a sitemap
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
			Depth: a.Depth, Embeds: a.Embeds, Speculative: a.Speculative, Redirects: a.Hops + 1,
			Sitemap: a.Sitemap, ListedByIndex: a.Listed,
		}
	case a.Index:
		return queued.URL{Depth: a.Depth, Sitemap: a.Sitemap, ListedByIndex: true}
	}
	return queued.URL{Depth: a.Depth + 1, Embeds: a.Embeds, Sitemap: a.Sitemap}
}

// SitemapsOf takes the sitemaps that a robots.txt names, if it is known. o is the outcome of its exchange.
func (l *Finder) SitemapsOf(url []byte, p *fetch.Page, o outcome.Outcome, way filter.Way) {
	l.Reset()
	if !l.O.Sitemaps {
		return
	}
	ruling := robotsanswer.Of(p, o, 0, l.Decoder)
	if l.Encoding = ruling.Coding; ruling.Verdict != robotsanswer.Rules {
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

// listed takes the links of a sitemap: of a file that a robots.txt or an index calls one, whatever its type is. It also
// takes those of one that a browser would show as text or save: a list of URLs, or any that is packed. It says whether
// the body was one.
func (l *Finder) listed(url, body []byte, p *fetch.Page, called queued.Called) bool {
	if !l.O.Sitemaps || !called.Sitemap && !isPacked(url, l.Type.Media) && !isList(body, l.Type.Media) {
		return false
	}
	packed := bytes.HasPrefix(body, []byte("\x1F\x8B"))
	if packed && int64(len(body)) > packedLayer*p.PayloadLen {
		l.Encoding = coding.Layers
		return true // what is packed does not pack again: two such layers multiply what a byte of the wire can cost
	}
	lists := l.textLists.reader
	l.textLists.source.Reset(body)
	lists.ResetFile(&l.textLists.source, &sitemap.File{
		Bytes: packedFree + packedRatio*int64(len(body)), Layer: packedLayer * p.PayloadLen,
		Text: func(start []byte) func(io.Reader) io.Reader { return l.scanner.UTF8Reader(start, l.Type.Media) },
	})
	l.leadOn(lists.Format() == sitemap.Index)
	for e, ok := lists.Next(); ok; e, ok = lists.Next() {
		if packed {
			l.Budget.grow(p.PayloadLen, lists.Unpacked())
		}
		l.Resolve(url, e.URL, entryKind(e.Kind), false)
	}
	sum := lists.Summary()
	if l.Refused.Long += sum.Long; errors.Is(sum.Err, sitemap.ErrLayer) {
		l.Encoding = coding.Layers
	}
	l.textLists.source.Reset(nil)
	l.IsNoSitemap = called.Sitemap && sum.Format == sitemap.None
	return sum.Format != sitemap.None
}

// entryKind is what an entry of a sitemap is to a crawl.
func entryKind(k sitemap.Kind) parse.Kind {
	switch k {
	case sitemap.Sitemap:
		return parse.SitemapFile
	case sitemap.Resource:
		return parse.Media
	case sitemap.Related:
		return parse.LinkRel
	default:
		return parse.Sitemap
	}
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
