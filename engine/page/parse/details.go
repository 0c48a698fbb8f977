package parse

import "bytes"

// Element is a start tag that descriptions of a page name: of an element with links, of meta, base, html or style, or
// with an attribute background, cite, data-href or data-uri. The document of an iframe, and what old browsers alone
// show, are other pages.
type Element struct {
	Name []byte // as in the page, with its prefix
	// Text is that of an a element with a href: as in Result.Text, trimmed, at most LinkTextMax bytes. It may have line
	// ends.
	Text []byte
	// SheetFrom and SheetTo are the part of Result.Links that the style sheet in a style element has.
	SheetFrom, SheetTo int

	tag []byte // the rest of it, behind the name
}

// LinkTextMax is the length of the longest Element.Text, in bytes.
const LinkTextMax = 1 << 10

// EachAttribute calls f with each attribute that has a value, in order: its name as in the page, and its raw value for
// Result.Value. Of two with one name, the first counts.
func (e *Element) EachAttribute(f func(name, raw []byte)) {
	b := e.tag
	for p := 0; p < len(b); {
		for p < len(b) && (class[b[p]]&isSpace != 0 || b[p] == '/') {
			p++
		}
		if p >= len(b) || b[p] == '>' {
			return
		}
		start := p
		for p++; p < len(b) && class[b[p]]&endsAttr == 0; p++ {
		}
		name := b[start:p]
		from := p
		v, next, ok := value(b, p)
		if !ok {
			return
		}
		if p = next; v != (span{}) || bytes.IndexByte(b[from:p], '=') >= 0 {
			f(name, b[v.from:v.to])
		}
	}
}

// Value decodes the raw value of an attribute of Elements. It is valid as long as the Result.
func (r *Result) Value(raw []byte) []byte { return r.decoder.decode(raw, true) }

// pageDetails collects what only descriptions of a page need.
type pageDetails struct {
	on     bool
	isOpen bool // the last of texts has no end yet
	texts  []textRange
	// isSheet is true between the tag of a style element, the last element so far, and its end.
	isSheet bool
}

// textRange is the text of an element: offsets in pageText.text.
type textRange struct{ element, from, to int }

// begin forgets the previous body.
func (d *pageDetails) begin(on bool) {
	*d = pageDetails{on: on, texts: d.texts[:0]}
}

// openText begins the text of an element behind the text so far.
func (d *pageDetails) openText(element int, text []byte) {
	d.closeText(text)
	d.isOpen = true
	d.texts = append(d.texts, textRange{element: element, from: len(text)})
}

// closeText ends the text of the element that is open, if there is one. Spaces at the end are left out, since the end
// of a line may still remove them.
func (d *pageDetails) closeText(text []byte) {
	if !d.isOpen {
		return
	}
	d.isOpen = false
	r := &d.texts[len(d.texts)-1]
	for r.to = len(text); r.to > r.from && text[r.to-1] == ' '; {
		r.to--
	}
}

// breakText must follow the end of a line: it may have removed spaces before the element that is open.
func (d *pageDetails) breakText(text []byte) {
	if d.isOpen {
		r := &d.texts[len(d.texts)-1]
		r.from = min(r.from, len(text))
	}
}

// setTexts gives elements their texts.
func (d *pageDetails) setTexts(elements []Element, text []byte) {
	d.closeText(text)
	for _, r := range d.texts {
		elements[r.element].Text = startOf(bytes.TrimSpace(text[r.from:r.to]), LinkTextMax)
	}
}

// closeSheet ends the style sheet of the last element, if it has one.
func (d *pageDetails) closeSheet(res *Result) {
	if d.isSheet {
		res.Elements[len(res.Elements)-1].SheetTo = len(res.Links)
	}
	d.isSheet = false
}

// elementsMost is how many elements of a page are listed.
const elementsMost = 100_000

// note notes the tag that e has read: its name is b[at.from:at.to], and the rest ends before b[end]. text is that of
// the page so far.
func (d *pageDetails) note(e *elementReader, name tag, b []byte, at span, end int, text []byte) {
	a := &e.attributes
	switch name {
	case tagA, tagApplet, tagArea, tagAudio, tagBase, tagButton, tagEmbed, tagForm, tagFrame, tagHTML, tagIFrame, tagImg,
		tagInput, tagLink, tagMenuitem, tagMeta, tagObject, tagScript, tagSource, tagStyle, tagTrack, tagVideo:
	default:
		if a.have&(1<<attrBackground|1<<attrCite|1<<attrDataLink) == 0 {
			return
		}
	}
	res := &e.links.res
	if len(res.Elements) >= elementsMost {
		return
	}
	if name == tagA && a.has(attrHref) {
		d.openText(len(res.Elements), text)
	}
	d.isSheet = name == tagStyle
	n := len(res.Links)
	res.Elements = append(res.Elements, Element{Name: b[at.from:at.to], SheetFrom: n, SheetTo: n, tag: b[at.to:end]})
}
