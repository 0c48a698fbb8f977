package urlx

// Where a byte may stand unencoded; elsewhere it is percent-encoded. The sets are the complements of the standard's
// "path" and "special-query" percent-encode sets.
const (
	inPath  = 1 << iota // in a path segment
	inQuery             // in the query of an http URL
	inHost              // in a host, in either case: letters, digits, hyphen, underscore, dot
)

// octets says for each byte where it may stand unencoded.
var octets = makeOctets()

func makeOctets() (t [256]uint8) {
	for c := '!'; c <= '~'; c++ {
		t[c] = inPath | inQuery
	}
	for _, c := range "\"#<>" {
		t[c] = 0
	}
	for _, c := range "?`{}^" {
		t[c] &^= inPath
	}
	t['\''] &^= inQuery
	for c := range 256 {
		b := byte(c)
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '_' || b == '.' {
			t[c] |= inHost
		}
	}
	return t
}

// appendEncoded appends s to dst and percent-encodes every byte that may not stand at place. Percent signs stay as they
// are, also in invalid escapes. Bytes that are not UTF-8 are encoded one by one, so that the server sees what the page
// contains.
func appendEncoded(dst, s []byte, place uint8) []byte {
	const hex = "0123456789ABCDEF"
	for len(s) > 0 {
		n := 0
		for n < len(s) && octets[s[n]]&place != 0 {
			n++
		}
		dst = append(dst, s[:n]...)
		if s = s[n:]; len(s) > 0 {
			dst = append(dst, '%', hex[s[0]>>4], hex[s[0]&15])
			s = s[1:]
		}
	}
	return dst
}

// decodePercent appends s to dst with valid percent escapes replaced by their octets.
func decodePercent(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := hexValue(s[i+1]), hexValue(s[i+2])
			if hi < 16 && lo < 16 {
				dst = append(dst, hi<<4|lo)
				i += 2
				continue
			}
		}
		dst = append(dst, s[i])
	}
	return dst
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
