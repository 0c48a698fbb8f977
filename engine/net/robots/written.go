package robots

import "unicode/utf8"

// RFC 9309 escapes non-ASCII bytes in rules and in paths before it compares them. URLs on the wire contain none. But
// people write some, and the RFC's authors do not treat them as equal to their escapes. Such a path is allowed only if
// both spellings are allowed; no rule matches the unescaped one by its text.

// decideWritten decides about a path that is not in canonical spelling and that firstMatch has allowed by the rule at
// offset at.
func (r *Rules) decideWritten(path []byte, at int) (allowed bool, by int) {
	if isASCII(path) {
		return true, at
	}
	var scratch [1024]byte
	if raw, by := firstMatch(r.rule, appendUnescaped(scratch[:0], path)); !raw {
		return false, by
	}
	return true, at
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendUnescaped is appendCanonical, but leaves non-ASCII bytes as they are.
func appendUnescaped(dst, s []byte) []byte {
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n] < utf8.RuneSelf {
			n++
		}
		dst = appendCanonical(dst, s[:n])
		for s = s[n:]; len(s) > 0 && s[0] >= utf8.RuneSelf; s = s[1:] {
			dst = append(dst, s[0])
		}
	}
	return dst
}
