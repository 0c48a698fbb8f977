package parse

// foreignStack follows how deep in SVG and MathML the scanner is, since the text of their elements is always markup,
// since they have CDATA sections, and since links are spelt otherwise in SVG. It is a stack of the elements that change
// between HTML and foreign content, not of all open elements.
type foreignStack struct {
	open     [16]foreignElement
	depth    int
	overflow int // elements opened beyond the stack's room: read as if the topmost had not been left
}

// foreignElement is an open element and what its content is read as.
type foreignElement struct {
	name    tag
	content space
}

// space is what markup is read as.
type space uint8

const (
	spaceHTML space = iota
	spaceSVG
	spaceMath
)

// space says what the next tag is read as.
func (f *foreignStack) space() space {
	if f.depth == 0 {
		return spaceHTML
	}
	return f.open[f.depth-1].content
}

func (f *foreignStack) push(name tag, content space) {
	if f.depth == len(f.open) {
		f.overflow++
		return
	}
	f.open[f.depth] = foreignElement{name, content}
	f.depth++
}

// start leaves foreign content when an element comes that can only be HTML.
func (f *foreignStack) start(name tag, have attrSet) {
	if f.space() == spaceHTML || !breaksOut(name, have) {
		return
	}
	f.overflow = 0
	for f.space() != spaceHTML {
		f.depth--
	}
}

// enter notes an element of foreign content that holds foreign content or HTML.
func (f *foreignStack) enter(name tag, attributes *tagAttributes, b []byte) {
	in := f.space()
	switch name {
	case tagSVG, tagMath: // nested ones stay in the language around them, except SVG that annotates a formula
		if name == tagSVG && in == spaceMath && f.open[f.depth-1].name == tagAnnotationXML {
			in = spaceSVG
		}
		f.push(name, in)
	case tagForeignObject, tagTitle, tagDesc:
		f.push(name, hold(in, spaceSVG))
	case tagMi, tagMo, tagMn, tagMs, tagMtext:
		f.push(name, hold(in, spaceMath))
	case tagAnnotationXML:
		if attributes.is(b, attrEncoding, "text/html") || attributes.is(b, attrEncoding, "application/xhtml+xml") {
			in = hold(in, spaceMath)
		}
		f.push(name, in)
	}
}

// hold says what an element holds that holds HTML in its own language: in another it has only the name, and is noted
// for the sake of its end tag.
func hold(in, own space) space {
	if in == own {
		return spaceHTML
	}
	return in
}

// end leaves the innermost open element of that name, and what is inside it.
func (f *foreignStack) end(name tag) {
	if (name == tagP || name == tagBr) && f.space() != spaceHTML {
		f.start(name, 0)
		return
	}
	for i := f.depth - 1; i >= 0; i-- {
		if f.open[i].name != name {
			continue
		}
		if f.overflow > 0 {
			f.overflow--
			return
		}
		f.depth = i
		return
	}
}

// The elements that only this file cares about.
const (
	tagDesc  tag = 'd'<<24 | 'e'<<16 | 's'<<8 | 'c'
	tagMi    tag = 'm'<<8 | 'i'
	tagMo    tag = 'm'<<8 | 'o'
	tagMn    tag = 'm'<<8 | 'n'
	tagMs    tag = 'm'<<8 | 's'
	tagMtext tag = 'm'<<32 | 't'<<24 | 'e'<<16 | 'x'<<8 | 't'
	tagFont  tag = 'f'<<24 | 'o'<<16 | 'n'<<8 | 't'
)

// breaksOut says whether an element ends foreign content, as the standard lists them.
func breaksOut(name tag, have attrSet) bool {
	if name == tagFont {
		return have&(1<<attrFont) != 0
	}
	switch name {
	case 'b', 'b'<<16 | 'i'<<8 | 'g', tagBlockquote, tagBody, tagBr, 'c'<<40 | 'e'<<32 | 'n'<<24 | 't'<<16 | 'e'<<8 | 'r',
		'c'<<24 | 'o'<<16 | 'd'<<8 | 'e', 'd'<<8 | 'd', 'd'<<16 | 'i'<<8 | 'v', 'd'<<8 | 'l', 'd'<<8 | 't', 'e'<<8 | 'm',
		tagEmbed, 'h'<<8 | '1', 'h'<<8 | '2', 'h'<<8 | '3', 'h'<<8 | '4', 'h'<<8 | '5', 'h'<<8 | '6',
		'h'<<24 | 'e'<<16 | 'a'<<8 | 'd', 'h'<<8 | 'r', 'i', tagImg, 'l'<<8 | 'i',
		'l'<<48 | 'i'<<40 | 's'<<32 | 't'<<24 | 'i'<<16 | 'n'<<8 | 'g', 'm'<<24 | 'e'<<16 | 'n'<<8 | 'u', tagMeta,
		'n'<<24 | 'o'<<16 | 'b'<<8 | 'r', 'o'<<8 | 'l', tagP, 'p'<<16 | 'r'<<8 | 'e', 'r'<<24 | 'u'<<16 | 'b'<<8 | 'y', 's',
		's'<<32 | 'm'<<24 | 'a'<<16 | 'l'<<8 | 'l', 's'<<24 | 'p'<<16 | 'a'<<8 | 'n',
		's'<<40 | 't'<<32 | 'r'<<24 | 'o'<<16 | 'n'<<8 | 'g', 's'<<40 | 't'<<32 | 'r'<<24 | 'i'<<16 | 'k'<<8 | 'e',
		's'<<16 | 'u'<<8 | 'b', 's'<<16 | 'u'<<8 | 'p', tagTable, 't'<<8 | 't', 'u', 'u'<<8 | 'l', 'v'<<16 | 'a'<<8 | 'r':
		return true
	}
	return false
}
