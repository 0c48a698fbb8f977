package parse

import (
	"bytes"
	"html"
	"unicode/utf8"
)

// appendUnescaped appends src to dst with character references replaced and NUL replaced by U+FFFD. In an attribute, a
// reference without a semicolon stays if an equals sign, a letter or a digit follows.
func appendUnescaped(dst, src []byte, inAttr bool) []byte {
	for len(src) > 0 {
		i := bytes.IndexByte(src, '&')
		if i < 0 {
			i = len(src)
		}
		dst = appendNoNUL(dst, src[:i])
		if src = src[i:]; len(src) == 0 {
			return dst
		}
		var n int
		dst, n = appendReference(dst, src, inAttr)
		if n == 0 {
			dst, n = append(dst, '&'), 1
		}
		src = src[n:]
	}
	return dst
}

// appendNoNUL appends src to dst with NUL replaced by U+FFFD.
func appendNoNUL(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, 0)
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(append(dst, src[:i]...), "\uFFFD"...)
		src = src[i+1:]
	}
}

// appendReference appends the character of the reference at the start of src, an ampersand, and returns its length; 0
// if it is none.
func appendReference(dst, src []byte, inAttr bool) ([]byte, int) {
	if len(src) > 1 && src[1] == '#' {
		return appendNumeric(dst, src)
	}
	end := 1
	for end < len(src) && end <= longestName && isAlnum(src[end]) {
		end++
	}
	name := src[1:end]
	if len(name) == 0 {
		return dst, 0
	}
	semicolon := end < len(src) && src[end] == ';'
	if r := legacyReference(string(name)); r != 0 {
		switch {
		case semicolon:
			return utf8.AppendRune(dst, r), end + 1
		case inAttr && end < len(src) && src[end] == '=':
			return dst, 0
		}
		return utf8.AppendRune(dst, r), end
	}
	if semicolon {
		switch string(name) { // the two that the standard library omits, because they are longer than their names
		case "nLt":
			return append(dst, "\u226A\u20D2"...), end + 1
		case "nGt":
			return append(dst, "\u226B\u20D2"...), end + 1
		}
		// The library decodes all others. This allocates, but is rare in links.
		ref := string(src[:end+1])
		if text := html.UnescapeString(ref); text != ref && (text == ";" || text[len(text)-1] != ';') {
			return append(dst, text...), end + 1
		}
	}
	if !inAttr {
		for n := min(len(name)-1, 6); n >= 2; n-- {
			if r := legacyReference(string(name[:n])); r != 0 {
				return utf8.AppendRune(dst, r), n + 1
			}
		}
	}
	return dst, 0
}

// longestName is the length of the longest name of a character reference.
const longestName = 31

func isAlnum(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

// appendNumeric reads &#123; or &#x7B;, the semicolon optional.
func appendNumeric(dst, src []byte) ([]byte, int) {
	p, base := 2, rune(10)
	if p < len(src) && src[p]|0x20 == 'x' {
		p, base = 3, 16
	}
	first := p
	var r rune
	for ; p < len(src); p++ {
		d := charrefDigit(src[p])
		if d >= base {
			break
		}
		if r = r*base + d; r > utf8.MaxRune {
			r = utf8.MaxRune + 1
		}
	}
	if p == first {
		return dst, 0
	}
	if p < len(src) && src[p] == ';' {
		p++
	}
	switch {
	case 0x80 <= r && r <= 0x9F:
		r = c1Controls[r-0x80]
	case r == 0 || r > utf8.MaxRune || 0xD800 <= r && r <= 0xDFFF:
		r = utf8.RuneError
	}
	return utf8.AppendRune(dst, r), p
}

// charrefDigit returns the value of a hexadecimal digit; 16 if it is none.
func charrefDigit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}

// c1Controls are the characters for numeric references to control characters, as in windows-1252.
var c1Controls = [32]rune{
	0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
	0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
	0x017E, 0x0178,
}

// latin1 names the characters from U+00A0 to U+00FF, in order.
var latin1 = [96]string{
	"nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
	"reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm", "raquo",
	"frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil",
	"Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute",
	"Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig",
	"agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml",
	"igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide",
	"oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
}

// legacyReferences holds the names that need no semicolon.
var legacyReferences = func() map[string]rune {
	m := map[string]rune{
		"amp": '&', "AMP": '&', "lt": '<', "LT": '<', "gt": '>', "GT": '>', "quot": '"', "QUOT": '"',
		"COPY": 0xA9, "REG": 0xAE,
	}
	for i, name := range latin1 {
		m[name] = rune(0xA0 + i)
	}
	return m
}()

// legacyReference gives the character of a name that needs no semicolon, or zero.
func legacyReference(name string) rune {
	if name == "amp" {
		return '&'
	}
	if len(name) > 6 {
		return 0
	}
	return legacyReferences[name]
}
