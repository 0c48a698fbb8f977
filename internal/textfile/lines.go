package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode"
)

// Lines are the lines of a text. A line ends with LF, CR LF or CR. It has one user.
type Lines struct {
	in      *bufio.Reader
	longest int
	line    []byte
	number  int
	isCut   bool
	afterCR bool // the last line ended with CR: a LF that follows belongs to it
	err     error
}

// Read returns the lines of in. Of a line with more than longest bytes only its begin is kept.
func Read(in io.Reader, longest int) *Lines {
	return &Lines{in: bufio.NewReaderSize(newDecoder(in), readSize), longest: longest}
}

// Scan goes on to the next line, and reports whether there is one.
func (l *Lines) Scan() bool {
	l.line, l.isCut = l.line[:0], false
	for l.err == nil {
		piece, err := l.piece()
		if l.afterCR && len(piece) > 0 {
			l.afterCR = false
			if piece[0] == '\n' {
				l.discard(1)
				continue
			}
		}
		end := bytes.IndexAny(piece, "\r\n")
		if end >= 0 {
			l.keep(piece[:end])
			l.afterCR = piece[end] == '\r'
			l.discard(end + 1)
			l.number++
			return true
		}
		l.keep(piece)
		l.discard(len(piece))
		if l.err = err; err != nil && len(l.line) > 0 {
			l.number++
			return true
		}
	}
	return false
}

// piece returns what is there, at least one byte unless there is an error.
func (l *Lines) piece() ([]byte, error) {
	if _, err := l.in.Peek(1); err != nil {
		return nil, err
	}
	b, _ := l.in.Peek(l.in.Buffered()) // it is there
	return b, nil
}

func (l *Lines) discard(n int) { _, _ = l.in.Discard(n) } // as above

func (l *Lines) keep(b []byte) {
	if room := l.longest - len(l.line); len(b) > room {
		b, l.isCut = b[:room], true
	}
	l.line = append(l.line, b...)
}

// Raw returns the line as it stands in the file, without its end. It is good until the next Scan.
func (l *Lines) Raw() []byte { return l.line }

// Text returns the line as UTF-8, without blanks and invisible characters around it. It is good until the next Scan.
func (l *Lines) Text() []byte { return Trim(UTF8(l.line)) }

// Number returns the number of the line, from 1.
func (l *Lines) Number() int { return l.number }

// IsCut reports whether the line is longer than allowed: Text and Raw return its begin.
func (l *Lines) IsCut() bool { return l.isCut }

// Err returns why the lines ended; nil at the end of the text.
func (l *Lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// Plain makes a text safe for a terminal: one line without control characters, which stand as in Go's strings.
func Plain(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}

// Trim takes blanks and invisible characters away from both ends of a text.
func Trim(text []byte) []byte { return bytes.TrimFunc(text, isInvisible) }

// isInvisible reports whether a character is a blank, a control character, or one without a width.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r >= '\u200b' && r <= '\u200f' || r == '\u2060' || r == '\ufeff'
}
