package engine

import (
	"orbweaver/engine/fetch"
	"orbweaver/engine/parse"
	"orbweaver/engine/urlx"
)

// linkFinder reads the links of one page at a time into links, in normal form. Parse workers have one each; a resume
// has one to read the archive again.
type linkFinder struct {
	scanner  *parse.Scanner
	decoder  *fetch.Decoder
	nofollow bool // obey rel=nofollow and meta robots
	tell     bool // keep kinds

	links   []byte     // see appendLink
	kinds   []linkKind // of each of links; empty unless they are kept
	refused int        // references that are no URL
	dropped int        // links beyond the number taken from one page
	base    []byte
	scratch []byte
}

func newLinkFinder(nofollow, tell bool) *linkFinder {
	return &linkFinder{
		scanner: parse.NewScanner(parse.Options{}), decoder: fetch.NewDecoder(fetch.DecoderOptions{}), nofollow: nofollow, tell: tell,
	}
}

func (l *linkFinder) reset() { l.links, l.kinds, l.refused, l.dropped = l.links[:0], l.kinds[:0], 0, 0 }

// redirect takes the target of a redirect as the one link.
func (l *linkFinder) redirect(url, location []byte) {
	l.reset()
	l.resolve(url, location, linkRedirect)
}

// scan takes the links of a body.
func (l *linkFinder) scan(url []byte, p *fetch.Page) {
	l.reset()
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
			l.resolve(base, link.Ref, linkKind(link.Kind))
		}
	}
}

func (l *linkFinder) resolve(base, ref []byte, kind linkKind) {
	url, err := urlx.Resolve(l.scratch[:0], base, ref)
	if err != nil {
		l.refused++
		return
	}
	l.scratch = url
	l.links = appendLink(l.links, url)
	if l.tell {
		l.kinds = append(l.kinds, kind)
	}
}
