package header

import "strings"

// IsTarget reports whether v has a scheme and only characters of a URI. A percent sign without two digits is allowed:
// browsers send it, so crawlers do too.
func IsTarget(v string) bool {
	for i := range len(v) {
		if c := v[i]; c <= ' ' || c == 0x7f || c == '<' || c == '>' || c == '"' {
			return false
		}
	}
	scheme, _, found := strings.Cut(v, ":")
	for i := range len(scheme) {
		c := scheme[i]
		letter, other := c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return found && scheme != ""
}

// IsReference reports whether v is a URI in angle brackets.
func IsReference(v string) bool {
	if len(v) < 2 || v[0] != '<' || v[len(v)-1] != '>' {
		return false
	}
	inner := v[1 : len(v)-1]
	return strings.IndexByte(inner, ':') > 0 && !strings.ContainsAny(inner, " \t<>")
}
