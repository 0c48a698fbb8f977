package header

import (
	"encoding/base32"
	"slices"
	"strconv"
	"strings"
)

// AppendDigest adds "sha1:" and the base32 of sum.
func AppendDigest(dst []byte, sum *[20]byte) []byte {
	dst = append(dst, "sha1:"...)
	return base32.StdEncoding.AppendEncode(dst, sum[:])
}

// AppendField appends a line; control characters in the value become spaces, so that it stays one line.
func AppendField(dst []byte, name, value string) []byte {
	dst = append(append(dst, name...), ':', ' ')
	for i := 0; i < len(value); i++ {
		if c := value[i]; c < 0x20 || c == 0x7f {
			dst = append(dst, ' ')
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, '\r', '\n')
}

// LengthName is the name of the field with the length of the block.
const LengthName = "Content-Length"

// AppendLength appends the line with the length of the block in bytes.
func AppendLength(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(append(dst, LengthName+": "...), n, 10), "\r\n"...)
}

// AppendURI appends a URI and percent-encodes every byte that is not allowed in it: controls, spaces, angle brackets,
// quotes and non-ASCII bytes. A normal form has none of them and is copied.
func AppendURI[T string | []byte](dst []byte, uri T) []byte {
	const digits = "0123456789ABCDEF"
	for i := 0; i < len(uri); i++ {
		c := uri[i]
		if c <= 0x20 || c >= 0x7f || c == '<' || c == '>' || c == '"' {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// IsToken reports whether s is a valid field name.
func IsToken(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= 0x20, c >= 0x7f:
			return false
		case c == ':', c == '(', c == ')', c == '<', c == '>', c == '@', c == ',', c == ';', c == '\\', c == '"',
			c == '/', c == '[', c == ']', c == '?', c == '=', c == '{', c == '}':
			return false
		}
	}
	return s != ""
}

// SingleFields is the number of fields that may occur only once.
const SingleFields = 14

// SingleField returns the index of a name among them, -1 for other names. WARC-Concurrent-To may be repeated, and
// foreign fields are not known.
func SingleField(name string) int {
	single := [SingleFields]string{
		"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length", "Content-Type", "WARC-Target-URI",
		"WARC-IP-Address", "WARC-Block-Digest", "WARC-Payload-Digest", "WARC-Refers-To", "WARC-Truncated",
		"WARC-Warcinfo-ID", "WARC-Filename", "WARC-Profile",
	}
	return slices.IndexFunc(single[:], func(s string) bool { return strings.EqualFold(s, name) })
}
