package pdflinks

import "bytes"

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a number or a keyword
	tokenName             // without its slash; # escapes are not decoded
	tokenString           // without its parentheses
	tokenHex              // without its angle brackets
	tokenOpenDict
	tokenCloseDict
	tokenOpenArray
	tokenCloseArray
)

// The classes of bytes (ISO 32000-1, 7.2.2).
const (
	classRegular uint8 = iota
	classSpace
	classDelimiter
)

// class has the class of each byte.
var class = classTable() //nolint:gochecknoglobals // a table

func classTable() (table [256]uint8) {
	for _, c := range "\x00\t\n\f\r " {
		table[c] = classSpace
	}
	for _, c := range "()<>[]{}/%" {
		table[c] = classDelimiter
	}
	return table
}

// lexer reads tokens. It never goes back, so its time is linear.
type lexer struct {
	b []byte
	p int
}

// next returns the next token. text aliases the bytes.
func (l *lexer) next() (kind tokenKind, text []byte) {
	for {
		for l.p < len(l.b) && class[l.b[l.p]] == classSpace {
			l.p++
		}
		if l.p >= len(l.b) {
			return tokenEnd, nil
		}
		if class[l.b[l.p]] == classRegular {
			return tokenWord, l.regular()
		}
		c := l.b[l.p]
		l.p++
		switch c {
		case '%':
			l.skipComment()
		case '/':
			return tokenName, l.regular()
		case '(':
			if text, ok := l.literal(); ok {
				return tokenString, text
			}
		case '<':
			if l.p < len(l.b) && l.b[l.p] == '<' {
				l.p++
				return tokenOpenDict, nil
			}
			if text, ok := l.hex(); ok {
				return tokenHex, text
			}
		case '>':
			if l.p < len(l.b) && l.b[l.p] == '>' {
				l.p++
				return tokenCloseDict, nil
			}
		case '[':
			return tokenOpenArray, nil
		case ']':
			return tokenCloseArray, nil
		}
	}
}

// regular returns the regular characters at the place.
func (l *lexer) regular() []byte {
	start := l.p
	for l.p < len(l.b) && class[l.b[l.p]] == classRegular {
		l.p++
	}
	return l.b[start:l.p]
}

func (l *lexer) skipComment() {
	for l.p < len(l.b) && l.b[l.p] != '\n' && l.b[l.p] != '\r' {
		l.p++
	}
}

// literal reads a string to its closing parenthesis. A string without one ends before the line with endobj, and does
// not count.
func (l *lexer) literal() (text []byte, ok bool) {
	start, depth := l.p, 1
	for ; l.p < len(l.b); l.p++ {
		switch l.b[l.p] {
		case '\\':
			l.p++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.p++
				return l.b[start : l.p-1], true
			}
		case '\n', '\r':
			if bytes.HasPrefix(l.b[l.p+1:], []byte("endobj")) {
				return nil, false
			}
		}
	}
	l.p = len(l.b)
	return nil, false
}

// hex reads a hexadecimal string to its closing bracket. One with a delimiter inside does not count.
func (l *lexer) hex() (text []byte, ok bool) {
	start := l.p
	for ; l.p < len(l.b); l.p++ {
		if c := l.b[l.p]; class[c] == classDelimiter {
			if c != '>' {
				return nil, false
			}
			l.p++
			return l.b[start : l.p-1], true
		}
	}
	return nil, false
}

// numberMax is the largest integer that is read; larger ones are as good as it.
const numberMax = 1 << 30

// integerOf returns the value of a word with an integer that is not negative.
func integerOf(word []byte) (n int, ok bool) {
	for _, c := range word {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), numberMax)
	}
	return n, len(word) > 0
}
