package httphead

import (
	"bytes"
	"iter"
)

// slop is how many bytes may precede the status line, as in Chromium (net/http/http_util.cc).
const slop = 4

// Start returns the position of the status line in the first bytes of a response, or -1 if there is none. It returns -1
// also if b is too short to tell; then MayStart is true.
func Start(b []byte) int {
	if HasPrefix(b, "icy ") {
		return 0
	}
	for i := range min(len(b), slop+1) {
		if rest := b[i:]; HasPrefix(rest, "http") && len(rest) > len("http") && followsHTTP(rest[len("http")]) {
			return i
		}
	}
	return -1
}

// MayStart reports whether a status line begins in b, or can begin there when more bytes have come.
func MayStart(b []byte) bool {
	if Start(b) >= 0 || StartsLike(b, "icy ") {
		return true
	}
	for i := 0; i <= slop && i <= len(b); i++ {
		if len(b)-i <= len("http") && StartsLike(b[i:], "http") {
			return true
		}
	}
	return false
}

// StartsLike reports whether b begins with prefix, or prefix with b.
func StartsLike(b []byte, prefix string) bool {
	n := min(len(b), len(prefix))
	return HasPrefix(b[:n], prefix[:n])
}

// followsHTTP reports whether HTTP and this byte begin a status line, and not a URL or a word.
func followsHTTP(c byte) bool { return c == '/' || isBlank(c) || isDigit(c) }

// Length returns the length of the head of a response or request at the start of b with the empty line at its end; 0 if
// it is incomplete.
func Length(b []byte) int {
	i := Start(b)
	if i < 0 && MayStart(b) {
		return 0
	}
	for i = max(i, 0); ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n + 1
		if IsEmptyLine(b[i:]) {
			return i + bytes.IndexByte(b[i:], '\n') + 1
		}
	}
}

// IsEmptyLine reports whether b begins with an empty line.
func IsEmptyLine(b []byte) bool {
	return len(b) > 0 && b[0] == '\n' || len(b) > 1 && b[0] == '\r' && b[1] == '\n'
}

// Split splits a head into its first line and its fields.
func Split(head []byte) (line, fields []byte) { return CutLine(head[max(Start(head), 0):]) }

// CutLine splits b behind its first line, and removes the line end.
func CutLine(b []byte) (line, rest []byte) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		line = b
	} else {
		line, rest = b[:end], b[end+1:]
	}
	switch cr := bytes.IndexByte(line, '\r'); {
	case cr < 0:
	case cr == end-1:
		line = line[:cr]
	default:
		line, rest = b[:cr], b[cr+1:]
	}
	return line, rest
}

// Version returns the version of a status line, 11 for HTTP/1.1. One that cannot be read counts as 1.0, which allows
// less.
func Version(line []byte) int {
	const digits = len("http/")
	if len(line) < digits+3 || !HasPrefix(line, "http/") || !isDigit(line[digits]) || line[digits+1] != '.' ||
		!isDigit(line[digits+2]) || len(line) > digits+3 && !isBlank(line[digits+3]) {
		return 10
	}
	return int(line[digits]-'0')*10 + int(line[digits+2]-'0')
}

// Status returns the status of a status line: the number behind the version, of at most three digits.
func Status(line []byte) (status int, ok bool) {
	if Start(line) != 0 {
		return 0, false
	}
	at := len("icy")
	for at < len(line) && !isBlank(line[at]) {
		at++
	}
	number := TrimBlanks(line[at:])
	digits := 0
	for ; digits < len(number) && isDigit(number[digits]); digits++ {
		if digits == 3 {
			return 0, false
		}
		status = status*10 + int(number[digits]-'0')
	}
	return status, digits > 0
}

// IsChunked reports whether the last coding of a Transfer-Encoding is chunked.
func IsChunked(value []byte) bool {
	value = value[bytes.LastIndexByte(value, ',')+1:]
	value, _, _ = bytes.Cut(value, []byte{';'})
	return EqualFold(TrimBlanks(value), "chunked")
}

// Fields iterates over fields: the name as sent, and the value.
func Fields(fields []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for len(fields) > 0 {
			var line []byte
			line, fields = CutLine(fields)
			if len(line) == 0 {
				continue // between two bare CR, or the end
			}
			for isFolded := false; len(fields) > 0 && isBlank(fields[0]); isFolded = true {
				var more []byte
				more, fields = CutLine(fields)
				line = joinFold(line, isFolded, more)
			}
			colon := bytes.IndexByte(line, ':')
			if colon <= 0 || isBlank(line[0]) {
				continue
			}
			if !yield(TrimBlanks(line[:colon]), TrimBlanks(line[colon+1:])) {
				return
			}
		}
	}
}

// joinFold appends a continuation to a line; the first time to a copy.
func joinFold(line []byte, isCopy bool, more []byte) []byte {
	if !isCopy {
		line = append(make([]byte, 0, len(line)+len(more)+1), line...)
	}
	line = append(line, ' ')
	return append(line, TrimBlanks(more)...)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// TrimBlanks returns b without blanks at its ends.
func TrimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// EqualFold compares letters of ASCII without regard to case.
func EqualFold(b []byte, s string) bool { return len(b) == len(s) && HasPrefix(b, s) }

// HasPrefix reports whether b begins with prefix, without regard to the case of letters of ASCII.
func HasPrefix(b []byte, prefix string) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(b[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
