package parse

import "bytes"

// meta reads the robots and refresh directives of a meta element.
func (s *Scanner) meta(b []byte) {
	raw, ok := s.get(b, attrContent)
	if !ok {
		return
	}
	switch {
	case s.is(b, attrHTTPEquiv, "refresh"):
		content := s.decode(raw, true)
		if ref := refreshTarget(content); len(ref) > 0 {
			s.add(MetaRefresh, ref, false)
		}
	case s.is(b, attrName, "robots") || s.is(b, attrName, s.robot):
		s.robots(raw)
	}
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

// refreshTarget reads the value of a refresh: a number of seconds, a semicolon or comma, and a URL that may follow
// "url=" and may be quoted. It gives nil if there is no URL: the page then only reloads itself.
func refreshTarget(v []byte) []byte {
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
