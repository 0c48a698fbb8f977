package content

import (
	"bytes"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/corpus"
	"orbweaver/internal/simweb/draw"
)

// Document is a page being written: where its relative references start, and scratch space.
type Document struct {
	model *simweb.Model
	h     simweb.Host // whose page it is
	base  []byte      // directory that relative references start from, "/" at both ends
	path  []byte      // scratch: a target's path
	ref   []byte      // scratch: a reference before HTML escaping
	list  []simweb.Link
	parts []bool // of each link: the page embeds its target

	start  int                // where the payload begins in what it is appended to
	marks  []corpus.Placement // the segments in it
	packer corpus.Packer
	packed []byte // scratch: the gzip form
}

// spellings is the number of ways a reference is written.
const spellings = 16

// spell writes a reference to t into d.ref, in one of the legal ways. All of them have one normal form. A plain one
// holds no white space and nothing unusual.
func (d *Document) spell(r *draw.RNG, t simweb.Target, plain bool) {
	d.ref = d.ref[:0]
	if t.Kind == simweb.KindNoHost {
		d.ref = d.model.AppendURL(d.ref, t)
		return
	}
	way := r.Below(spellings)
	if int(t.Host) == d.h.Index {
		d.path = d.h.AppendPath(d.path[:0], t)
		if plain {
			d.ref = append(d.ref, d.path...)
			return
		}
		d.spellInside(r, way)
	} else {
		th := d.model.HostAt(int(t.Host))
		d.path = th.AppendPath(d.path[:0], t)
		if plain {
			way = 0
		}
		d.spellOutside(r, way, &th)
	}
	if !plain && r.Below(8) == 0 {
		d.ref = append(d.ref, "#section-"...)
		d.ref = append(d.ref, corpus.Word(uint32(r.Next()))...)
	}
	if !plain && way == spellings-1 {
		d.blur(r)
	}
}

// spellInside writes a reference to d.path on the page's own host.
func (d *Document) spellInside(r *draw.RNG, way int) {
	switch way {
	case 6, 7, 8:
		d.relative()
	case 9:
		d.ref = append(d.h.AppendOrigin(d.ref), d.path...)
	case 10:
		d.ref = append(d.h.AppendOrigin(d.ref)[len(d.h.Scheme()):], d.path...)
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
func (d *Document) spellOutside(r *draw.RNG, way int, th *simweb.Host) {
	from := 0
	switch way {
	case 9, 10:
		if th.HTTPS == d.h.HTTPS {
			from = len(th.Scheme())
		}
	case 11:
		d.shout(th)
		d.ref = append(d.ref, d.path...)
		return
	case 12:
		d.ref = th.AppendOrigin(d.ref)
		if th.DefaultPort() && th.HTTPS {
			d.ref = append(d.ref, ":443"...)
		} else if th.DefaultPort() {
			d.ref = append(d.ref, ":80"...)
		}
		d.ref = append(d.ref, d.path...)
		return
	case 13:
		d.ref = append(d.ref, th.Scheme()...)
		d.ref = append(d.ref, "//reader:pass@"...)
		at := len(d.ref)
		d.ref = th.AppendOrigin(d.ref)
		d.ref = append(d.ref[:at], d.ref[at+len(th.Scheme())+2:]...)
		d.ref = append(d.ref, d.path...)
		return
	case 14:
		d.ref = append(th.AppendOrigin(d.ref), dots(r)...)
		d.ref = append(d.ref, d.path...)
		return
	}
	d.ref = th.AppendOrigin(d.ref)
	d.ref = append(d.ref[:0], d.ref[from:]...)
	if string(d.path) == "/" && way < 3 {
		return // "http://host" alone
	}
	d.ref = append(d.ref, d.path...)
}

// relative writes d.path as seen from the base directory.
func (d *Document) relative() {
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
func dots(r *draw.RNG) string {
	return [...]string{"/.", "/old/..", "/a/b/../..", "/%2e", "/new/%2E%2e", "/..", "/x/.%2e/."}[r.Below(7)]
}

// shout writes a host's origin in upper case.
func (d *Document) shout(h *simweb.Host) {
	at := len(d.ref)
	d.ref = h.AppendOrigin(d.ref)
	for i, c := range d.ref[at:] {
		if c >= 'a' && c <= 'z' {
			d.ref[at+i] = c - 'a' + 'A'
		}
	}
}

// unescape writes d.path with its letters and spaces as they are.
func (d *Document) unescape() {
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
func (d *Document) blur(r *draw.RNG) {
	d.path = append(d.path[:0], d.ref...)
	d.ref = append(d.ref[:0], "\n\t "...)
	at := r.Below(len(d.path) + 1)
	d.ref = append(d.ref, d.path[:at]...)
	if r.Below(2) == 0 {
		d.ref = append(d.ref, "\n"...)
	} else {
		d.ref = append(d.ref, "\t"...)
	}
	d.ref = append(d.ref, d.path[at:]...)
	d.ref = append(d.ref, " \r\n"...)
}

// attribute appends ="d.ref" with one kind of quotes, or none where that is legal.
func (d *Document) attribute(dst []byte, r *draw.RNG) []byte {
	quote := byte('"')
	switch r.Below(10) {
	case 0:
		quote = '\''
	case 1:
		if len(d.ref) > 0 && !bytes.ContainsAny(d.ref, " \t\r\n=") {
			quote = 0
		}
	}
	and := [...]string{"&amp;", "&amp;", "&amp;", "&#38;", "&#x26;", "&"}[r.Below(6)]
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
