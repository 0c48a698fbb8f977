package block

import (
	"bytes"
	"strconv"
	"strings"

	"orbweaver/internal/mediatype"
)

// HeadMax is the length in bytes of the longest head that a caller should parse.
const HeadMax = 1 << 20

// Field is one field of the head of an HTTP message.
type Field struct {
	Name  string
	Value string
}

// Head is the head of an HTTP message in a block.
type Head struct {
	// Raw is the stored head including the empty line at its end.
	Raw []byte
	// First is the status line or request line.
	First string
	// Status of a response, 0 if there is none.
	Status int
	// Fields in order; folded lines are joined.
	Fields []Field
}

// Get returns the value of the first field of this name, ignoring case; empty if there is none.
func (h *Head) Get(name string) string {
	for i := range h.Fields {
		if strings.EqualFold(h.Fields[i].Name, name) {
			return h.Fields[i].Value
		}
	}
	return ""
}

// List returns the values of all fields of this name, joined by ", "; empty if there is none.
func (h *Head) List(name string) string {
	list, n := "", 0
	for i := range h.Fields {
		if f := &h.Fields[i]; strings.EqualFold(f.Name, name) {
			if n++; n > 1 {
				list += ", "
			}
			list += f.Value
		}
	}
	return list
}

// ContentType returns the media type that the fields Content-Type have, with parameters, as package mediatype reads
// them; empty if none is valid.
func (h *Head) ContentType() string {
	return string(mediatype.Declared([]byte(h.List("Content-Type"))))
}

// Chunked reports whether the body is chunked.
func (h *Head) Chunked() bool {
	for _, f := range h.Fields {
		if strings.EqualFold(f.Name, "Transfer-Encoding") {
			codings := strings.Split(f.Value, ",")
			if strings.EqualFold(strings.TrimSpace(codings[len(codings)-1]), "chunked") {
				return true
			}
		}
	}
	return false
}

// HeadLength returns the length of the head at the start of b, 0 if it is incomplete. Lines may end in LF only.
func HeadLength(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n + 1
		if rest := b[i:]; len(rest) > 0 && rest[0] == '\n' {
			return i + 1
		} else if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return i + 2
		}
	}
}

// ParseHead parses a complete head in the same way as engine/fetch. So the index of a response is the same, whether it
// was made during the fetch or from the archive. Lines without a colon are ignored.
func ParseHead(raw []byte) Head {
	h := Head{Raw: raw, Fields: make([]Field, 0, fieldsUsual)}
	first, rest := cutLine(string(raw))
	h.First, h.Status = first, statusOf(first)
	for len(rest) > 0 {
		var line string
		if line, rest = cutLine(rest); line == "" {
			break
		}
		if len(rest) > 0 && isBlank(rest[0]) {
			line, rest = unfold(line, rest)
		}
		if name, value, ok := strings.Cut(line, ":"); ok && !isBlank(line[0]) && name != "" {
			h.Fields = append(h.Fields, Field{Name: strings.Trim(name, blanks), Value: strings.Trim(value, blanks)})
		}
	}
	return h
}

// unfold adds the lines that continue a line to it.
func unfold(line, rest string) (whole, behind string) {
	joined := []byte(line)
	for len(rest) > 0 && isBlank(rest[0]) {
		line, rest = cutLine(rest)
		joined = append(append(joined, ' '), strings.Trim(line, blanks)...)
	}
	return string(joined), rest
}

// fieldsUsual is for how many fields a head has room from the start.
const fieldsUsual = 16

// statusOf returns the status of a status line: up to three digits after the version, without a fourth.
func statusOf(line string) int {
	at := strings.IndexAny(line, blanks)
	if at < 0 || !hasPrefixFold(line, "http/") && !hasPrefixFold(line, "icy ") {
		return 0
	}
	digits := 0
	number := strings.TrimLeft(line[at:], blanks)
	for digits < len(number) && '0' <= number[digits] && number[digits] <= '9' {
		digits++
	}
	if digits > 3 {
		return 0
	}
	n, _ := strconv.Atoi(number[:digits]) // 0 for no digits
	return n
}

// IsStatusLine reports whether b starts with the version of HTTP.
func IsStatusLine(b []byte) bool {
	return hasPrefixFold(string(b[:min(len(b), len("http/"))]), "http/")
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

const blanks = " \t"

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// cutLine splits b after its first line and removes the line end, LF or CRLF.
func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}
