package urlx

import "bytes"

// LengthMax is the length of the longest normal form, in bytes; longer ones are refused with ErrTooLong.
const LengthMax = 8192

// rawMax is the length of the longest accepted input, in bytes. An input may be longer than its normal form (white
// space, user information, dot segments). Longer inputs are mostly inline data.
const rawMax = 8 * LengthMax

// Normalize appends the normal form of raw, an absolute URL, to dst and returns the longer slice. It borrows raw, which
// must not overlap the free capacity of dst. On an error, which is an Error of this package, it returns dst unchanged.
func Normalize(dst, raw []byte) ([]byte, error) {
	return Resolve(dst, nil, raw)
}

// Base returns the URL that references of a page are relative to. That is the reference of its base element if it has
// one that is valid, resolved in memory, or else url, the normal form of the page's URL. It returns the memory for the
// next page.
func Base(memory, url, element []byte) (base, kept []byte) {
	if len(element) == 0 {
		return url, memory
	}
	base, err := Resolve(memory[:0], url, element)
	if err != nil {
		return url, memory
	}
	return base, base
}

// Resolve appends to dst the normal form of ref, a reference from a page. base is the normal form of the page's base
// URL, or nil if there is none. It borrows both; neither may overlap the free capacity of dst. On an error, which is an
// Error of this package, it returns dst unchanged.
func Resolve(dst []byte, base, ref []byte) ([]byte, error) {
	start := len(dst)
	var scratch [256]byte
	ref, err := clean(scratch[:0], ref)
	if err != nil {
		return dst, err
	}
	out, err := resolve(dst, base, ref)
	if err == nil && len(out)-start > LengthMax {
		err = ErrTooLong
	}
	if err != nil {
		return dst[:start], err
	}
	return out, nil
}

// clean removes what the standard removes before it parses a URL: control characters and spaces at both ends, and tabs
// and line ends everywhere. It also removes the fragment. It borrows ref and copies to dst only if necessary.
func clean(dst, ref []byte) ([]byte, error) {
	for len(ref) > 0 && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for len(ref) > 0 && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	if i := bytes.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i]
	}
	least := byte(' ')
	for _, c := range ref {
		least = min(least, c) // a tab or line end, perhaps
	}
	dirty := least < ' '
	if len(ref) > rawMax {
		return nil, ErrTooLong
	}
	if !dirty {
		return ref, nil
	}
	for _, c := range ref {
		if !isTabOrNewline(c) {
			dst = append(dst, c)
		}
	}
	return dst, nil
}

func isTabOrNewline(c byte) bool { return c == '\t' || c == '\n' || c == '\r' }

// resolve is Resolve for a cleaned reference, without the length limit.
func resolve(dst, base, ref []byte) ([]byte, error) {
	scheme, rest, ok := cutScheme(ref)
	if !ok {
		if len(base) == 0 {
			return dst, ErrRelative
		}
		return relative(dst, base, ref)
	}
	prefix := specialPrefix(scheme)
	if prefix == "" {
		return dst, ErrScheme
	}
	if len(base) > 0 && bytes.HasPrefix(base, []byte(prefix)) && !bytes.HasPrefix(rest, []byte("//")) {
		return relative(dst, base, rest) // by the standard, "http:foo" on an http page is a relative reference
	}
	return absolute(append(dst, prefix...), rest)
}

// cutScheme cuts "scheme:" off a reference.
func cutScheme(ref []byte) (scheme, rest []byte, ok bool) {
	for i, c := range ref {
		switch {
		case c == ':':
			return ref[:i], ref[i+1:], i > 0
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return nil, ref, false
		}
	}
	return nil, ref, false
}

// specialPrefix returns the beginning of the normal forms of an accepted scheme, or "".
func specialPrefix(scheme []byte) string {
	if len(scheme) < 4 || len(scheme) > 5 || scheme[0]|0x20 != 'h' || scheme[1]|0x20 != 't' || scheme[2]|0x20 != 't' ||
		scheme[3]|0x20 != 'p' {
		return ""
	}
	if len(scheme) == 4 {
		return "http://"
	}
	if scheme[4]|0x20 == 's' {
		return "https://"
	}
	return ""
}

