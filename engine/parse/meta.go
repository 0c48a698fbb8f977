package parse

import "bytes"

// meta reads a meta element: robots and refresh directives, and the character set if none was declared.
func (s *Scanner) meta(b []byte) {
	if !s.charset.certain && !s.xml {
		s.lateCharset(b)
	}
	raw, ok := s.get(b, attrContent)
	if !ok {
		return
	}
	switch {
	case s.is(b, attrHTTPEquiv, "refresh"):
		content := s.decode(raw, true)
		if ref := RefreshTarget(content); len(ref) > 0 {
			s.add(MetaRefresh, ref, false)
		}
	case s.names("robots", b) || s.names(s.robot, b):
		s.robots(raw)
	}
}

// names reports whether the current meta element is for this robot. Spaces around the name are ignored.
func (s *Scanner) names(robot nameKey, b []byte) bool {
	name, ok := s.get(b, attrName)
	return ok && fold(trimSpace(name), robot)
}

// robots reads a list of directives separated by commas. Several elements add up.
func (s *Scanner) robots(list []byte) {
	for len(list) > 0 {
		var one []byte
		one, list, _ = bytes.Cut(list, []byte(","))
		switch one = trimSpace(one); {
		case fold(one, "none"):
			s.res.NoFollow, s.res.NoIndex = true, true
		case fold(one, "nofollow"):
			s.res.NoFollow = true
		case fold(one, "noindex"):
			s.res.NoIndex = true
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
