package robots

import "bytes"

// matches says whether a canonical pattern matches a canonical path. It walks forward only: between two wildcards the
// leftmost occurrence is as good as any other, so nothing is ever tried twice.
func matches(pattern, path []byte) bool {
	n := 0
	for ; n < len(pattern); n++ {
		c := pattern[n]
		if c <= opEnd {
			break
		}
		if n >= len(path) || path[n] != c {
			return false
		}
	}
	if n == len(pattern) {
		return true
	}
	if pattern[n] == opEnd {
		return len(path) == n
	}
	return matchesWild(pattern[n:], path[n:])
}

// matchesWild is matches for a pattern that begins with opAny.
func matchesWild(pattern, path []byte) bool {
	if pattern[len(pattern)-1] == opEnd {
		// What stands between the last wildcard and the end must be the path's end; this comes first since it is
		// cheap and decides most such rules.
		star := bytes.LastIndexByte(pattern, opAny)
		tail := pattern[star+1 : len(pattern)-1]
		if !bytes.HasSuffix(path, tail) {
			return false
		}
		pattern, path = pattern[:star], path[:len(path)-len(tail)]
	}
	for len(pattern) > 0 {
		pattern = pattern[1:] // the wildcard
		n := bytes.IndexByte(pattern, opAny)
		if n < 0 {
			n = len(pattern)
		}
		at := bytes.Index(path, pattern[:n])
		if at < 0 {
			return false
		}
		pattern, path = pattern[n:], path[at+n:]
	}
	return true
}
