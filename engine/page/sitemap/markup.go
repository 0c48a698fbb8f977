package sitemap

import "bytes"

// tag is a tag in the window; it is valid until more bytes are read.
type tag struct {
	prefix []byte // prefix of the name, without the colon
	local  []byte // name without the prefix
	attrs  []byte
	end    bool // </x>
	empty  bool // <x/>
}

// nextTag reads to the end of the next tag. Text before it is added to the current element.
func (r *Reader) nextTag() (tag, bool) {
	w := &r.win
	for {
		rest := w.buf[w.pos:]
		i := bytes.IndexByte(rest, '<')
		if i < 0 {
			r.text.keep(rest)
			w.pos = len(w.buf)
			if !w.more() {
				return tag{}, false
			}
			continue
		}
		r.text.keep(rest[:i])
		w.pos += i
		switch {
		case w.at("<!--"):
			w.pos += len("<!--")
			w.pass("-->", nil)
		case w.at("<![CDATA["):
			w.pos += len("<![CDATA[")
			r.text.verbatim()
			w.pass("]]>", r.keepCDATA)
		case w.at("<?"):
			w.pass("?>", nil)
		case w.at("<!"):
			r.doctype()
		case w.need(2) && startsTag(w.buf[w.pos+1]):
			if t, ok := r.tag(); ok {
				return t, true
			}
		default:
			r.text.keep(w.buf[w.pos : w.pos+1])
			w.pos++
		}
	}
}

func startsTag(c byte) bool {
	return c == '/' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// doctype skips a document type, with declarations in brackets. The declarations are never used.
func (r *Reader) doctype() {
	w := &r.win
	for w.pos++; ; {
		rest := w.buf[w.pos:]
		i := bytes.IndexAny(rest, "[>")
		if i >= 0 {
			w.pos += i + 1
			if rest[i] == '[' {
				w.pass("]", nil)
				w.pass(">", nil)
			}
			return
		}
		w.pos = len(w.buf)
		if !w.more() {
			return
		}
	}
}

// tag reads the tag that begins at the current byte. ok is false if it does not end within tagMax bytes, which are then
// skipped, or before the end of the body.
func (r *Reader) tag() (t tag, ok bool) {
	w := &r.win
	quote := byte(0)
	for n := 1; ; {
		rest := w.buf[w.pos:]
		for ; n < min(len(rest), tagMax); n++ {
			switch c := rest[n]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '>':
				w.pos += n + 1
				return cutTag(rest[1:n]), true
			}
		}
		if n == tagMax {
			w.pos += tagMax
			r.text.drop()
			return t, false
		}
		if !w.more() {
			w.pos = len(w.buf)
			r.text.drop()
			return t, false
		}
	}
}

// cutTag splits what stands between < and >.
func cutTag(b []byte) (t tag) {
	if len(b) > 0 && b[0] == '/' {
		t.end, b = true, b[1:]
	}
	if n := len(b); n > 0 && b[n-1] == '/' {
		t.empty, b = true, b[:n-1]
	}
	n := 0
	for n < len(b) && !isSpace(b[n]) && b[n] != '/' {
		n++
	}
	t.local, t.attrs = b[:n], b[n:]
	if colon := bytes.IndexByte(t.local, ':'); colon >= 0 {
		t.prefix, t.local = t.local[:colon], t.local[colon+1:]
	}
	return t
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// attr returns the raw value of an attribute, or nil. If it occurs twice, the first one counts.
func (t *tag) attr(name string) []byte {
	for b := t.attrs; ; {
		for len(b) > 0 && (isSpace(b[0]) || b[0] == '/') {
			b = b[1:]
		}
		eq := bytes.IndexByte(b, '=')
		if eq < 0 {
			return nil
		}
		key := bytes.TrimRight(b[:eq], " \t\r\n")
		if space := bytes.LastIndexAny(key, " \t\r\n"); space >= 0 {
			key = key[space+1:] // the word before it has no value
		}
		b = bytes.TrimLeft(b[eq+1:], " \t\r\n")
		var value []byte
		if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
			value, b, _ = bytes.Cut(b[1:], b[:1])
		} else {
			n := 0
			for n < len(b) && !isSpace(b[n]) {
				n++
			}
			value, b = b[:n], b[n:]
		}
		if len(key) == len(name) && bytes.EqualFold(key, []byte(name)) {
			return value
		}
	}
}
