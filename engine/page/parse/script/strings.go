package script

import "bytes"

// form is how the URL in a string begins.
type form uint8

const (
	absolute form = iota + 1 // http: or https:
	rooted                   // a slash
	dotted                   // ./ or ../
)

// nextString looks at each slash that may be the first one of a string.
func (r *Reader) nextString() (Link, bool) {
	b := r.b
	for {
		i := bytes.IndexByte(b[r.p:], '/')
		if i < 0 {
			return Link{}, false
		}
		p := r.p + i
		r.p = p + 1
		if p == 0 || class[b[p-1]]&leadsToSlash == 0 { // most slashes
			continue
		}
		for n := 0; p > 0 && b[p-1] == '\\' && n < backslashesMost; n++ {
			p--
		}
		if l, ok := r.stringAt(p); ok {
			return l, true
		}
	}
}

// nextEscaped looks at each slash that is written as \x2F or \u002F.
func (r *Reader) nextEscaped() (Link, bool) {
	b := r.b
	for {
		i := bytes.IndexByte(b[r.p:], '\\')
		if i < 0 {
			return Link{}, false
		}
		p := r.p + i
		c, size := escape(b[p:])
		r.p = p + size
		if c != '/' || b[p+size-1] == '/' { // nextString finds the slash itself
			continue
		}
		if l, ok := r.stringAt(p); ok {
			return l, true
		}
	}
}

// stringAt returns the URL in the string whose first slash, with what escapes it, is at b[p].
func (r *Reader) stringAt(p int) (l Link, ok bool) {
	b := r.b
	start, begin := beginOfURL(b, p)
	if start < 0 {
		return l, false
	}
	end := endOfURL(b, start)
	if end < 0 {
		return l, false
	}
	r.p = max(r.p, end)
	l.Ref = r.unescape(b[start:end])
	quote := start - 1
	l.IsImport = r.place != Handler && isImported(b, quote, end)
	switch begin {
	case absolute:
		ok = isAbsolute(l.Ref)
	case rooted:
		ok = isPath(l.Ref) || len(l.Ref) > 1 && l.Ref[1] != '/' && (l.IsImport || leads(b, quote, end))
	case dotted:
		ok = l.IsImport || r.place != Handler && isAsset(b, quote, end)
	}
	return l, ok
}

// beginOfURL returns where the string begins whose first slash is at b[p]. It returns -1 if no string with a URL does.
func beginOfURL(b []byte, p int) (start int, begin form) {
	switch {
	case p == 0:
		return -1, 0
	case isQuote(b[p-1]):
		return p, rooted
	case b[p-1] == '.':
		for n := 1; n <= 2 && p > n; n++ {
			if c := b[p-n-1]; isQuote(c) {
				return p - n, dotted
			} else if c != '.' {
				break
			}
		}
	case b[p-1] == ':':
		for _, scheme := range [...]string{"https:", "http:"} {
			if from := p - len(scheme); from > 0 && isQuote(b[from-1]) && bytes.EqualFold(b[from:p], []byte(scheme)) {
				return from, absolute
			}
		}
	}
	return -1, 0
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// endOfURL returns where the string that begins at b[start], after a quote, ends with the same quote. It returns -1 if
// the string has a byte that no URL has.
func endOfURL(b []byte, start int) int {
	quote := b[start-1]
	for p := start; p < len(b); p++ {
		c := b[p]
		if class[c]&isURL != 0 {
			continue
		}
		if c == quote {
			return p
		}
		if c != '\\' {
			return -1
		}
		c, size := escape(b[p:])
		switch {
		case c == quote && size == len(`\"`): // the string is within another one
			return p
		case class[c]&isURL == 0:
			return -1
		}
		p += size - 1
	}
	return -1
}

// backslashesMost is how many backslashes an escape may have: two in JSON that is a string of a script.
const backslashesMost = 2

// escape reads the escape at the start of b. It returns the byte that the escape stands for, 0 for another one than a
// URL may have, and the size of the escape.
func escape(b []byte) (c byte, size int) {
	n := 1
	for n < len(b) && b[n] == '\\' && n < backslashesMost {
		n++
	}
	if n == len(b) {
		return 0, n
	}
	digits := 0
	switch b[n] {
	case 'u':
		digits = 4
	case 'x':
		digits = 2
	default:
		return b[n], n + 1
	}
	if len(b) < n+1+digits {
		return 0, n + 1
	}
	value, ok := number(b[n+1 : n+1+digits])
	switch {
	case !ok:
		return 0, n + 1
	case value >= 0x80:
		return 0, n + 1 + digits
	}
	return byte(value), n + 1 + digits
}

// number reads hexadecimal digits.
func number(digits []byte) (value int, ok bool) {
	for _, d := range digits {
		switch {
		case '0' <= d && d <= '9':
			value = value<<4 | int(d-'0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			value = value<<4 | int(d|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return value, true
}

// unescape returns ref without escapes.
func (r *Reader) unescape(ref []byte) []byte {
	if bytes.IndexByte(ref, '\\') < 0 {
		return ref
	}
	start := len(r.arena)
	for p := 0; p < len(ref); p++ {
		if ref[p] != '\\' {
			r.arena = append(r.arena, ref[p])
			continue
		}
		c, size := escape(ref[p:])
		r.arena = append(r.arena, c)
		p += size - 1
	}
	return r.arena[start:len(r.arena):len(r.arena)]
}
