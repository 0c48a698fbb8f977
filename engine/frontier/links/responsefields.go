package links

import (
	"bytes"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
)

// The head of a response may name other resources, as elements of a page do: Link (RFC 8288), Refresh, Content-Location
// and the Link fields of early hints (103, RFC 8297). They count for all media types. They are no part of the payload,
// so equal payloads may differ in them, and they are looked for even if the payload was searched before.

// fieldLinksMost is how many links of the fields Link one response may have.
const fieldLinksMost = 1000

// HeadField is a response field that names other resources.
type HeadField uint8

// The fields.
const (
	NoLinks HeadField = iota
	LinkField
	RefreshField
	ContentLocationField
)

// FieldOf returns which field a name means.
func FieldOf(name []byte) HeadField {
	field, text := NoLinks, ""
	switch len(name) {
	case len("link"):
		field, text = LinkField, "link"
	case len("refresh"):
		field, text = RefreshField, "refresh"
	case len("content-location"):
		field, text = ContentLocationField, "content-location"
	}
	if field != NoLinks && bytes.EqualFold(name, []byte(text)) {
		return field
	}
	return NoLinks
}

// HasFields reports whether the head of a response, or early hints before it, may name other resources.
func HasFields(p *fetch.Page) bool { return len(p.Interim) > 0 || p.Head().HasField(namesLinks) }

func namesLinks(name []byte) bool { return FieldOf(name) != NoLinks }

// Head takes the links in the head of a response. It comes behind Scan, if there was one.
func (l *Finder) Head(url []byte, p *fetch.Page) {
	if l.IsForbidden || !p.Head().HasField(namesLinks) {
		return // as for nearly all pages
	}
	l.IsError = p.Status >= statusError
	l.leadOn(l.Index)
	links, hasRefresh := 0, false
	for name, value := range p.Head().Fields() {
		switch FieldOf(name) {
		case LinkField:
			l.field(url, value, &links)
		case RefreshField:
			if ref := parse.RefreshTarget(value); len(ref) > 0 && !hasRefresh {
				l.Resolve(url, ref, parse.MetaRefresh, false)
			}
			hasRefresh = true
		case ContentLocationField:
			if len(value) > 0 {
				l.Resolve(url, value, parse.LinkRel, false)
			}
		}
	}
}

// EarlyHints takes the links of early hints. It comes last.
func (l *Finder) EarlyHints(url []byte, p *fetch.Page) {
	if len(p.Interim) == 0 || l.IsForbidden {
		return
	}
	l.endResponse()
	l.IsError = p.Status >= statusError
	links := 0
	for name, value := range fetch.EarlyHints(p.Interim) {
		if FieldOf(name) == LinkField {
			l.field(url, value, &links)
		}
	}
}

// EarlyLinks are those of Links that are no part of the response: early hints, mined, --hook.
func (l *Finder) EarlyLinks() []byte { return l.Links[min(l.numbering.earlyFrom, len(l.Links)):] }

// field takes the links of a field Link. n counts those of a response.
func (l *Finder) field(url, value []byte, n *int) {
	parse.EachFieldLink(value, func(link *parse.Link) {
		switch *n++; {
		case *n > fieldLinksMost:
			l.Dropped++
		case !l.O.Nofollow || !link.NoFollow:
			l.Resolve(url, link.Ref, link.Kind, link.NoFollow)
		}
	})
}
