package cdxj

import (
	"bytes"
	"cmp"
	"fmt"
)

// columns are those of a CDX file: a letter each, and the byte between them. Without names they are the usual ones.
type columns struct {
	names     string
	separator byte
}

// readColumns reads the first line of a CDX file, such as " CDX N b a m s k r M S V g". ok is false for other lines.
func readColumns(line []byte) (c columns, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("CDX"))
	if !ok || len(rest) == 0 || rest[0] != ' ' && rest[0] != '\t' {
		return c, false
	}
	c.separator = rest[0]
	for _, word := range bytes.Fields(rest) {
		if len(word) != 1 {
			return c, false
		}
		c.names += string(word)
	}
	return c, c.names != ""
}

// usualColumns returns the columns of a line without header, by their number, as pywb does; "" for others.
func usualColumns(count int) string {
	switch count {
	case 11, 14: // 14 and 12: the place of what a revisit refers to follows
		return "NbamskrMSVg"
	case 10, 13:
		return "NbamskrMVg"
	case 9, 12:
		return "NbamskrVg"
	}
	return ""
}

// parse decodes a line.
func (c columns) parse(line []byte) (l Line, err error) {
	if c.names == "" {
		c.separator = ' '
	}
	fields := bytes.Split(bytes.TrimRight(line, "\r\n"), []byte{c.separator})
	names := cmp.Or(c.names, usualColumns(len(fields)))
	if names == "" || len(fields) < len(names) {
		return l, fmt.Errorf("it has %d columns", len(fields))
	}
	l.Offset = -1
	for i, name := range []byte(names) {
		if err := l.setColumn(name, fields[i]); err != nil {
			return l, fmt.Errorf("column %c %q", name, fields[i])
		}
	}
	return l, nil
}

// setColumn sets the value of a column, by its letter in CDX. A value of - is none.
func (l *Line) setColumn(letter byte, value []byte) error {
	name := ""
	switch letter {
	case 'N', 'A':
		if len(l.Key) == 0 {
			l.Key = value
		}
	case 'b':
		l.Stamp = value
	case 'a':
		name = "url"
	case 'm':
		name = "mime"
	case 's':
		name = "status"
	case 'k':
		name = "digest"
	case 'S':
		name = "length"
	case 'V':
		name = "offset"
	case 'v': // of the record in the unpacked file; V is better
		if l.Offset < 0 {
			name = "offset"
		}
	case 'g':
		name = "filename"
	}
	if name == "" || string(value) == "-" && name != "offset" {
		return nil
	}
	if !l.set([]byte(name), value) {
		return ErrLine
	}
	return nil
}
