package parse

import "bytes"

// linkField is one link of a field. It borrows the field, except for strings with escapes.
type linkField struct {
	Target      []byte
	Rel         []byte // nil without one
	ImageSrcset []byte
	IsAnchored  bool // it belongs to another resource
}

// eachLinkField calls report for the links of a field, in order. What is no link is skipped.
func eachLinkField(value []byte, report func(l *linkField)) {
	for len(value) > 0 {
		var l linkField
		switch value[0] {
		case '<':
			end := bytes.IndexByte(value, '>')
			if end < 0 {
				return
			}
			l.Target = value[1:end]
			value = l.read(value[end+1:])
			report(&l)
		case ' ', '\t', ',':
			value = value[1:]
		default:
			value = l.read(value)
		}
	}
}

// read reads parameters up to the comma that ends the link, and returns the rest.
func (l *linkField) read(b []byte) (rest []byte) {
	for len(b) > 0 && b[0] != ',' {
		end := 0
		for end < len(b) && bytes.IndexByte([]byte("=;, \t\""), b[end]) < 0 {
			end++
		}
		name := b[:end]
		b = trimBlank(b[end:])
		switch {
		case len(b) > 0 && b[0] == '=':
			var value []byte
			value, b = paramValue(trimBlank(b[1:]))
			l.set(name, value)
		case len(b) > 0 && b[0] == '"':
			_, b = paramValue(b)
		default:
			l.set(name, nil)
		}
		if b = trimBlank(b); len(b) > 0 && b[0] == ';' {
			b = trimBlank(b[1:])
		}
	}
	return b
}

// paramValue cuts a value off: a string in quotes, whose last quote may be missing, or a token.
func paramValue(b []byte) (value, rest []byte) {
	if len(b) == 0 || b[0] != '"' {
		end := bytes.IndexAny(b, ";,")
		if end < 0 {
			end = len(b)
		}
		return b[:end], b[end:]
	}
	isEscaped := false
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			isEscaped = true
			i++
		case '"':
			return unescaped(b[1:i], isEscaped), b[i+1:]
		}
	}
	return unescaped(b[1:], isEscaped), nil
}

// unescaped removes backslashes, from a copy.
func unescaped(b []byte, isEscaped bool) []byte {
	if !isEscaped {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) {
			i++
		}
		out = append(out, b[i])
	}
	return out
}

// set sets a parameter. Each counts once.
func (l *linkField) set(name, value []byte) {
	switch {
	case bytes.EqualFold(name, []byte("anchor")):
		l.IsAnchored = true
	case bytes.EqualFold(name, []byte("rel")) && l.Rel == nil:
		l.Rel = value
	case bytes.EqualFold(name, []byte("imagesrcset")) && l.ImageSrcset == nil:
		l.ImageSrcset = value
	}
}

func trimBlank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}
