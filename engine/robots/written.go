package robots

import "unicode/utf8"

// Octets beyond ASCII are escaped in rules and in paths before the two are compared, as RFC 9309 has it. No URL on the wire holds
// any, but people write some, and the authors of the RFC do not take them for what is escaped. Such a path is allowed if it is in
// both spellings; unescaped it is what no rule names.

// asWritten has the last word on a path that is not in canonical spelling and that strongest has allowed by the rule at at.
func (r *Rules) asWritten(path []byte, at int) (allowed bool, by int) {
	if isASCII(path) {
		return true, at
	}
	var scratch [1024]byte
	if raw, by := strongest(r.rule, appendUnescaped(scratch[:0], path)); !raw {
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

// appendUnescaped is appendCanonical that leaves octets beyond ASCII as they are.
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
