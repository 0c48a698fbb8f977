package deflate

import (
	"encoding/binary"
	"math/bits"
)

const (
	matchMin  = 3 // of the format; the matcher finds none below 8
	matchMax  = 258
	matchTail = 12 // no match starts in the last bytes of a block
	tableMax  = 14 // bits: 32 KiB, which fits into the first-level cache beside a page
	tableMin  = 9
	runMax    = 64 // literals after a match, all positions are examined up to here
	stepRun   = 6  // then the step grows by one after 1<<stepRun bytes
	noiseMin  = 16 << 10
	noiseStep = 131 // between two samples of eight bytes; a prime, unlike the sizes of records
)

// matcher finds the matches of a block.
type matcher struct {
	buf   ring
	table [1 << tableMax]uint16 // last position of a hash, modulo 1<<16
	mask  uint64

	tokens  [bufferSize / 2]token // a match has eight bytes at least, and only the last literal of a run is alone
	tokensN int
	runs    [bufferSize / runMax]run
	runsN   int
}

// run is a long run of literals, which have no tokens.
type run struct {
	tokens   int // number of tokens before it
	from, to int // positions in the stream
}

// begin prepares the table for a stream with n known bytes: its size depends on n.
func (m *matcher) begin(n int) {
	size := 1 << min(max(bits.Len(uint(n)), tableMin), tableMax)
	m.mask = uint64(size - 1)
	clear(m.table[:size])
}

// find computes the tokens of a block, from a position in the stream to another. A match may refer to all earlier
// bytes, up to windowMax.
func (m *matcher) find(start, end int) {
	m.runsN = 0
	at, run := start, start // the current position, and the start of the literals before it
	n, first := 0, 0        // the number of tokens, and that before the literals
	for limit := end - matchTail; at < limit; {
		var from int
		isLong := false
		for stop := min(limit, run+runMax); at < stop; at += 4 {
			v0, v1, v2, v3 := m.buf.load(at), m.buf.load(at+1), m.buf.load(at+2), m.buf.load(at+3)
			from0, from1 := m.replace(v0, at), m.replace(v1, at+1)
			from2, from3 := m.replace(v2, at+2), m.replace(v3, at+3)
			if m.isMatch(v0, at, from0) {
				from = from0
				goto found
			}
			if m.isMatch(v1, at+1, from1) {
				at, from = at+1, from1
				goto found
			}
			m.tokens[n&(bufferSize/2-1)] = pairToken(v0)
			n++
			if m.isMatch(v2, at+2, from2) {
				at, from = at+2, from2
				goto found
			}
			if m.isMatch(v3, at+3, from3) {
				at, from = at+3, from3
				goto found
			}
			m.tokens[n&(bufferSize/2-1)] = pairToken(v2)
			n++
		}
		if at >= limit {
			break
		}
		run, isLong = at, true
		if at, from = m.search(at, limit); at >= limit {
			m.addRun(n, run, end)
			m.tokensN = n
			return
		}
	found:
		length := m.buf.same(at, from, min(end-at, matchMax))
		next, back := at+length, int(uint16(at-from))
		if at >= 8+back {
			before := bits.LeadingZeros64(m.buf.load(at-8)^m.buf.load(from-8)) >> 3
			before = least(least(before, at-run), matchMax-length)
			length += before
			at -= before
		}
		if isLong {
			m.addRun(n, run, at)
		} else { // the tokens of literals that belong to the match are overwritten; an odd number ends with a single one
			n = first + (at-run)>>1
			m.tokens[n&(bufferSize/2-1)] = literalToken(m.buf[(at-1)&(bufferSize-1)])
			n += (at - run) & 1
		}
		m.tokens[n&(bufferSize/2-1)] = matchToken(length, back)
		n++
		at, run, first = next, next, n
		if at < limit { // the bytes at the end of a match often occur again
			m.replace(m.buf.load(at-4), at-4)
			m.replace(m.buf.load(at-1), at-1)
		}
	}
	for ; at < end-1; at += 2 {
		m.tokens[n] = pairToken(m.buf.load(at))
		n++
	}
	if at < end {
		m.tokens[n] = literalToken(m.buf[at&(bufferSize-1)])
		n++
	}
	m.tokensN = n
}

// replace sets the last position of eight bytes, and returns the one before.
func (m *matcher) replace(v uint64, at int) int {
	slot := &m.table[v*0x9e3779b97f4a7c15>>(64-tableMax)&m.mask]
	from := int(*slot)
	*slot = uint16(at)
	return from
}

// isMatch reports whether the eight bytes v at a position match those from another, modulo 1<<16.
func (m *matcher) isMatch(v uint64, at, from int) bool {
	back := int(uint16(at - from))
	return m.buf.load(from) == v && back > 0 && back <= min(windowMax, at)
}

// search looks for a match in growing steps, and returns its position and that of the earlier bytes; or the limit.
func (m *matcher) search(at, limit int) (int, int) {
	for start := at; at < limit; at += 1 + (at-start)>>stepRun {
		v := m.buf.load(at)
		from := m.replace(v, at)
		if m.isMatch(v, at, from) {
			return at, from
		}
	}
	return limit, 0
}

// isNoise reports whether a sample says that codes would save less than a 64th of a block of n bytes. Nearly all of
// them are in long runs, and two of them are equal with a probability below 1/242. So their entropy is above log2(242)
// bits.
func (m *matcher) isNoise(n int) bool {
	var count [256]int
	literals, sample, equal := 0, 0, 0
	for _, r := range m.runs[:m.runsN] {
		literals += r.to - r.from
		for at := r.from; at <= r.to-8; at += noiseStep {
			for v, i := m.buf.load(at), 0; i < 8; i++ {
				count[v&255]++
				v >>= 8
			}
			sample += 8
		}
	}
	for _, c := range count {
		equal += c * (c - 1)
	}
	return n >= noiseMin && literals >= n-n/128 && equal*242 < sample*(sample-1)
}

// addRun adds a long run of literals after a number of tokens.
func (m *matcher) addRun(tokens, from, to int) {
	if from < to {
		m.runs[m.runsN] = run{tokens, from, to}
		m.runsN++
	}
}

// least is min without a branch.
func least(a, b int) int {
	d := a - b
	return b + d&(d>>63)
}

// ring contains the current block and the window before it. A byte is at its position in the stream, modulo bufferSize.
// The first bytes are repeated behind the end, so that eight bytes can be loaded from any position.
type ring [bufferSize + bufferPad]byte

// write copies p to a position.
func (b *ring) write(at int, p []byte) {
	at &= bufferSize - 1
	copy(b[at:], p)
	if at < bufferPad {
		copy(b[bufferSize:], b[:bufferPad])
	}
}

// load returns the eight bytes from a position on.
func (b *ring) load(at int) uint64 {
	return binary.LittleEndian.Uint64(b[at&(bufferSize-1):]) // so that the compiler knows that the index is within b
}

// same returns the number of equal bytes at two positions, at most most. The first eight are equal.
func (b *ring) same(at, from, most int) int {
	n := 8
	for ; n < most; n += 8 {
		if x := b.load(at+n) ^ b.load(from+n); x != 0 {
			return min(n+bits.TrailingZeros64(x)>>3, most)
		}
	}
	return min(n, most)
}

// slice returns the bytes between two positions of a block.
func (b *ring) slice(from, to int) []byte { return b[from&(bufferSize-1):][:to-from] }
