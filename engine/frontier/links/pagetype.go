package links

import (
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
)

// PageType is the media type of a page.
type PageType struct {
	// Media is the type that the head declares, with parameters. Without a valid one it is the type that the first bytes
	// of the payload show. Borrowed from the page or the Finder.
	Media     []byte
	IsSniffed bool   // by the bytes
	Invalid   []byte // what the head has in place of a type; nil if it has none. Borrowed from the page

	of      *fetch.Page
	scratch []byte
}

// Identify finds out the media type of a page. Open and Scan do so for a page that was not identified.
func (l *Finder) Identify(p *fetch.Page) {
	t := &l.Type
	*t = PageType{of: p, scratch: t.scratch}
	if t.Media = p.Head().ContentType(); t.Media != nil || !p.HasHead() || p.PayloadLen == 0 {
		return
	}
	t.Invalid = p.Head().DeclaredType()
	body, _ := p.Decoded(l.Decoder)
	t.scratch = parse.AppendMediaType(t.scratch[:0], body, t.Invalid)
	if len(t.scratch) > 0 {
		t.Media, t.IsSniffed = t.scratch, true
	}
}

func (l *Finder) identifyOnce(p *fetch.Page) {
	if l.Type.of != p {
		l.Identify(p)
	}
}
