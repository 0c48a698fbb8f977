package script

import "bytes"

// XML calls found for each value in an XML document that may be a URL: values of attributes, and texts of elements. It
// borrows the document. A value counts if it begins as an absolute URL, or if isURLName knows its attribute or element.
// Values are as written, with character references: IsAddress judges them when they are decoded. Pages, pictures and
// style sheets in XML have none, since what their markup means is known.
func XML(b []byte, found func(value []byte)) {
	var element []byte // whose start tag was read last
	isBegun := false
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			return
		}
		if len(element) > 0 {
			give(element, b[:i], found)
		}
		b = b[i+1:]
		switch {
		case len(b) == 0:
			return
		case b[0] == '<':
		case b[0] == '/':
			element, b = nil, behind(b, ">")
		case bytes.HasPrefix(b, []byte("!--")):
			b = behind(b, "-->")
		case bytes.HasPrefix(b, []byte("![CDATA[")):
			text, _, _ := bytes.Cut(b[len("![CDATA["):], []byte("]]>"))
			give(element, text, found)
			b = behind(b, "]]>")
		case b[0] == '!', b[0] == '?':
			b = behind(b, ">")
		default:
			if !isBegun {
				if root, _ := xmlName(b); isMarkup(root) {
					return
				}
				isBegun = true
			}
			element, b = startTag(b, found)
		}
	}
}

// isMarkup reports whether the root element is that of a page, a picture or a style sheet.
func isMarkup(root []byte) bool {
	switch string(root[bytes.LastIndexByte(root, ':')+1:]) {
	case "html", "svg", "stylesheet", "transform":
		return true
	}
	return false
}

// behind returns what follows a mark, which may be missing.
func behind(b []byte, mark string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(mark))
	return rest
}

// startTag reads a start tag behind its bracket. It returns its name and what follows it.
func startTag(b []byte, found func(value []byte)) (name, rest []byte) {
	name, b = xmlName(b)
	for {
		for b = afterWhite(b); len(b) > 0 && b[0] == '/'; b = afterWhite(b[1:]) {
		}
		if len(b) == 0 || b[0] == '>' || b[0] == '<' {
			return name, bytes.TrimPrefix(b, []byte(">"))
		}
		var attribute []byte
		if attribute, b = xmlName(b); len(attribute) == 0 {
			b = b[1:] // what is no name
			continue
		}
		if b = afterWhite(b); len(b) < 2 || b[0] != '=' {
			continue
		}
		if b = afterWhite(b[1:]); len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			continue
		}
		value, after, closed := bytes.Cut(b[1:], b[:1])
		if !closed {
			return nil, nil
		}
		give(attribute, value, found)
		b = after
	}
}

// xmlName cuts a name off, to the next byte that no name has.
func xmlName(b []byte) (name, rest []byte) {
	end := 0
	for end < len(b) && class[b[end]]&endsName == 0 {
		end++
	}
	return b[:end], b[end:]
}

// afterWhite returns b without white space at its start.
func afterWhite(b []byte) []byte {
	for len(b) > 0 && class[b[0]]&isWhite != 0 {
		b = b[1:]
	}
	return b
}

// give calls found for the value of an attribute or element, if it may be a URL.
func give(name, value []byte, found func(value []byte)) {
	value = afterWhite(value)
	for len(value) > 0 && class[value[len(value)-1]]&isWhite != 0 {
		value = value[:len(value)-1]
	}
	if len(value) == 0 || len(name) == 0 {
		return
	}
	isWhole := value[0]|0x20 == 'h' && (beginsWith(value, "http:") || beginsWith(value, "https:"))
	if (isWhole || isURLName(name)) && !isDeclaration(name) {
		found(value)
	}
}

// isDeclaration reports whether the value of an attribute names a namespace, a schema or a base.
func isDeclaration(name []byte) bool {
	local := name[bytes.LastIndexByte(name, ':')+1:]
	for _, end := range [...]string{"namespace", "schemalocation", "base"} {
		if len(local) >= len(end) && bytes.EqualFold(local[len(local)-len(end):], []byte(end)) {
			return true
		}
	}
	return beginsWith(name, "xmlns")
}

// isURLName reports whether a name is that of attributes and elements with URLs, whatever their namespace. They may be
// relative.
func isURLName(name []byte) bool {
	local := name[bytes.LastIndexByte(name, ':')+1:]
	var lower [len("location")]byte
	if len(local) > len(lower) {
		return false
	}
	for i, c := range local {
		lower[i] = c | 0x20
	}
	switch string(lower[:len(local)]) {
	case "href", "src", "url", "uri", "location", "link", "image", "icon", "file", "xmlurl", "htmlurl":
		return true
	}
	return false
}
