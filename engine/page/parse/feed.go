package parse

import (
	"bytes"

	"orbweaver/engine/page/sitemap"
	"orbweaver/internal/urlx"
)

// feedOptions are the limits for feeds and sitemaps in the body of a page: the number of links is for add to judge.
func feedOptions(o Options) sitemap.Options {
	return sitemap.Options{URLs: 10_000_000, Bytes: 1 << 40, URLMax: min(o.RefMax, 8<<10), Markup: true}
}

// feedMarkupMax is how many bytes of the HTML in a feed are searched for links.
const feedMarkupMax = 4 << 20

// A feed may have a base of kilobytes for each link. So the bytes of joined references are limited: joinedBase, and
// joinedBody for each byte of the body.
const (
	joinedBase = 64 << 10
	joinedBody = 8
)

// sitemapLinksMax is the most links of a sitemap that are taken: the limit of the protocol.
const sitemapLinksMax = 50_000

// rootMax is how many bytes of a body are searched for its root element.
const rootMax = 16 << 10

// scanFeed reports the links of a feed or a sitemap, if the body, which is XML, is one.
func (s *Scanner) scanFeed(body []byte) bool {
	links := &s.markup.elements.links
	s.feed.ResetBytes(body[:min(len(body), rootMax)])
	switch s.feed.Format() {
	case sitemap.Feed:
		links.res.Format = FeedFile
	case sitemap.Pages, sitemap.Index:
		links.res.Format = SitemapXML
		links.linksMax = max(links.linksMax, sitemapLinksMax)
	default:
		return false
	}
	if links.text.charset.decoder != nil {
		body = links.text.decodeWhole(body)
	}
	links.text.work += len(body)
	links.joinedRoom = joinedBase + joinedBody*len(body)
	markupRoom := feedMarkupMax
	s.feed.ResetBytes(body)
	for e, ok := s.feed.Next(); ok; e, ok = s.feed.Next() {
		if e.Kind == sitemap.Markup {
			inner := e.URL[:min(len(e.URL), markupRoom)]
			markupRoom -= len(inner)
			s.scanFeedMarkup(inner, e.Base)
			continue
		}
		ref, ok := links.join(e.Base, e.URL)
		if !ok {
			continue
		}
		links.text.asUTF8 = true
		if !plain(ref) {
			ref = links.text.toUTF8(ref)
		}
		links.add(feedKind(links.res.Format, e.Kind), links.text.keep(ref), false)
	}
	links.res.LinksLong += s.feed.Summary().Long
	return true
}

// join returns ref below base, which may be nil; ok is false if there is no room left for it. The link is counted then.
func (l *linkList) join(base, ref []byte) (joined []byte, ok bool) {
	if len(base) == 0 {
		return ref, true
	}
	if l.joinedRoom -= len(base) + len(ref); l.joinedRoom < 0 {
		l.res.LinksDropped++
		return nil, false
	}
	start := len(l.text.arena)
	l.text.arena = urlx.AppendJoined(l.text.arena, base, ref)
	return l.text.arena[start:len(l.text.arena):len(l.text.arena)], true
}

// scanFeedMarkup reports the links of an element of a feed that may have HTML: in CDATA sections, in text with
// references, or as elements of XHTML. The text of a feed is none of a page.
func (s *Scanner) scanFeedMarkup(inner, base []byte) {
	markup, links := &s.markup, &s.markup.elements.links
	links.text.work += len(inner)
	from := len(links.res.Links)
	const begin, end = "<![CDATA[", "]]>"
	for len(inner) > 0 {
		piece, rest, found := bytes.Cut(inner, []byte(begin))
		if bytes.IndexByte(piece, '<') >= 0 {
			markup.scanHidden(piece, true)
		} else if doc := links.text.decode(piece, false); bytes.IndexByte(doc, '<') >= 0 {
			markup.scanHidden(doc, false)
		}
		if !found {
			break
		}
		if piece, inner, _ = bytes.Cut(rest, []byte(end)); bytes.IndexByte(piece, '<') >= 0 {
			markup.scanHidden(piece, false)
		}
	}
	if len(base) == 0 {
		return
	}
	kept := links.res.Links[:from]
	for _, l := range links.res.Links[from:] {
		ref, ok := links.join(base, l.Ref)
		switch {
		case !ok:
		case len(ref) > links.o.RefMax:
			links.res.LinksLong++
		default:
			l.Ref = ref
			kept = append(kept, l)
		}
	}
	links.res.Links = kept
}

// feedKind says what an entry is to a crawl.
func feedKind(format Format, k sitemap.Kind) Kind {
	switch {
	case k == sitemap.Sitemap:
		return SitemapFile
	case k == sitemap.Resource:
		return Media
	case k == sitemap.Related:
		return LinkRel
	case format == SitemapXML:
		return Sitemap
	}
	return Feed
}

// beginsFeed reports whether a body that is declared as HTML is a feed or sitemap; this is a common error.
func beginsFeed(body []byte) bool {
	head := bytes.TrimPrefix(body[:min(len(body), rootMax)], []byte("\xEF\xBB\xBF"))
	for {
		for len(head) > 0 && class[head[0]]&isSpace != 0 {
			head = head[1:]
		}
		if len(head) < 2 || head[0] != '<' {
			return false
		}
		switch head[1] {
		case '!':
			if !bytes.HasPrefix(head, []byte("<!--")) {
				return false
			}
			head = head[after(head, 4, "-->"):]
		case '?':
			head = head[after(head, 2, "?>"):]
		case 'r', 'f', 'u', 's':
			return beginsWithFeed(head)
		default:
			return false
		}
	}
}

// beginsWithFeed says whether the next tag is the root of a feed or of a sitemap.
func beginsWithFeed(head []byte) bool {
	for _, root := range feedRoots {
		if end := 1 + len(root); end < len(head) && string(head[1:end]) == root && class[head[end]]&endsTag != 0 {
			return true
		}
	}
	return false
}

// feedRoots are the root elements by which feeds and sitemaps are known when they are called HTML.
var feedRoots = [...]string{"rss", "feed", "rdf:RDF", "urlset", "sitemapindex"}
