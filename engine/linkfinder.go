package engine

import (
	"bytes"
	"errors"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/parse"
	"orbweaver/engine/robots"
	"orbweaver/engine/sitemap"
	"orbweaver/engine/urlx"
)

// linkFinder reads the links of one page at a time into links, in normal form. Parse workers have one each; a resume
// has one to read the archive again.
type linkFinder struct {
	scanner *parse.Scanner
	decoder *fetch.Decoder
	o       linkOptions

	lists  *sitemap.Reader // nil until a sitemap came that the scanner does not read
	source bytes.Reader    // its body

	links      []byte            // see appendLink
	kinds      []parse.Kind      // of each of links; empty unless they are kept
	refused    refused           // references that are no URL we can fetch
	userinfo   int               // references with a user or a password, which are left out
	unfollowed int               // links that the follow filter refused
	dropped    int               // links beyond the number taken from one page
	budget     linkBudget        // of the page
	index      bool              // the page is an index of sitemaps
	shut       bool              // the page asks that its links be left alone, and that is obeyed
	encoding   fetch.DecodeFault // what is wrong with its content encoding
	body       []byte            // decoded, of a page that was searched for links; good until the next page. Borrowed
	base       []byte
	scratch    []byte
	whole      []byte // a link before it lost something

	via  filter.Via // the page at hand, for the follow filter
	page filter.Way // how it was reached
	way  filter.Way // how its links are
}

// linkOptions say which links are taken.
type linkOptions struct {
	nofollow bool         // obey rel=nofollow, meta robots and X-Robots-Tag
	forms    bool         // take the action of forms that only read
	tell     bool         // keep kinds
	sitemaps bool         // take what robots.txt files name, and read all that can be a sitemap
	longest  int          // bytes of a link; longer ones are refused. 0 for no limit but urlx.LengthMax
	strip    *urlx.Params // what links lose
	by       linkFilters
}

// linkFilters are the filters that a page and its links pass on their way to the door; nil where all pass.
type linkFilters struct {
	parse  *filter.Parse
	follow *filter.Follow
}

// linkPage is a page as the filters see it.
type linkPage struct {
	url  []byte
	page *fetch.Page // head
	way  filter.Way
	size int64 // of the payload
	cut  bool
}

func (c Config) linkOptions(by linkFilters) linkOptions {
	return linkOptions{nofollow: c.NoFollow, tell: c.WARC.tellsKinds(), forms: c.Forms, sitemaps: c.Sitemaps, longest: c.MaxURL, strip: c.params(), by: by}
}

func newLinkFinder(o linkOptions) *linkFinder {
	return &linkFinder{
		scanner: parse.NewScanner(parse.Options{Robot: robotsToken, Forms: o.forms}), decoder: fetch.NewDecoder(fetch.DecoderOptions{}), o: o,
	}
}

// again makes another one like it, after a panic left it in no good state.
func (l *linkFinder) again() *linkFinder { return newLinkFinder(l.o) }

// linksKept is how much memory for links is kept from page to page, in bytes: a sitemap has megabytes of them.
const linksKept = 1 << 20

func (l *linkFinder) reset() {
	if cap(l.links) > linksKept {
		l.links = nil
	}
	l.links, l.kinds, l.refused, l.userinfo, l.unfollowed, l.dropped = l.links[:0], l.kinds[:0], refused{}, 0, 0, 0
	l.index, l.shut, l.encoding = false, false, fetch.DecodeOK
	l.body = nil
	l.budget.open(0, 0)
}

// open begins with a page, and says whether it is to be searched for links. A redirect is none that is searched, nor is a
// robots.txt, so there the answer is of no interest.
func (l *linkFinder) open(from linkPage) bool {
	l.reset()
	if l.o.by == (linkFilters{}) {
		return true
	}
	r := filter.Response{Status: from.page.Status, ContentType: from.page.ContentType(), Size: from.size, Truncated: from.cut}
	l.page = from.way
	if l.o.by.follow != nil {
		l.o.by.follow.From(&l.via, from.url, &r)
	}
	return l.o.by.parse == nil || l.o.by.parse.Reads(from.url, from.way, &r)
}

// redirect takes the target of a redirect as the one link.
func (l *linkFinder) redirect(url, location []byte) {
	l.reset()
	l.way = filter.Way{Depth: l.page.Depth, Hops: l.page.Hops + 1}
	l.resolve(url, location, parse.Redirect, false)
}

// forbids says whether a response's header asks that its links be left alone, and that is obeyed. Unlike what the body says it
// is not part of the payload, so equal payloads may differ in it.
func (l *linkFinder) forbids(p *fetch.Page) bool {
	if !l.o.nofollow {
		return false
	}
	for value := range p.HeaderValues("x-robots-tag") {
		if robots.Tag(value, robotsToken)&robots.NoFollow != 0 {
			return true
		}
	}
	return false
}

