package robots

import "bytes"

// wildFew is how many rules with wildcards are tried on a path before it pays to index the path.
const wildFew = 16

// workMax bounds, in octets of path walked over, what the wildcards of one file may cost for one path: some
// milliseconds. Files that people wrote stay a thousand times below; one built to reach it denies the path at hand.
const workMax = 4 << 20

// noRule is the offset that strongest returns if no rule decided.
const noRule = -1

// strongest finds the first rule in encoded rules that matches a canonical path. The rules are sorted, the strongest
// first, so it decides. It returns what the rule says, and its offset or noRule.
func strongest(rules, path []byte) (allowed bool, at int) {
	wild := 0
	for i := 0; i < len(rules); {
		start := i
		head, pattern, next := ruleAt(rules, i)
		i = next
		n := literal(pattern, path)
		if n < 0 {
			continue
		}
		if n == len(pattern) || matchesRest(pattern[n:], path[n:]) {
			return head&ruleAllow != 0, start
		}
		if wild++; wild == wildFew && i < len(rules) {
			return strongestHard(rules, path, i)
		}
	}
	return true, noRule
}

// strongestHard is strongest for files with many wildcards, from offset i on: it looks first at whether the path has
// what the rule needs at all.
func strongestHard(rules, path []byte, i int) (allowed bool, at int) {
	var grams grams
	grams.index(path)
	work := 0
	for i < len(rules) {
		start := i
		head, pattern, next := ruleAt(rules, i)
		i = next
		n := literal(pattern, path)
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

// ruleAt reads as much of the rule at offset i as matching needs. The rules have been checked when they were made.
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
	for rules[i] >= 0x80 { // the line's number
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

// literal compares what stands before a pattern's first operator with the start of the path. It returns its length, or
// -1 if they differ.
func literal(pattern, path []byte) int {
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

// matchesRest says whether a pattern that begins with an operator matches all of the path that is left.
func matchesRest(pattern, path []byte) bool {
	if pattern[0] == opEnd {
		return len(path) == 0
	}
	return matchesWild(pattern, path)
}

// matchesWild is matchesRest for a pattern that begins with opAny. It walks forward only: between two wildcards the
// leftmost occurrence is as good as any other, so nothing is ever tried twice.
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

// grams is a set of the octets, pairs and triples of a path, hashed: what it does not hold, the path does not.
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

// mayHold says whether the path holds the grams of a pattern's literals, looked at from the back, where the literals of
// a long row of similar rules differ.
func (g *grams) mayHold(pattern []byte) bool {
	run := uint32(0) // literal octets behind the one at hand, two at most
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
