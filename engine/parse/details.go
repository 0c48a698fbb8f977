package parse

import (
	"bytes"
	"unicode/utf8"
)

// LinkText is the text of an a element.
type LinkText struct {
	Link int    // index in Result.Links
	Text []byte // as in Result.Text, trimmed, at most LinkTextMax bytes; it may have line ends
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

// openLink begins the text of a link behind the text so far.
func (d *pageDetails) openLink(link int, text []byte) {
	d.closeLink(text)
	d.isOpen = true
	d.texts = append(d.texts, textRange{link: link, from: len(text)})
}

// closeLink ends the text of the link that is open, if there is one. Spaces at the end are left out, since the end of a
// line may still remove them.
func (d *pageDetails) closeLink(text []byte) {
	if !d.isOpen {
		return
	}
	d.isOpen = false
	r := &d.texts[len(d.texts)-1]
	for r.to = len(text); r.to > r.from && text[r.to-1] == ' '; {
		r.to--
	}
}

// breakText must follow the end of a line: it may have removed spaces before the link that is open.
func (d *pageDetails) breakText(text []byte) {
	if d.isOpen {
		r := &d.texts[len(d.texts)-1]
		r.from = min(r.from, len(text))
	}
}

// appendTexts appends the texts of links.
func (d *pageDetails) appendTexts(dst []LinkText, text []byte) []LinkText {
	d.closeLink(text)
	for _, r := range d.texts {
		part := bytes.TrimSpace(text[r.from:r.to])
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
