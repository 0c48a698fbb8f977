package parse

import (
	"unicode/utf8"
)

// scanStyle reports the references of a style sheet: url(), @import, and the strings of image-set(). The url() of
// @namespace and @document, and in the conditions of @supports and @import, are not requested. decoded says that css is
// UTF-8 already.
func (l *linkList) scanStyle(css []byte, decoded bool) {
	l.text.work += len(css)
	var importing, naming, choosing bool // the next string is a reference; in a rule of names; behind image-set(
	for p := 0; p < len(css); {
		c := css[p]
		if class[c]&startsCSS == 0 {
			if c == ';' || c == '{' || c == '}' {
				importing, naming, choosing = false, false, false
			}
			p++
			continue
		}
		switch c {
		case '/':
			if p++; p < len(css) && css[p] == '*' {
				p = after(css, p+1, "*/")
			}
		case '\\':
			p += 2
		case '"', '\'':
			ref, escaped, next := cssString(css, p)
			isChoice := isImageChoice(css[:p], choosing)
			if importing || isChoice && !naming {
				l.cssRef(ref, escaped, decoded)
				naming = naming || importing // what follows in @import are conditions
				importing = false
			}
			choosing = choosing || isChoice
			p = next
		case '@':
			p++
			if foldPrefix(css[p:], "import") {
				p += len("import")
				importing = p < len(css) && class[css[p]]&isIdent == 0
			}
			naming = foldPrefix(css[p:], "namespace") || foldPrefix(css[p:], "document") ||
				foldPrefix(css[p:], "-moz-document") || foldPrefix(css[p:], "supports")
		default:
			if !foldPrefix(css[p:], "url(") || p > 0 && class[css[p-1]]&isIdent != 0 {
				p++
				continue
			}
			ref, escaped, next, ok := cssURL(css, p+len("url("))
			if ok && !naming {
				l.cssRef(ref, escaped, decoded)
			}
			importing, naming = false, naming || importing
			p = next
		}
	}
}

// isImageChoice reports whether a string behind css is one of the images of image-set(): the first, or, if choosing,
// one behind a comma. A string in type() is none.
func isImageChoice(css []byte, choosing bool) bool {
	p := len(css)
	for p > 0 && class[css[p-1]]&isSpace != 0 {
		p--
	}
	switch {
	case p == 0:
		return false
	case css[p-1] == ',':
		return choosing
	case css[p-1] != '(':
		return false
	}
	const name = "image-set"
	return p > len(name) && foldPrefix(css[p-1-len(name):], name)
}

// cssString reads the string that starts with the quote at css[p]. A line end terminates it.
func cssString(css []byte, p int) (text []byte, escaped bool, next int) {
	quote := css[p]
	start := p + 1
	for p = start; p < len(css); p++ {
		switch css[p] {
		case quote:
			return css[start:p], escaped, p + 1
		case '\n', '\r', '\f':
			return nil, false, p
		case '\\':
			escaped = true
			p++
		}
	}
	return css[start:], escaped, len(css)
}

// cssURL reads what follows "url(" up to the closing parenthesis. ok is false if it is not a URL.
func cssURL(css []byte, p int) (ref []byte, escaped bool, next int, ok bool) {
	for p < len(css) && class[css[p]]&isSpace != 0 {
		p++
	}
	if p < len(css) && (css[p] == '"' || css[p] == '\'') {
		ref, escaped, next = cssString(css, p)
		return ref, escaped, after(css, next, ")"), ref != nil
	}
	start := p
	for ; p < len(css); p++ {
		switch c := css[p]; {
		case c == ')':
			return css[start:p], escaped, p + 1, true
		case c == '\\':
			escaped = true
			p = endOfCSSEscape(css, p+1) - 1
		case class[c]&isSpace != 0:
			end := p
			for p < len(css) && class[css[p]]&isSpace != 0 {
				p++
			}
			if p < len(css) && css[p] != ')' {
				return nil, false, after(css, p, ")"), false
			}
			return css[start:end], escaped, min(p+1, len(css)), true
		case c == '"' || c == '\'' || c == '(':
			return nil, false, after(css, p, ")"), false
		}
	}
	return css[min(start, len(css)):], escaped, len(css), true
}

// endOfCSSEscape gives the offset after the escape whose backslash is in front of css[p].
func endOfCSSEscape(css []byte, p int) int {
	first := p
	for p < len(css) && p < first+6 && charrefDigit(css[p]) < 16 {
		p++
	}
	if p == first {
		return p + 1
	}
	if p < len(css) && class[css[p]]&isSpace != 0 {
		p++
	}
	return p
}

// cssRef reports a reference of a style sheet.
func (l *linkList) cssRef(ref []byte, escaped, decoded bool) {
	if ref = trimControl(ref); len(ref) == 0 {
		return
	}
	if foreignScheme(ref) {
		l.res.LinksForeign++
		return
	}
	if len(ref) > longestReference*l.o.RefMax {
		l.res.LinksLong++
		return
	}
	l.text.asUTF8 = true // queries of style sheets are in UTF-8, whatever their own character set
	if !decoded && !plain(ref) {
		start := len(l.text.arena)
		l.text.arena = appendNoNUL(l.text.arena, l.text.toUTF8(ref))
		ref = l.text.arena[start:len(l.text.arena):len(l.text.arena)]
		l.text.asUTF8 = true
	}
	if escaped {
		start := len(l.text.arena)
		l.text.arena = appendCSSUnescaped(l.text.arena, ref)
		ref = l.text.arena[start:len(l.text.arena):len(l.text.arena)]
	}
	l.add(CSS, ref, false)
}

// appendCSSUnescaped appends src to dst with its escapes replaced: up to six hexadecimal digits and one space that ends
// them, a line end that stands for nothing, or any other character that stands for itself.
func appendCSSUnescaped(dst, src []byte) []byte {
	for p := 0; p < len(src); {
		if src[p] != '\\' {
			dst = append(dst, src[p])
			p++
			continue
		}
		if p++; p >= len(src) {
			return dst
		}
		if charrefDigit(src[p]) == 16 {
			if c := src[p]; c != '\n' && c != '\r' && c != '\f' {
				dst = append(dst, c)
			}
			p++
			continue
		}
		var r rune
		for n := 0; n < 6 && p < len(src) && charrefDigit(src[p]) < 16; n++ {
			r = r<<4 | charrefDigit(src[p])
			p++
		}
		if p < len(src) && class[src[p]]&isSpace != 0 {
			p++
		}
		if r == 0 || !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