// relative resolves a reference without a scheme against a base that is a normal form.
func relative(dst, base, ref []byte) ([]byte, error) {
	if !bytes.HasPrefix(base, []byte("http://")) && !bytes.HasPrefix(base, []byte("https://")) {
		return dst, ErrSyntax
	}
	if len(ref) == 0 {
		return append(dst, base...), nil
	}
	site, path := Split(base)
	if len(path) == 0 {
		return dst, ErrSyntax
	}
	if isSlash(ref[0]) {
		if len(ref) > 1 && isSlash(ref[1]) {
			return absolute(append(dst, base[:authority(base)]...), ref)
		}
		dst = append(dst, site...)
		return appendPath(append(dst, '/'), len(dst), ref[1:]), nil
	}
	if query := bytes.IndexByte(path, '?'); query >= 0 {
		path = path[:query]
	}
	if ref[0] == '?' {
		dst = append(append(dst, site...), path...)
		return appendQuery(dst, ref), nil
	}
	dst = append(dst, site...)
	pathStart := len(dst)
	dst = append(dst, path[:bytes.LastIndexByte(path, '/')+1]...)
	return appendPath(dst, pathStart, ref), nil
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

// absolute appends authority, path and query to dst, which ends with "scheme://". Like browsers, it skips any number of
// slashes and backslashes before the authority.
func absolute(dst, rest []byte) ([]byte, error) {
	for len(rest) > 0 && isSlash(rest[0]) {
		rest = rest[1:]
	}
	end, at := len(rest), -1
	for i, c := range rest {
		if isSlash(c) || c == '?' {
			end = i
			break
		}
		if c == '@' {
			at = i
		}
	}
	dst, err := appendAuthority(dst, rest[at+1:end])
	if err != nil {
		return dst, err
	}
	rest = rest[end:]
	pathStart := len(dst)
	dst = append(dst, '/')
	if len(rest) > 0 && isSlash(rest[0]) {
		rest = rest[1:]
	}
	return appendPath(dst, pathStart, rest), nil
}

// appendPath appends path segments and query to dst, whose path begins at pathStart and ends with a slash.
func appendPath(dst []byte, pathStart int, rest []byte) []byte {
	if end := plainPath(rest); end >= 0 {
		return appendQuery(append(dst, rest[:end]...), rest[end:])
	}
	for {
		n := 0
		for n < len(rest) && !isSlash(rest[n]) && rest[n] != '?' {
			n++
		}
		slash := n < len(rest) && rest[n] != '?'
		switch dots(rest[:n]) {
		case 1: // the slash is there already
		case 2:
			if last := len(dst) - 1; last > pathStart {
				dst = dst[:pathStart+bytes.LastIndexByte(dst[pathStart:last], '/')+1]
			}
		default:
			dst = appendEncoded(dst, rest[:n], inPath)
			if slash {
				dst = append(dst, '/')
			}
		}
		if !slash {
			return appendQuery(dst, rest[n:])
		}
		rest = rest[n+1:]
	}
}

// plainPath returns the offset of the query, or the length of rest, if the path needs no change: nothing to encode and
// no dot segments. Otherwise it returns -1.
func plainPath(rest []byte) int {
	before := byte('/')
	for i, c := range rest {
		switch {
		case c == '?':
			return i
		case octets[c]&inPath == 0 || c == '\\' || (before == '/' && (c == '.' || c == '%')):
			return -1
		}
		before = c
	}
	return len(rest)
}

// appendQuery appends a query with its question mark, if there is one.
func appendQuery(dst, rest []byte) []byte {
	if len(rest) == 0 {
		return dst
	}
	return appendEncoded(append(dst, '?'), rest[1:], inQuery)
}

// dots returns 1 for a segment "." (this directory), 2 for ".." (parent directory), 0 for any other. A dot may be
// written %2e.
func dots(segment []byte) int {
	n := 0
	for len(segment) > 0 {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}
