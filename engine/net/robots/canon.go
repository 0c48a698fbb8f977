package robots

// Inside this package paths and patterns are compared in one canonical spelling, so that two spellings of one path are
// equal byte by byte. A rule is converted when it is parsed, a path when it is checked.
//
//	unreserved bytes, escaped or not       themselves     %61 and a      -> a
//	reserved bytes                         themselves     / ? & = ...
//	reserved bytes, escaped                upper case     %2f            -> %2F   (another path than "/")
//	* and $, escaped or in a path          themselves     %2A            -> *     (literal, not the wildcard)
//	all others                             escaped        space, " , 0xE3 -> %20, %22, %E3
//	' and a % without two hex digits       escaped        the URL's normal form escapes ' in queries
//
// The two wildcards of a pattern become bytes that no canonical path contains.
const (
	opAny = 0x00 // "*": any bytes
	opEnd = 0x01 // "$" at the end of the pattern: the path ends here
)

// How a byte is spelled.
const (
	keepRaw     = 1 << iota // unchanged if it is not escaped
	keepEscaped             // an escape of it is decoded
)

// classes has the flags above for each byte.
var classes = makeClasses()

func makeClasses() (t [256]uint8) {
	for c := range 256 {
		b := byte(c)
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' {
			t[c] = keepRaw | keepEscaped
		}
	}
	for _, c := range "-._~*$" {
		t[c] = keepRaw | keepEscaped
	}
	for _, c := range ":/?#[]@!&()+,;=" {
		t[c] = keepRaw
	}
	return t
}

const hexDigits = "0123456789ABCDEF"

// appendCanonical appends the canonical spelling of s to dst. Wildcards are literal.
func appendCanonical(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			hi, lo := hexValue(s[i+1]), hexValue(s[i+2])
			if hi < 16 && lo < 16 {
				i += 2
				if c = hi<<4 | lo; classes[c]&keepEscaped != 0 {
					dst = append(dst, c)
				} else {
					dst = append(dst, '%', hexDigits[hi], hexDigits[lo])
				}
				continue
			}
		}
		if classes[c]&keepRaw != 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return dst
}

// appendPattern appends the canonical form of a rule's path to dst, with wildcards as operators.
func appendPattern(dst, s []byte) []byte {
	anchored := len(s) > 0 && s[len(s)-1] == '$'
	if anchored {
		s = s[:len(s)-1]
	}
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n] != '*' {
			n++
		}
		dst = appendCanonical(dst, s[:n])
		if n < len(s) {
			dst = append(dst, opAny)
			n++
		}
		s = s[n:]
	}
	if anchored {
		dst = append(dst, opEnd)
	}
	return dst
}

// isCanonical reports whether a path is in canonical spelling already, as most are.
func isCanonical(path []byte) bool {
	for i, c := range path {
		if classes[c]&keepRaw != 0 {
			continue
		}
		if c != '%' || i+2 >= len(path) {
			return false
		}
		hi, lo := path[i+1], path[i+2]
		if hexValue(hi) > 15 || hexValue(lo) > 15 || hi >= 'a' || lo >= 'a' ||
			classes[hexValue(hi)<<4|hexValue(lo)]&keepEscaped != 0 {
			return false
		}
	}
	return true
}

// hexValue returns the value of a hexadecimal digit, 16 for any other octet.
func hexValue(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 16
}
