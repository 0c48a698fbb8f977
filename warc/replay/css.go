package replay

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// refMost is how long a reference of a style sheet may be, in bytes. Longer ones stay as they are.
const refMost = 64 << 10

// sheetPeek is how many bytes of a style sheet are looked at before they are read: those of a buffer, at least.
const sheetPeek = 64

// sheet writes a style sheet with the addresses of what it refers to. Memory is bounded by refMost.
type sheet struct {
	*references

	in  *bufio.Reader
	out writer
	err error // of in

	inPage    bool // it is part of a page, so that no tag may begin in it
	importing bool // the string that follows is a reference
	depth     int  // of parentheses
	set       int  // depth within image-set(); 0 if there is none
}

// rewriteSheet writes a style sheet of its own.
func rewriteSheet(w io.Writer, body io.Reader, t target, base []byte) error {
	out := bufio.NewWriterSize(w, 16<<10)
	s := sheet{references: &references{t: t, base: base}, in: bufio.NewReaderSize(body, 16<<10), out: out}
	if err := s.rewriteAll(); err != nil {
		return err
	}
	return out.Flush()
}

// next returns the next byte. At the end it returns 0, and err is set.
func (s *sheet) next() byte {
	c, err := s.in.ReadByte()
	if err != nil {
		s.err = err
	}
	return c
}

// peek returns the byte that follows; 0 at the end.
func (s *sheet) peek() byte {
	if b, _ := s.in.Peek(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

func (s *sheet) put(c byte)        { _ = s.out.WriteByte(c) }         // the writer keeps the error
func (s *sheet) write(text string) { _, _ = s.out.WriteString(text) } // as above

// rewriteAll writes the style sheet to its end.
func (s *sheet) rewriteAll() error {
	for c := s.next(); s.err == nil; c = s.next() {
		switch {
		case c == '/' && s.peek() == '*':
			s.skipComment()
		case c == '"' || c == '\'':
			isReference := s.importing || s.set > 0 && s.set == s.depth
			s.importing = false
			s.value(c, isReference)
		case c == '@':
			s.put(c)
			s.importing = strings.EqualFold(s.word(0), "import")
		case isWord(c):
			s.function(s.word(c))
		case c == '<' && s.inPage:
			s.angle()
		case c == '\\': // of a word; what follows begins nothing
			if s.peek() != '<' {
				s.put(c)
			}
			s.text(s.next())
		default:
			s.bracket(c)
			s.put(c)
		}
	}
	if isEOF(s.err) {
		return nil
	}
	return s.err
}

// bracket counts parentheses, and ends what a byte ends.
func (s *sheet) bracket(c byte) {
	switch c {
	case '(':
		s.depth++
	case ')':
		if s.depth == s.set {
			s.set = 0
		}
		s.depth = max(0, s.depth-1)
	case ';', '{', '}':
		s.importing, s.depth, s.set = false, 0, 0
	}
}

// skipComment leaves a comment out, and keeps what is around it apart.
func (s *sheet) skipComment() {
	last := byte(0)
	_ = s.next()
	for c := s.next(); s.err == nil && (last != '*' || c != '/'); c = s.next() {
		last = c
	}
	s.write("/**/")
}

// angle writes a "<" that is outside of strings, so that no tag begins there.
func (s *sheet) angle() {
	b, _ := s.in.Peek(len("!--"))
	if string(b) == "!--" { // it means nothing in a style sheet
		_, _ = s.in.Discard(len(b)) // they are in the buffer
		return
	}
	s.put('<')
	if len(b) == 0 || isAlpha(b[0]) || b[0] == '/' || b[0] == '!' || b[0] == '?' {
		s.put(' ')
	}
}

func isWord(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '-' || c == '_' || c >= utf8.RuneSelf
}

// word writes a word, and returns its first bytes. first is its first byte, 0 if that was not read.
func (s *sheet) word(first byte) string {
	var name []byte
	if first != 0 {
		name = append(name, first)
		s.put(first)
	}
	for isWord(s.peek()) {
		c := s.next()
		if s.put(c); len(name) < nameMost {
			name = append(name, c)
		}
	}
	return string(name)
}

// function reads on behind a word, if it is the name of a function with references.
func (s *sheet) function(name string) {
	if s.peek() != '(' {
		return
	}
	switch strings.ToLower(name) {
	case "url", "src":
	case "image-set", "-webkit-image-set":
		if s.set == 0 {
			s.set = s.depth + 1
		}
		return
	default:
		return
	}
	s.importing = false
	s.put(s.next())
	s.depth++
	for isSpace(s.peek()) {
		s.next()
	}
	switch c := s.peek(); c {
	case '"', '\'':
		s.value(s.next(), true)
	default:
		s.value(')', true)
	}
}

// value writes a string behind its quote, or what is in url() without quotes behind its parenthesis.
func (s *sheet) value(quote byte, isReference bool) {
	b, _ := s.in.Peek(len(dataScheme))
	if !isReference || isData(string(b)) {
		s.open(quote)
		s.copyValue(quote)
		return
	}
	var raw []byte
	for len(raw) < refMost {
		c := s.peek()
		if c == 0 || c == quote || quote == ')' && isSpace(c) || c == '\n' {
			break
		}
		if raw = append(raw, s.next()); c == '\\' && s.peek() != 0 {
			raw = append(raw, s.next())
		}
	}
	if address, ok := s.address(unescapeCSS(string(raw))); ok && s.peek() == quote {
		s.write(`"`)
		s.write(cssString(address))
		s.write(`"`)
		if s.next(); quote == ')' {
			s.bracket(quote)
			s.put(quote)
		}
		return
	}
	s.open(quote)
	for i := 0; i < len(raw); i++ {
		s.text(raw[i])
	}
	s.copyValue(quote)
}

func (s *sheet) open(quote byte) {
	if quote != ')' {
		s.put(quote)
	}
}

// copyValue writes a value as it is, to its end.
func (s *sheet) copyValue(quote byte) {
	for c := s.next(); s.err == nil; c = s.next() {
		switch {
		case c == '\\' && s.peek() != '<':
			s.put(c)
			s.text(s.next())
		case c == '\\':
		case c == quote || c == '\n' && quote != ')':
			s.bracket(c)
			s.put(c)
			return
		default:
			s.text(c)
		}
	}
}

// text writes a byte of a value.
func (s *sheet) text(c byte) {
	switch {
	case s.err != nil:
	case c == '<' && s.inPage:
		s.write(`\3c `)
	default:
		s.put(c)
	}
}

// cssString escapes a URL for a string of a style sheet.
func cssString(url string) string {
	if !strings.ContainsAny(url, "\\\"\n<") {
		return url
	}
	return strings.NewReplacer(`\`, `\5c `, `"`, `\22 `, "\n", `\a `, "<", `\3c `).Replace(url)
}

// unescapeCSS removes the escapes of a style sheet: a backslash with six digits or fewer, or with another character.
func unescapeCSS(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		end := i + 1
		for end < len(text) && end <= i+6 && strings.IndexByte("0123456789abcdefABCDEF", text[end]) >= 0 {
			end++
		}
		code, err := strconv.ParseUint(text[i+1:end], 16, 32)
		if err != nil {
			i++
			out.WriteByte(text[i])
			continue
		}
		out.WriteRune(rune(code)) //nolint:gosec // six digits; a rune that is none becomes U+FFFD
		if i = end - 1; end < len(text) && isSpace(text[end]) {
			i = end
		}
	}
	return out.String()
}
