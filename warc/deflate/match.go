package deflate

import (
	"encoding/binary"
	"math/bits"
)

const (
	matchMin  = 4 // shorter matches cost as much as their literals
	matchMax  = 258
	matchNear = 4 << 10 // largest distance of a match of length matchMin
	matchTail = 8       // no match starts in the last bytes of a block
	tableMax  = 14      // bits: 32 KiB, which fits into the first-level cache beside a page
	tableMin  = 9
	skipRun   = 6 // after 1<<skipRun bytes without a match every second position is examined, then every third, and so on
)

// sequence is a run of literals and the match after it; the last one of a block has no match.
type sequence struct {
	run      uint32
	length   uint16
	distance uint16
}

// matcher finds the matches of a block.
type matcher struct {
	table [1 << tableMax]uint16 // last position of a hash, from the start of the stream, modulo 1<<16
	bits  uint
	moved uint16 // number of bytes of the stream that have left the buffer, modulo 1<<16

	seqs     []sequence
	literals [bufferSize + bufferPad]byte // literals of all runs
	literalN int
}

// begin prepares the table for a stream with n known bytes: its size depends on n.
func (m *matcher) begin(n int) {
	m.bits = uint(min(max(bits.Len(uint(n)), tableMin), tableMax))
	m.moved = 0
	clear(m.table[:1<<m.bits])
}

// find computes the sequences of buf[start:end]. A match may refer to all earlier bytes in buf, up to windowMax.
func (m *matcher) find(buf *buffer, start, end int) {
	seqs, literalN, moved, shift := m.seqs[:0], 0, m.moved, 64-m.bits
	at, run := start, start // the current position, and the start of the run of literals before it
	for limit := end - matchTail; at < limit; {
		v := buf.load(at)
		slot := &m.table[hash(v, shift)]
		here := uint16(at) + moved
		back := int(here - *slot)
		*slot = here
		if back == 0 || back > at || back > windowMax {
			at += 1 + (at-run)>>skipRun
			continue
		}
		x := buf.load(at-back) ^ v
		if uint32(x) != 0 {
			at += 1 + (at-run)>>skipRun
			continue
		}
		length := bits.TrailingZeros64(x) / 8
		more := bits.TrailingZeros64(buf.load(at+8)^buf.load(at+8-back)) / 8
		length += more & -(length >> 3)
		if length == 16 {
			length += buf.same(at+16, at+16-back, min(end, at+matchMax))
		}
		length = min(length, end-at)
		for at > run && at > back && length < matchMax && buf[at-1] == buf[at-back-1] {
			at--
			length++
		}
		if length == matchMin && back > matchNear {
			at++
			continue
		}
		for from := run; from < at; from += 8 { // eight at a time: bytes beyond the end are overwritten later
			binary.LittleEndian.PutUint64(m.literals[literalN&(bufferSize-1):], buf.load(from))
			literalN += min(8, at-from)
		}
		seqs = append(seqs, sequence{run: uint32(at - run), length: uint16(length), distance: uint16(back)})
		at += length
		run = at
		if at < limit { // the bytes at the end of a match often occur again
			m.table[hash(buf.load(at-2), shift)] = uint16(at-2) + moved
		}
	}
	m.literalN = literalN + copy(m.literals[literalN:], buf[run:end])
	m.seqs = append(seqs, sequence{run: uint32(end - run)})
}

// hash is a hash of the six low bytes. Matches of four and five bytes are found only as parts of longer ones, because
// searching them costs more than they save.
func hash(v uint64, shift uint) uint64 {
	return (v << 16) * 0x9e3779b97f4a7c15 >> (shift & 63) & (1<<tableMax - 1)
}

// buffer contains the window and the current block.
type buffer [bufferSize + bufferPad]byte

// load returns the eight bytes from a position on.
func (b *buffer) load(at int) uint64 {
	return binary.LittleEndian.Uint64(b[at&(bufferSize-1):]) // so that the compiler knows that the index is within b
}

// same returns the number of equal bytes from a and c on, up to end.
func (b *buffer) same(a, c, end int) int {
	for from := a; ; a, c = a+8, c+8 {
		if a >= end {
			return end - from
		}
		if x := b.load(a) ^ b.load(c); x != 0 {
			return min(a+bits.TrailingZeros64(x)/8, end) - from
		}
	}
}
