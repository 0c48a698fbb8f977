package robots

import "bytes"

// wildcardRulesFew is the number of wildcard rules that are tried before the path is indexed.
const wildcardRulesFew = 16

// workMax limits the cost of the wildcard rules of one file for one path, in bytes of path scanned: some milliseconds.
// Ordinary files need a thousandth of it. A file that reaches the limit denies the path.
const workMax = 4 << 20

// noRule is the offset that firstMatch returns if no rule decided.
const noRule = -1

// firstMatch returns the decision of the first encoded rule that matches a canonical path, and the rule's offset, or
// true and noRule. The rules are sorted by precedence, so the first match decides.
func firstMatch(rules, path []byte) (allowed bool, at int) {
	wild := 0
	for i := 0; i < len(rules); {
		start := i
		head, pattern, next := ruleAt(rules, i)
		i = next
		n := matchLiteral(pattern, path)
		if n < 0 {
			continue
		}
		if n == len(pattern) || matchesRest(pattern[n:], path[n:]) {
			return head&ruleAllow != 0, start
		}
		if wild++; wild == wildcardRulesFew && i < len(rules) {
			return firstMatchIndexed(rules, path, i)
		}
	}
	return true, noRule
}

// firstMatchIndexed is firstMatch from offset i on, for files with many wildcards. It first checks by an index whether
// the path contains what the rule needs.
func firstMatchIndexed(rules, path []byte, i int) (allowed bool, at int) {
	var grams grams
	grams.index(path)
	work := 0
	for i < len(rules) {
		start := i
		head, pattern, next := ruleAt(rules, i)
		i = next
		n := matchLiteral(pattern, path)
		if n < 0 || !grams.mayHold(pattern[n:]) {
			continue
		}
		if n == len(pattern) || matchesRest(pattern[n:], path[n:]) {
			return head&ruleAllow != 0, start
		}
		if work += len(path); work > workMax {
			return false, noRule
		}
	}
	return true, noRule
}

// ruleAt reads the parts of the rule at offset i that matching needs. The rules were checked by Decode.
func ruleAt(rules []byte, i int) (head uint, pattern []byte, next int) {
	head = uint(rules[i])
	i++
	if head >= 0x80 {
		head &= 0x7f
		for shift := 7; ; shift += 7 {
			c := uint(rules[i])
			i++
			head |= c & 0x7f << shift
			if c < 0x80 {
				break
			}
		}
	}
	for rules[i] >= 0x80 { // the line number
		i++
	}
	i++
	end := i + int(head>>ruleBits)
	pattern = rules[i:end]
	if head&ruleText != 0 {
		_, rest, _ := cutBytes(rules[end:])
		end = len(rules) - len(rest)
	}
	return head, pattern, end
}

// matchLiteral compares the part of a pattern before its first operator with the beginning of the path. It returns the
// length of this part, or -1 if they differ.
func matchLiteral(pattern, path []byte) int {
	for n, c := range pattern {
		if c <= opEnd {
			return n
		}
		if n >= len(path) || path[n] != c {
			return -1
		}
	}
	return len(pattern)
}

// matchesRest reports whether a pattern that begins with an operator matches the whole rest of the path.
func matchesRest(pattern, path []byte) bool {
	if pattern[0] == opEnd {
		return len(path) == 0
	}
	return matchesWild(pattern, path)
}

// matchesWild is matchesRest for a pattern that begins with opAny. The leftmost occurrence of each part between two
// wildcards is as good as any other, so there is no backtracking.
func matchesWild(pattern, path []byte) bool {
	if pattern[len(pattern)-1] == opEnd {
		// The part between the last wildcard and the end must be the end of the path. This is checked first, because it
		// is cheap and decides most such rules.
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

// grams is a hashed set of the bytes, pairs and triples of a path. What it does not contain, the path does not contain.
type grams [1024]uint64

func (g *grams) index(path []byte) {
	var h uint32
	for i, c := range path {
		g.add(uint32(c))
		if h = h<<8 | uint32(c); i >= 1 {
			g.add(h&0xffff | 1<<24)
		}
		if i >= 2 {
			g.add(h&0xffffff | 2<<24)
		}
	}
}

func (g *grams) add(gram uint32) {
	slot := gram * 0x9E3779B1 >> 16
	g[slot>>6] |= 1 << (slot & 63)
}

func (g *grams) has(gram uint32) bool {
	slot := gram * 0x9E3779B1 >> 16
	return g[slot>>6]&(1<<(slot&63)) != 0
}

// mayHold reports whether the path may contain the literal parts of a pattern. It checks from the end, where similar
// rules differ.
func (g *grams) mayHold(pattern []byte) bool {
	run := uint32(0) // number of literal bytes after the current one, at most two
	var behind uint32
	for i := len(pattern) - 1; i >= 0; i-- {
		c := uint32(pattern[i])
		if c <= opEnd {
			run, behind = 0, 0
			continue
		}
		gram := c<<(8*run) | behind
		if !g.has(gram | run<<24) {
			return false
		}
		behind = gram
		if run == 2 {
			behind = gram >> 8
		} else {
			run++
		}
	}
	return true
}
