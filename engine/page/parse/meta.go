package parse

import "bytes"

// meta reads a meta element: robots and refresh directives, and the character set if none was declared.
func (e *elementReader) meta(b []byte) {
	if !e.links.text.charset.certain && !e.xml {
		e.links.text.lateCharset(b, &e.attributes)
	}
	raw, ok := e.attributes.get(b, attrContent)
	if !ok {
		return
	}
	switch {
	case e.attributes.is(b, attrHTTPEquiv, "refresh"):
		content := e.links.text.decode(raw, true)
		if ref := RefreshTarget(content); len(ref) > 0 {
			e.links.add(MetaRefresh, ref, false)
		}
	case e.names("robots", b) || e.names(e.robot, b):
		e.robots(raw)
	default:
		e.property(b, raw)
	}
}

// property reports the URL that a meta element gives as a property of the page: Open Graph, Twitter cards, microdata.
// Images are page requisites, other URLs are links.
func (e *elementReader) property(b, content []byte) {
	name, ok := e.attributes.get(b, attrProperty)
	if !ok {
		if name, ok = e.attributes.get(b, attrName); !ok {
			if name, ok = e.attributes.get(b, attrItemprop); !ok {
				return
			}
		}
	}
	name = trimSpace(name)
	for _, p := range [...]struct {
		name nameKey
		kind Kind
	}{
		{"og:image", Image}, {"og:image:url", Image}, {"og:image:secure_url", Image}, {"twitter:image", Image},
		{"twitter:image:src", Image}, {"image", Image}, {"thumbnailurl", Image}, {"msapplication-tileimage", Image},
		{"og:url", LinkRel}, {"og:see_also", LinkRel}, {"og:video", LinkRel}, {"og:video:url", LinkRel},
		{"og:video:secure_url", LinkRel}, {"og:audio", LinkRel}, {"og:audio:url", LinkRel}, {"twitter:player", LinkRel},
	} {
		if fold(name, p.name) {
			e.links.link(p.kind, content, false)
			return
		}
	}
}

// names reports whether the current meta element is for this robot. Spaces around the name are ignored.
func (e *elementReader) names(robot nameKey, b []byte) bool {
	name, ok := e.attributes.get(b, attrName)
	return ok && fold(trimSpace(name), robot)
}

// robots reads a list of directives separated by commas. Several elements add up.
func (e *elementReader) robots(list []byte) {
	for len(list) > 0 {
		var one []byte
		one, list, _ = bytes.Cut(list, []byte(","))
		switch one = trimSpace(one); {
		case fold(one, "none"):
			e.links.res.NoFollow, e.links.res.NoIndex = true, true
		case fold(one, "nofollow"):
			e.links.res.NoFollow = true
		case fold(one, "noindex"):
			e.links.res.NoIndex = true
		}
	}
}

// RefreshTarget returns the URL in the value of a refresh, of a meta element or header field: a number of seconds, a
// semicolon or comma, and a URL, perhaps after "url=" and in quotes. It returns nil if there is no URL: the page only
// reloads itself. The result borrows v.
func RefreshTarget(v []byte) []byte {
	v = trimSpace(v)
	p := 0
	for p < len(v) && ('0' <= v[p] && v[p] <= '9' || v[p] == '.') {
		p++
	}
	if p == 0 {
		return nil
	}
	rest := v[p:]
	if len(rest) == 0 || rest[0] != ';' && rest[0] != ',' && class[rest[0]]&isSpace == 0 {
		return nil
	}
	rest = trimSpace(rest)
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == ',') {
		rest = trimSpace(rest[1:])
	}
	if foldPrefix(rest, "url") {
		if after := trimSpace(rest[3:]); len(after) > 0 && after[0] == '=' {
			rest = trimSpace(after[1:])
		}
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		q := rest[0]
		rest = rest[1:]
		if i := bytes.IndexByte(rest, q); i >= 0 {
			rest = rest[:i]
		}
	}
	return rest
}
