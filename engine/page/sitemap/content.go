package sitemap

import "bytes"

// markup returns the content of an element of a feed in memory that may have HTML; nil if there is none. The next tag
// is the end tag of the element.
func (r *Reader) markup(t *tag) []byte {
	if !r.o.Markup || r.win.src != nil || r.unclosed || t.empty || !hasMarkup(t) {
		return nil
	}
	inner, ok := r.win.inner(t)
	r.unclosed = !ok
	return inner
}

// hasMarkup reports whether the content of an element is HTML: of RSS by its name, of Atom by its type.
func hasMarkup(t *tag) bool {
	switch string(t.local) {
	case "description":
		return len(t.prefix) == 0 && t.attr("type") == nil || isHTML(t.attr("type"))
	case "encoded":
		return true
	case "content", "summary", "subtitle", "tagline", "rights", "title", "info":
		return isHTML(t.attr("type"))
	}
	return false
}

// isHTML reports whether the type of a text in Atom is HTML.
func isHTML(value []byte) bool {
	for _, name := range [...]string{"html", "xhtml", "text/html", "application/xhtml+xml"} {
		if bytes.EqualFold(value, []byte(name)) {
			return true
		}
	}
	return false
}

// inner passes over the content of the element whose start tag was just read, and returns it. ok is false if the
// element has no end. Nothing is passed over then.
func (w *window) inner(t *tag) (inner []byte, ok bool) {
	for p := w.pos; ; {
		i := bytes.IndexByte(w.buf[p:], '<')
		if i < 0 {
			return nil, false
		}
		p += i
		rest := w.buf[p:]
		size := 1
		switch {
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			size = sizeTo(rest, "]]>")
		case bytes.HasPrefix(rest, []byte("<!--")):
			size = sizeTo(rest, "-->")
		case t.isClosedBy(rest):
			inner, w.pos = w.buf[w.pos:p], p
			return inner, true
		}
		if size == 0 {
			return nil, false
		}
		p += size
	}
}

// sizeTo returns the length of b up to a mark and with it; 0 without one.
func sizeTo(b []byte, mark string) int {
	if i := bytes.Index(b, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return 0
}

// isClosedBy reports whether b begins with the end tag of an element.
func (t *tag) isClosedBy(b []byte) bool {
	b, ok := bytes.CutPrefix(b, []byte("</"))
	if !ok {
		return false
	}
	if len(t.prefix) > 0 {
		if b, ok = bytes.CutPrefix(b, t.prefix); !ok {
			return false
		}
		if b, ok = bytes.CutPrefix(b, []byte(":")); !ok {
			return false
		}
	}
	size := len(t.local)
	return len(b) > size && bytes.EqualFold(b[:size], t.local) && (b[size] == '>' || isSpace(b[size]))
}
