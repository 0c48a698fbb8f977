package parse

import "bytes"

// EachFieldLink reports the links in the value of a response field Link (RFC 8288), in order, as a link element would
// have them. A link with an anchor belongs to another resource, and is left out. What is no link is skipped. It borrows
// value; the Link that report gets is valid during the call.
func EachFieldLink(value []byte, report func(l *Link)) {
	for len(value) > 0 {
		switch value[0] {
		case '<':
			end := bytes.IndexByte(value, '>')
			if end < 0 {
				return
			}
			var p fieldParams
			target := value[1:end]
			value = p.read(value[end+1:])
			p.report(target, report)
		case ' ', '\t', ',':
			value = value[1:]
		default:
			var p fieldParams
			value = p.read(value)
		}
	}
}

// fieldParams are the parameters of one link that count. Each counts once.
type fieldParams struct {
	rel, imageSrcset []byte
	isAnchored       bool
}

// read reads parameters up to the comma that ends the link, and returns the rest.
func (p *fieldParams) read(b []byte) (rest []byte) {
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
			p.set(name, value)
		case len(b) > 0 && b[0] == '"':
			_, b = paramValue(b)
		default:
			p.set(name, nil)
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

func (p *fieldParams) set(name, value []byte) {
	switch {
	case fold(name, "anchor"):
		p.isAnchored = true
	case fold(name, "rel") && p.rel == nil:
		p.rel = value
	case fold(name, "imagesrcset") && p.imageSrcset == nil:
		p.imageSrcset = value
	}
}

// report reports the link to target, unless it is one of another resource or names no document.
func (p *fieldParams) report(target []byte, report func(l *Link)) {
	kind, ok := kindOfRel(p.rel)
	if !ok || p.isAnchored {
		return
	}
	isNoFollow := hasToken(p.rel, "nofollow")
	if target = trimControl(target); len(target) > 0 {
		report(&Link{Kind: kind, NoFollow: isNoFollow, Ref: target})
	}
	eachCandidate(p.imageSrcset, func(ref []byte) { report(&Link{Kind: Image, NoFollow: isNoFollow, Ref: ref}) })
}

func trimBlank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}
