package block

import (
	"strings"

	"orbweaver/internal/httphead"
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

// Chunked reports whether the body is chunked, as far as the head tells. A response of HTTP/1.0 never is.
func (h *Head) Chunked() bool {
	first := []byte(h.First)
	return (httphead.Start(first) < 0 || httphead.Version(first) > 10) && h.hasChunkedCoding()
}

func (h *Head) hasChunkedCoding() bool {
	for i := range h.Fields {
		if f := &h.Fields[i]; strings.EqualFold(f.Name, "Transfer-Encoding") && httphead.IsChunked([]byte(f.Value)) {
			return true
		}
	}
	return false
}

// ParseHead parses a complete head as package httphead reads it.
func ParseHead(raw []byte) Head {
	first, fields := httphead.Split(raw)
	h := Head{Raw: raw, First: string(first), Fields: make([]Field, 0, fieldsUsual)}
	h.Status, _ = httphead.Status(first)
	var text strings.Builder // all names and values
	text.Grow(len(fields))
	for name, value := range httphead.Fields(fields) {
		from := text.Len()
		text.Write(name)
		text.Write(value)
		both := text.String()[from:]
		h.Fields = append(h.Fields, Field{Name: both[:len(name)], Value: both[len(name):]})
	}
	return h
}

// fieldsUsual is for how many fields a head has room from the start.
const fieldsUsual = 16