// scan takes the links of a body, whatever the header says. If an index of sitemaps names the page, listed, another index leads nowhere.
func (l *linkFinder) scan(url []byte, p *fetch.Page, listed bool) {
	l.reset()
	body, fault := p.Decoded(l.decoder)
	l.encoding = fault
	l.budget.open(p.PayloadLen, int64(len(body)))
	if !l.listed(url, body, p) {
		l.scanPage(url, body, p)
	}
	if listed && l.index {
		l.links, l.kinds, l.refused, l.userinfo = l.links[:0], l.kinds[:0], refused{}, 0
	}
}

func (l *linkFinder) scanPage(url, body []byte, p *fetch.Page) {
	res, err := l.scanner.Scan(body, p.ContentType())
	if err != nil {
		return // bytes that cannot be read as text have no links
	}
	l.dropped, l.refused.foreign, l.refused.long = res.LinksDropped, res.LinksForeign, res.LinksLong
	l.body = body
	l.leadOn(res.Format == parse.SitemapXML && len(res.Links) > 0 && res.Links[0].Kind == parse.SitemapFile)
	if l.shut = l.o.nofollow && res.NoFollow; l.shut {
		return
	}
	base := url
	if len(res.Base) > 0 {
		if b, err := urlx.Resolve(l.base[:0], url, res.Base); err == nil {
			base, l.base = b, b
		}
	}
	for i := range res.Links {
		if link := &res.Links[i]; !l.o.nofollow || !link.NoFollow {
			l.resolve(base, link.Ref, link.Kind, link.NoFollow)
		}
	}
}

// refresh takes the target of a response's Refresh field, which a browser goes to as it does where a meta element says so. It comes behind
// scan, if there was one. As the field is not part of the payload, equal payloads may differ in it.
func (l *linkFinder) refresh(url []byte, p *fetch.Page) {
	value := p.Header(refreshField)
	if len(value) == 0 || l.shut {
		return
	}
	if ref := parse.RefreshTarget(value); len(ref) > 0 {
		l.leadOn(l.index)
		l.resolve(url, ref, parse.MetaRefresh, false)
	}
}

const refreshField = "refresh"

// leadOn notes whether the page is an index of sitemaps, and how its links are, therefore.
func (l *linkFinder) leadOn(index bool) {
	l.index = index
	l.way = filter.Way{Depth: leadsTo(&lead{depth: l.page.Depth, index: index}).Depth}
}

func (l *linkFinder) resolve(base, ref []byte, kind parse.Kind, nofollow bool) {
	if !l.budget.take() {
		return
	}
	url, err := urlx.Resolve(l.scratch[:0], base, ref)
	if err != nil {
		if errors.Is(err, urlx.ErrHost) {
			l.budget.misnamed(len(ref))
		}
		l.refuse(err)
		return
	}
	l.scratch = url
	l.budget.made(len(url))
	l.budget.named(urlx.Host(url))
	if urlx.HasUserinfo(ref) {
		l.userinfo++
	}
	if l.o.strip != nil {
		url = l.strip(url, base, kind)
	}
	if l.o.longest > 0 && len(url) > l.o.longest {
		l.refused.long++
		return
	}
	if by := l.o.by.follow; by != nil && !by.Follows(&l.via, filter.Link{URL: url, Way: l.way, Kind: kind.String(), NoFollow: nofollow}) {
		l.unfollowed++
		return
	}
	l.links = appendLink(l.links, url)
	if l.o.tell {
		l.kinds = append(l.kinds, kind)
	}
}

// refuse counts a reference that has no normal form.
func (l *linkFinder) refuse(why error) {
	switch {
	case errors.Is(why, urlx.ErrScheme):
		l.refused.foreign++
	case errors.Is(why, urlx.ErrTooLong):
		l.refused.long++
		l.budget.made(urlx.LengthMax)
	default:
		l.refused.syntax++
	}
}

// strip takes out of a link what links lose; not out of a redirect that would lead to where it comes from then.
func (l *linkFinder) strip(url, base []byte, kind parse.Kind) []byte {
	if kind == parse.Redirect {
		l.whole = append(l.whole[:0], url...)
	}
	url = l.o.strip.Strip(url)
	if kind == parse.Redirect && bytes.Equal(url, base) {
		return l.whole
	}
	return url
}

// leadsHome says that the links, of which a redirect has one, differ from the page's own URL in the query at most.
func (l *linkFinder) leadsHome(url []byte) bool {
	own, _, _ := bytes.Cut(url, []byte{'?'})
	home := len(l.links) > 0
	err := eachLink(l.links, func(link []byte) {
		to, _, _ := bytes.Cut(link, []byte{'?'})
		home = home && bytes.Equal(own, to)
	})
	return home && err == nil
}
