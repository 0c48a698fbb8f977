package urlx

import "bytes"

// AppendJoined appends ref to dst, resolved against base as far as base itself is known: base may be relative, too. The
// result stands for ref in a document with that base. It has no normal form and may keep dot segments.
func AppendJoined(dst, base, ref []byte) []byte {
	start := schemeEnd(base)
	if start > 0 && !bytes.HasPrefix(base[start:], []byte("//")) {
		return append(dst, ref...) // nothing is relative to such a base
	}
	path := start // where the path of base begins
	if bytes.HasPrefix(base[start:], []byte("//")) {
		path = len(base)
		if i := bytes.IndexAny(base[start+2:], `/\?#`); i >= 0 {
			path = start + 2 + i
		}
	}
	end := len(base)
	if i := bytes.IndexByte(base, '#'); i >= 0 {
		end = i
	}
	query := end
	if i := bytes.IndexByte(base[:end], '?'); i >= 0 {
		query = i
	}
	switch {
	case schemeEnd(ref) > 0:
		return append(dst, ref...)
	case len(ref) == 0, ref[0] == '#':
		return append(append(dst, base[:end]...), ref...)
	case len(ref) > 1 && isSlash(ref[0]) && isSlash(ref[1]):
		return append(append(dst, base[:start]...), ref...)
	case isSlash(ref[0]):
		return append(append(dst, base[:path]...), ref...)
	case ref[0] == '?':
		return append(append(dst, base[:query]...), ref...)
	}
	directory := path
	if i := bytes.LastIndexAny(base[path:query], `/\`); i >= 0 {
		directory = path + i + 1
	}
	dst = append(dst, base[:directory]...)
	if directory == path && path > start {
		dst = append(dst, '/') // a host alone
	}
	return append(dst, ref...)
}

// schemeEnd returns where the scheme of a reference ends, with its colon; 0 if it has none.
func schemeEnd(ref []byte) int {
	for i, c := range ref {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}
