package sitemap

import (
	"bytes"

	"orbweaver/internal/urlx"
)

// bases are the open elements of a feed that have an attribute xml:base (www.w3.org/TR/xmlbase). Each base is relative
// to that of the elements around it. Elements are known by their names, since many feeds do not close all of them.
type bases struct {
	open  [basesMost]baseElement
	depth int
	text  []byte // the bases of all open elements, one behind the other
}

// baseElement is an open element with a base.
type baseElement struct {
	prefix prefix // of its name
	local  prefix // the rest of its name
	nested int    // open elements of the same name in it
	from   int    // of its base in text
}

const (
	basesMost = 8       // elements with a base in one another; deeper ones have that of the element around them
	baseMost  = 2 << 10 // bytes of a base; a longer one is left out
)

func (s *bases) drop() { s.depth, s.text = 0, s.text[:0] }

// current returns the base of the innermost element; nil if there is none.
func (s *bases) current() []byte {
	if s.depth == 0 {
		return nil
	}
	return s.text[s.open[s.depth-1].from:]
}

// enter notes a start tag.
func (s *bases) enter(t *tag) {
	var base []byte
	if bytes.Contains(t.attrs, []byte("xml:base")) {
		base = bytes.TrimSpace(t.attr("xml:base"))
	}
	if len(base) == 0 {
		if s.depth > 0 && !t.empty && s.isInnermost(t) {
			s.open[s.depth-1].nested++
		}
		return
	}
	if s.depth == basesMost || len(base) > baseMost || len(t.local) > prefixMax || len(t.prefix) > prefixMax {
		return
	}
	from := len(s.text)
	own := appendUnescaped(nil, base)
	s.text = urlx.AppendJoined(s.text, s.current(), own)
	if len(s.text)-from > baseMost {
		s.text = s.text[:from]
		return
	}
	e := &s.open[s.depth]
	e.nested, e.from = 0, from
	e.prefix.set(t.prefix)
	e.local.set(t.local)
	s.depth++
}

// leave notes an end tag, or the end of an empty element.
func (s *bases) leave(t *tag) {
	if s.depth == 0 || !s.isInnermost(t) {
		return
	}
	e := &s.open[s.depth-1]
	if e.nested > 0 {
		e.nested--
		return
	}
	s.text = s.text[:e.from]
	s.depth--
}

func (s *bases) isInnermost(t *tag) bool {
	e := &s.open[s.depth-1]
	return e.local.is(t.local) && e.prefix.is(t.prefix)
}
