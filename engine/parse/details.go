package parse

import (
	"bytes"
	"unicode/utf8"
)

// LinkText is the text of an a element.
type LinkText struct {
	Link int    // index in Result.Links
	Text []byte // a part of Result.Text, trimmed, at most LinkTextMax bytes; it may have line ends
}

// LinkTextMax is the length of the longest LinkText, in bytes.
const LinkTextMax = 1 << 10

// Meta is a meta element with a content attribute, as far as it has these attributes. Like Link.Ref, the values are
// UTF-8, and borrow the body or the Scanner's scratch space.
type Meta struct{ Name, Property, HTTPEquiv, Content []byte }

// pageDetails collects what only descriptions of a page need.
type pageDetails struct {
	on     bool
	isOpen bool // the last of texts has no end yet
	texts  []textRange
}

// textRange is the text of a link: offsets in pageText.text.
type textRange struct{ link, from, to int }

// begin forgets the previous body.
func (d *pageDetails) begin(on bool) {
	*d = pageDetails{on: on, texts: d.texts[:0]}
}

// openLink begins the text of a link at an offset.
func (d *pageDetails) openLink(link, at int) {
	d.closeLink(at)
	d.isOpen = true
	d.texts = append(d.texts, textRange{link: link, from: at})
}

// closeLink ends the text of the link that is open, if there is one.
func (d *pageDetails) closeLink(at int) {
	if d.isOpen {
		d.isOpen = false
		d.texts[len(d.texts)-1].to = at
	}
}

// appendTexts appends the texts of links. The offsets may be behind spaces that were trimmed at the end of a line.
func (d *pageDetails) appendTexts(dst []LinkText, text []byte) []LinkText {
	d.closeLink(len(text))
	for _, r := range d.texts {
		to := min(r.to, len(text))
		part := bytes.TrimSpace(text[min(r.from, to):to])
		if len(part) > LinkTextMax {
			end := LinkTextMax
			for end > 0 && !utf8.RuneStart(part[end]) {
				end--
			}
			part = part[:end]
		}
		if len(part) > 0 {
			dst = append(dst, LinkText{r.link, part})
		}
	}
	return dst
}

// noteMeta notes a meta element.
func (e *elementReader) noteMeta(b []byte) {
	content, ok := e.attributes.get(b, attrContent)
	if !ok {
		return
	}
	one := Meta{Content: e.links.text.decode(content, true)}
	one.Name, one.Property, one.HTTPEquiv = e.text(b, attrName), e.text(b, attrProperty), e.text(b, attrHTTPEquiv)
	e.links.res.Metas = append(e.links.res.Metas, one)
}

// text returns the value of an attribute, decoded and trimmed; nil if the tag at hand does not have it.
func (e *elementReader) text(b []byte, a attr) []byte {
	raw, _ := e.attributes.get(b, a)
	return trimSpace(e.links.text.decode(raw, true))
}
