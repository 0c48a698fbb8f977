package jsontext

import "unicode/utf8"

// isPlain says whether a byte stands for itself.
func isPlain(c byte) bool { return c >= ' ' && c < 0x7f && c != '"' && c != '\\' }

// load returns eight bytes, the first one lowest.
func load[T string | []byte](s T, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// arePlain is isPlain for eight bytes.
func arePlain(w uint64) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash, deleted := w^'"'*ones, w^'\\'*ones, w^0x7f*ones
	special := w | (w - ' '*ones) | (quote - ones) | (backslash - ones) | (deleted - ones)
	return special&tops == 0 // with a byte beyond ASCII in w, the others do not matter
}

// AppendString appends s as a JSON string, with its quotes.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	return append(AppendContent(append(dst, '"'), s), '"')
}

// AppendContent appends what is between the quotes of a JSON string.
func AppendContent[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); {
		from := i
		for i+8 <= len(s) && arePlain(load(s, i)) {
			i += 8
		}
		for i < len(s) && isPlain(s[i]) {
			i++
		}
		dst = append(dst, s[from:i]...)
		if i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			i++
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			default:
				dst = append(append(dst, `\u00`...), digits[c>>4], digits[c&15])
			}
			continue
		}
		r, n := decodeRune(s, i)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, "\uFFFD"...)
		case r == '\u2028' || r == '\u2029': // some readers treat these as ends of lines
			dst = append(append(dst, `\u202`...), digits[r&15])
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst
}

// decodeRune decodes the rune at i, without a copy of the rest.
func decodeRune[T string | []byte](s T, i int) (r rune, n int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], s[i:min(len(s), i+utf8.UTFMax)])])
}

// Object appends an object or an array, member by member. The zero Object is an empty text.
type Object struct{ Text []byte }

// Reset forgets the text and keeps the memory.
func (o *Object) Reset() { o.Text = o.Text[:0] }

// comma separates a value from the one before.
func (o *Object) comma() {
	if n := len(o.Text); n > 0 && o.Text[n-1] != '{' && o.Text[n-1] != '[' && o.Text[n-1] != ':' {
		o.Text = append(o.Text, ',')
	}
}

// Name appends the name of a member, whose value must follow.
func (o *Object) Name(name string) {
	o.comma()
	o.Text = append(AppendString(o.Text, name), ':')
}

// Open begins an object with '{', or an array with '['.
func (o *Object) Open(bracket byte) {
	o.comma()
	o.Text = append(o.Text, bracket)
}

// Close ends it with the other bracket.
func (o *Object) Close(bracket byte) { o.Text = append(o.Text, bracket) }

// String appends a member whose value is a string.
func (o *Object) String(name, value string) {
	o.Name(name)
	o.Text = AppendString(o.Text, value)
}

// Bytes appends a member whose value is a string.
func (o *Object) Bytes(name string, value []byte) {
	o.Name(name)
	o.Text = AppendString(o.Text, value)
}

// Value appends a string: an element of an array, or the value of a member after Name.
func (o *Object) Value(value string) {
	o.comma()
	o.Text = AppendString(o.Text, value)
}

// Null appends a member whose value is null.
func (o *Object) Null(name string) {
	o.Name(name)
	o.NullValue()
}

// NullValue appends a null: an element of an array, or the value of a member after Name.
func (o *Object) NullValue() {
	o.comma()
	o.Text = append(o.Text, "null"...)
}
