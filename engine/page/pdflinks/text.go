package pdflinks

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// appendBytes appends the bytes of a string.
func appendBytes(dst []byte, t *text) []byte {
	if t.isHex {
		return appendHex(dst, t.raw)
	}
	return appendLiteral(dst, t.raw)
}

// textFrom reads the bytes of a string behind start. It replaces them by what they say, in UTF-8, without blanks around
// it.
func textFrom(dst []byte, start int) []byte {
	raw := dst[start:]
	switch {
	case bytes.HasPrefix(raw, []byte("\xFE\xFF")):
		dst = append(dst[:start], utf8Of(raw[2:], binary.BigEndian)...)
	case bytes.HasPrefix(raw, []byte("\xFF\xFE")):
		dst = append(dst[:start], utf8Of(raw[2:], binary.LittleEndian)...)
	case bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")):
		dst = append(dst[:start], raw[3:]...)
	case !utf8.Valid(raw):
		latin := make([]byte, 0, 2*len(raw))
		for _, c := range raw {
			latin = utf8.AppendRune(latin, rune(c))
		}
		dst = append(dst[:start], latin...)
	}
	dst = append(dst[:start], bytes.Trim(dst[start:], "\x00\t\n\f\r ")...)
	if isWithoutScheme(dst[start:]) {
		return slices.Insert(dst, start, []byte("http://")...)
	}
	return dst
}

// isWithoutScheme reports whether a reference is meant to be a host: www. and another dot.
func isWithoutScheme(ref []byte) bool {
	return bytes.HasPrefix(ref, []byte("www.")) && bytes.Count(ref, []byte(".")) > 1
}

// utf8Of returns UTF-16 as UTF-8.
func utf8Of(b []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, 3*len(b)/2)
	for ; len(b) > 1; b = b[2:] {
		r := rune(order.Uint16(b))
		if len(b) > 3 && utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, rune(order.Uint16(b[2:]))); pair != utf8.RuneError {
				r, b = pair, b[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// appendHex appends the bytes of a hexadecimal string. A last digit without its pair is followed by 0.
func appendHex(dst, raw []byte) []byte {
	high, isHigh := byte(0), true
	for _, c := range raw {
		digit, ok := hexDigit(c)
		switch {
		case !ok:
		case isHigh:
			high, isHigh = digit<<4, false
		default:
			dst, isHigh = append(dst, high|digit), true
		}
	}
	if !isHigh {
		dst = append(dst, high)
	}
	return dst
}

func hexDigit(c byte) (digit byte, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// appendLiteral appends the bytes of a string in parentheses (ISO 32000-1, 7.3.4.2).
func appendLiteral(dst, raw []byte) []byte {
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\r' { // an end of line is a line feed
			c = '\n'
			if i+1 < len(raw) && raw[i+1] == '\n' {
				i++
			}
		}
		if c != '\\' || i+1 == len(raw) {
			dst = append(dst, c)
			continue
		}
		i++
		switch c = raw[i]; c {
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case '\n':
		case '\r':
			if i+1 < len(raw) && raw[i+1] == '\n' {
				i++
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			value := 0
			for n := 0; n < 3 && i < len(raw) && raw[i] >= '0' && raw[i] <= '7'; n++ {
				value = value<<3 | int(raw[i]-'0')
				i++
			}
			i--
			dst = append(dst, byte(value)) // the higher bits of one above \377 are ignored
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// unescapeName returns a name without its # escapes.
func unescapeName(name []byte) []byte {
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] == '#' && i+2 < len(name) {
			high, isHigh := hexDigit(name[i+1])
			low, isLow := hexDigit(name[i+2])
			if isHigh && isLow {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, name[i])
	}
	return out
}
