package cdxj

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// ErrLine is returned for a line that is damaged.
var ErrLine = errors.New("bad field")

// Line is the decoded line of an index.
type Line struct {
	URL     []byte
	Status  int    // of HTTP, 0 for none
	MIME    []byte // "warc/revisit" for a revisit
	Revisit bool
	Digest  []byte // of the payload, without label
	Offset  int64  // of the record in its file, in bytes
	Length  int64  // of the record in its file, in bytes; 0 if unknown
	File    []byte
	Method  []byte // of the request; empty for GET
	Render  bool   // a browser must draw the page
	Key     []byte // of the URL
	Stamp   []byte // the time of the capture, as a rule of 14 digits
	At      int64  // where the line begins in its index, in bytes, if ScanLines has read it
}

// ParseLine decodes a line of an index, of CDXJ or of CDX with the usual columns. Its texts may be parts of line. An
// error wraps ErrLine.
func ParseLine(line []byte) (Line, error) { return parseLine(line, columns{}) }

// parseLine decodes a line of CDXJ, or of CDX with these columns.
func parseLine(line []byte, c columns) (l Line, err error) {
	if brace := bytes.IndexByte(line, '{'); brace < 0 || c.names != "" {
		l, err = c.parse(line)
	} else {
		key, stamp := Key(line[:brace])
		text := bytes.TrimSpace(line[brace:])
		if !l.plain(text) {
			err = l.json(text)
		}
		l.Key, l.Stamp = key, stamp
	}
	switch {
	case err != nil:
		return l, fmt.Errorf("%w: index line %.100q: %w", ErrLine, line, err)
	case len(l.URL) == 0 || l.Offset < 0:
		return l, fmt.Errorf("%w: index line %.100q", ErrLine, line)
	}
	return l, nil
}

// plain decodes an object that contains only strings without escapes, the usual case. Otherwise it returns false.
func (l *Line) plain(b []byte) bool {
	*l = Line{Offset: -1}
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

func (l *Line) set(name, value []byte) bool {
	var err error
	switch string(name) {
	case "url":
		l.URL = value
	case "mime":
		l.MIME, l.Revisit = value, string(value) == "warc/revisit"
	case "digest":
		l.Digest = value
	case "status":
		l.Status, err = number(value)
	case "offset":
		l.Offset, err = strconv.ParseInt(string(value), 10, 64)
	case "length":
		var n int
		n, err = number(value)
		l.Length = int64(n)
	case "method":
		if string(value) != "GET" {
			l.Method = value
		}
	case "filename":
		l.File = value
	case "needs_render":
		l.Render = len(value) > 0
	}
	return err == nil
}

// number reads a number that may be missing: others write - or nothing then.
func number(value []byte) (int, error) {
	if len(value) == 0 || string(value) == "-" {
		return 0, nil
	}
	return strconv.Atoi(string(value))
}

// json decodes any object. Others write numbers as numbers, and fields of all types that mean nothing here.
func (l *Line) json(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*l = Line{Offset: -1}
	for name, raw := range fields {
		value := []byte(raw)
		var text string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			value = []byte(text) // nothing for null
		case raw[0] == '{' || raw[0] == '[' || raw[0] == 't' || raw[0] == 'f':
			continue
		}
		if !l.set([]byte(name), value) {
			return fmt.Errorf("%s %q", name, value)
		}
	}
	return nil
}

// ScanLines calls f with each line of an index, including its end, and its decoded form. f borrows both. damage is
// not nil for a line that is damaged, too long or without an end, and wraps ErrLine; line is nil if it is too long.
// Lines that begin with ! are left out: headers of others. So is the first line of a CDX file, which names its columns.
// damage says the number of the line. An error of f or of reading ends the scan and is returned.
func ScanLines(r io.Reader, f func(line []byte, said *Line, damage error) error) error {
	in := ReadLines(r, LineMax)
	var said Line // one for all lines, since f makes it escape
	var cdx columns
	for {
		line, err := in.Next()
		said = Line{}
		switch isWhole := bytes.HasSuffix(line, []byte{'\n'}); {
		case err == io.EOF: //nolint:errorlint // Next returns it unwrapped
			return nil
		case errors.Is(err, ErrLine):
		case err != nil:
			return err
		case !isWhole:
			err = fmt.Errorf("line %d: %w: index line %.100q has no end", in.Number, ErrLine, line)
		case line[0] == '!': // !meta and !hdr of others
			continue
		default:
			if c, ok := readColumns(line); ok {
				cdx = c
				continue
			}
			if said, err = parseLine(line, cdx); err != nil {
				err = fmt.Errorf("line %d: %w", in.Number, err)
			}
		}
		said.At = in.At
		if err := f(line, &said, err); err != nil {
			return err
		}
	}
}
