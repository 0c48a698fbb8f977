package warc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// IndexLine is the decoded line of a CDXJ index.
type IndexLine struct {
	URL     []byte
	Status  int // of HTTP, 0 for none
	Revisit bool
	Offset  int64 // of the record in its file, in bytes
	Length  int64 // of the record in its file, in bytes; 0 if unknown
	File    []byte
}

// ParseIndexLine decodes a line of WriteIndex or Writer. URL and File may be parts of line. An error wraps ErrField.
func ParseIndexLine(line []byte) (IndexLine, error) {
	var l IndexLine
	brace := bytes.IndexByte(line, '{')
	if brace < 0 {
		return l, fmt.Errorf("%w: index line %.100q", ErrField, line)
	}
	text := bytes.TrimSpace(line[brace:])
	plain := l.plain(text)
	if !plain {
		if err := l.json(text); err != nil {
			return l, fmt.Errorf("%w: index line %.100q: %w", ErrField, line, err)
		}
	}
	if len(l.URL) == 0 || l.Offset < 0 {
		return l, fmt.Errorf("%w: index line %.100q", ErrField, line)
	}
	return l, nil
}

// plain decodes an object that contains only strings without escapes, the usual case. Otherwise it returns false.
func (l *IndexLine) plain(b []byte) bool {
	*l = IndexLine{Offset: -1}
	if bytes.IndexByte(b, '\\') >= 0 {
		return false
	}
	word := func() ([]byte, bool) {
		if len(b) < 3 || b[1] != '"' {
			return nil, false
		}
		end := bytes.IndexByte(b[2:], '"')
		if end < 0 {
			return nil, false
		}
		w := b[2 : 2+end]
		b = b[3+end:]
		return w, true
	}
	for len(b) > 1 {
		name, ok := word() // behind { or ,
		if !ok || len(b) == 0 || b[0] != ':' {
			return false
		}
		value, ok := word() // behind :
		if !ok || !l.set(name, value) {
			return false
		}
	}
	return string(b) == "}"
}

func (l *IndexLine) set(name, value []byte) bool {
	var err error
	switch string(name) {
	case "url":
		l.URL = value
	case "mime":
		l.Revisit = string(value) == "warc/revisit"
	case "status":
		l.Status, err = strconv.Atoi(string(value))
	case "offset":
		l.Offset, err = strconv.ParseInt(string(value), 10, 64)
	case "length":
		l.Length, err = strconv.ParseInt(string(value), 10, 64)
	case "filename":
		l.File = value
	}
	return err == nil
}

func (l *IndexLine) json(b []byte) error {
	var fields map[string]string
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*l = IndexLine{Offset: -1}
	for name, value := range fields {
		if !l.set([]byte(name), []byte(value)) {
			return fmt.Errorf("%s %q", name, value)
		}
	}
	return nil
}
