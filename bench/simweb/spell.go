package simweb

import "bytes"

// doc is a page being written: where its relative references start, and scratch space.
type doc struct {
	w    *World
	h    host   // whose page it is
	base []byte // directory that relative references start from, "/" at both ends
	path []byte // scratch: a target's path
	ref  []byte // scratch: a reference before HTML escaping
	list []link // scratch

	start  int    // where the payload begins in what it is appended to
	marks  []mark // the islands in it
	packer packer
	packed []byte // scratch: the gzip form
}

// spellings is the number of ways a reference is written.
const spellings = 16

// spell writes a reference to t into d.ref, in one of the legal ways. All of them have one normal form. A plain one
// holds no white space and nothing unusual.
func (d *doc) spell(r *rng, t target, plain bool) {
	d.ref = d.ref[:0]
	if t.kind == kindNoHost {
		d.ref = d.w.appendURL(d.ref, t)
		return
	}
	way := r.below(spellings)
	if int(t.host) == d.h.index {
		d.path = d.w.appendTarget(d.path[:0], &d.h, t)
		if plain {
			d.ref = append(d.ref, d.path...)
			return
		}
		d.spellInside(r, way)
	} else {
		th := d.w.hostAt(int(t.host))
		d.path = d.w.appendTarget(d.path[:0], &th, t)
		if plain {
			way = 0
		}
		d.spellOutside(r, way, &th)
	}
	if !plain && r.below(8) == 0 {
		d.ref = append(d.ref, "#section-"...)
		d.ref = append(d.ref, word(uint32(r.next()))...)
	}
	if !plain && way == spellings-1 {
		d.blur(r)
	}
}

// spellInside writes a reference to d.path on the page's own host.
func (d *doc) spellInside(r *rng, way int) {
	switch way {
	case 6, 7, 8:
		d.relative()
	case 9:
		d.ref = append(d.w.appendOrigin(d.ref, &d.h), d.path...)
	case 10:
		d.ref = append(d.w.appendOrigin(d.ref, &d.h)[len(d.h.scheme()):], d.path...)
	case 11:
		d.ref = append(append(d.ref, dots(r)...), d.path...)
	case 12:
		d.ref = append(d.ref, d.path...)
		for i, c := range d.ref {
			if c == '?' {
				break
			}
			if c == '/' {
				d.ref[i] = '\\'
			}
		}
	case 13:
		d.unescape()
	case 14:
		d.shout(&d.h)
		d.ref = append(d.ref, d.path...)
	default:
		d.ref = append(d.ref, d.path...)
	}
}

// spellOutside writes a reference to d.path on another host.
func (d *doc) spellOutside(r *rng, way int, th *host) {
	from := 0
	switch way {
	case 9, 10:
		if th.https == d.h.https {
			from = len(th.scheme())
		}
	case 11:
		d.shout(th)
		d.ref = append(d.ref, d.path...)
		return
	case 12:
		d.ref = d.w.appendOrigin(d.ref, th)
		if th.defaultPort() && th.https {
			d.ref = append(d.ref, ":443"...)
		} else if th.defaultPort() {
			d.ref = append(d.ref, ":80"...)
		}
		d.ref = append(d.ref, d.path...)
		return
	case 13:
		d.ref = append(d.ref, th.scheme()...)
		d.ref = append(d.ref, "//reader:pass@"...)
		at := len(d.ref)
		d.ref = d.w.appendOrigin(d.ref, th)
		d.ref = append(d.ref[:at], d.ref[at+len(th.scheme())+2:]...)
		d.ref = append(d.ref, d.path...)
		return
	case 14:
		d.ref = append(d.w.appendOrigin(d.ref, th), dots(r)...)
		d.ref = append(d.ref, d.path...)
		return
	}
	d.ref = d.w.appendOrigin(d.ref, th)
	d.ref = append(d.ref[:0], d.ref[from:]...)
	if string(d.path) == "/" && way < 3 {
		return // "http://host" alone
	}
	d.ref = append(d.ref, d.path...)
}

// relative writes d.path as seen from the base directory.
func (d *doc) relative() {
	if rest, ok := bytes.CutPrefix(d.path, d.base); ok {
		if len(rest) == 0 || rest[0] == '?' {
			d.ref = append(d.ref, "./"...)
		}
		d.ref = append(d.ref, rest...)
		return
	}
	for range bytes.Count(d.base, []byte{'/'}) - 1 {
		d.ref = append(d.ref, "../"...)
	}
	d.ref = append(d.ref, d.path[1:]...)
}

// dots returns path segments that come to nothing.
func dots(r *rng) string {
	return [...]string{"/.", "/old/..", "/a/b/../..", "/%2e", "/new/%2E%2e", "/..", "/x/.%2e/."}[r.below(7)]
}

// shout writes a host's origin in upper case.
func (d *doc) shout(h *host) {
	at := len(d.ref)
	d.ref = d.w.appendOrigin(d.ref, h)
	for i, c := range d.ref[at:] {
		if c >= 'a' && c <= 'z' {
			d.ref[at+i] = c - 'a' + 'A'
		}
	}
}

// unescape writes d.path with its letters and spaces as they are.
func (d *doc) unescape() {
	for i := 0; i < len(d.path); i++ {
		switch {
		case bytes.HasPrefix(d.path[i:], []byte("%C3%A9")):
			d.ref = append(d.ref, "é"...)
			i += 5
		case bytes.HasPrefix(d.path[i:], []byte("%20")):
			d.ref = append(d.ref, ' ')
			i += 2
		default:
			d.ref = append(d.ref, d.path[i])
		}
	}
}

// blur puts white space around a reference and a line break into it.
func (d *doc) blur(r *rng) {
	d.path = append(d.path[:0], d.ref...)
	d.ref = append(d.ref[:0], "\n\t "...)
	at := r.below(len(d.path) + 1)
	d.ref = append(d.ref, d.path[:at]...)
	if r.below(2) == 0 {
		d.ref = append(d.ref, "\n"...)
	} else {
		d.ref = append(d.ref, "\t"...)
	}
	d.ref = append(d.ref, d.path[at:]...)
	d.ref = append(d.ref, " \r\n"...)
}

// attribute appends ="d.ref" with one kind of quotes, or none where that is legal.
func (d *doc) attribute(dst []byte, r *rng) []byte {
	quote := byte('"')
	switch r.below(10) {
	case 0:
		quote = '\''
	case 1:
		if len(d.ref) > 0 && !bytes.ContainsAny(d.ref, " \t\r\n=") {
			quote = 0
		}
	}
	and := [...]string{"&amp;", "&amp;", "&amp;", "&#38;", "&#x26;", "&"}[r.below(6)]
	if bytes.ContainsAny(d.ref, "\t\n") {
		and = "&amp;" // a bare one before a name that white space ends would be a character
	}
	dst = append(dst, '=')
	if quote != 0 {
		dst = append(dst, quote)
	}
	for ref := d.ref; ; {
		at := bytes.IndexByte(ref, '&')
		if at < 0 {
			dst = append(dst, ref...)
			break
		}
		dst = append(append(dst, ref[:at]...), and...)
		ref = ref[at+1:]
	}
	if quote != 0 {
		dst = append(dst, quote)
	}
	return dst
}

// directory returns the part of a path that relative references start from.
func directory(path []byte) []byte {
	if at := bytes.IndexByte(path, '?'); at >= 0 {
		path = path[:at]
	}
	return path[:bytes.LastIndexByte(path, '/')+1]
}
