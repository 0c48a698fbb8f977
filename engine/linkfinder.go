package engine

import (
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/parse"
	"orbweaver/engine/urlx"
)

// linkFinder reads the links of one page at a time into links, in normal form. Parse workers have one each; a resume
// has one to read the archive again.
type linkFinder struct {
	scanner  *parse.Scanner
	decoder  *fetch.Decoder
	nofollow bool // obey rel=nofollow and meta robots
	by       linkFilters

	links      []byte // see appendLink
	refused    int    // references that are no URL
	unfollowed int    // links that the follow filter refused
	dropped    int    // links beyond the number taken from one page
	base       []byte
	scratch    []byte

	via  filter.Via // the page at hand, for the follow filter
	page filter.Way // how it was reached
	way  filter.Way // how its links are
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

func newLinkFinder(nofollow bool, by linkFilters) *linkFinder {
	return &linkFinder{
		scanner: parse.NewScanner(parse.Options{}), decoder: fetch.NewDecoder(fetch.DecoderOptions{}), nofollow: nofollow, by: by,
	}
}

// again makes another one like it, after a panic left it in no good state.
func (l *linkFinder) again() *linkFinder { return newLinkFinder(l.nofollow, l.by) }

func (l *linkFinder) reset() { l.links, l.refused, l.unfollowed, l.dropped = l.links[:0], 0, 0, 0 }

// open begins with a page, and says whether it is to be searched for links. A redirect is none that is searched, so there the
// answer is of no interest.
func (l *linkFinder) open(from linkPage) bool {
	l.reset()
	if l.by == (linkFilters{}) {
		return true
	}
	r := filter.Response{Status: from.page.Status, ContentType: from.page.ContentType(), Size: from.size, Truncated: from.cut}
	l.page = from.way
	if l.by.follow != nil {
		l.by.follow.From(&l.via, from.url, &r)
	}
	return l.by.parse == nil || l.by.parse.Reads(from.url, from.way, &r)
}

// redirect takes the target of a redirect as the one link.
func (l *linkFinder) redirect(url, location []byte) {
	l.reset()
	l.way = filter.Way{Depth: l.page.Depth, Hops: l.page.Hops + 1}
	l.resolve(url, location, nil)
}

// scan takes the links of a body.
func (l *linkFinder) scan(url []byte, p *fetch.Page) {
	l.reset()
	l.way = filter.Way{Depth: l.page.Depth + 1}
	body, _ := p.Decoded(l.decoder)
	res, err := l.scanner.Scan(body, p.ContentType())
	if err != nil {
		return // bytes that cannot be read as text have no links
	}
	l.dropped = res.LinksDropped
	if l.nofollow && res.NoFollow {
		return
	}
	base := url
	if len(res.Base) > 0 {
		if b, err := urlx.Resolve(l.base[:0], url, res.Base); err == nil {
			base, l.base = b, b
		}
	}
	for i := range res.Links {
		if link := &res.Links[i]; !l.nofollow || !link.NoFollow {
			l.resolve(base, link.Ref, link)
		}
	}
}

// resolve takes a reference, which is of a link, or of a redirect if that is nil.
func (l *linkFinder) resolve(base, ref []byte, link *parse.Link) {
	url, err := urlx.Resolve(l.scratch[:0], base, ref)
	if err != nil {
		l.refused++
		return
	}
	l.scratch = url
	if l.by.follow != nil && !l.follows(url, link) {
		l.unfollowed++
		return
	}
	l.links = appendLink(l.links, url)
}

func (l *linkFinder) follows(url []byte, link *parse.Link) bool {
	to := filter.Link{URL: url, Way: l.way, Kind: "redirect"}
	if link != nil {
		to.Kind, to.NoFollow = link.Kind.String(), link.NoFollow
	}
	return l.by.follow.Follows(&l.via, to)
}
