package sieve

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// blockHead is the decoded header of a block, with the positions of its parts.
type blockHead struct {
	n       int
	width   uint
	base    uint64 // hi of the first key
	lowAt   int
	upperAt int
}

// readHead verifies the checksum and header of a block; fault is "" if they are valid.
func readHead(src []byte, number uint32) (h blockHead, fault string) {
	if binary.LittleEndian.Uint64(src) != xxh3.Hash(src[8:blockBytes]) {
		return h, "wrong block checksum"
	}
	h = blockHead{
		n:     int(binary.LittleEndian.Uint16(src[16:])),
		width: uint(src[18]),
		base:  binary.LittleEndian.Uint64(src[8:]),
	}
	h.lowAt = blockHeader + h.n
	h.upperAt = h.lowAt + (h.n*int(h.width)+7)/8
	switch {
	case binary.LittleEndian.Uint32(src[20:]) != number:
		return h, "block has the number of another one"
	case h.n == 0 || h.n > blockKeysMax || h.width > widthMax || h.upperAt > blockRoom:
		return h, "invalid block header"
	}
	return h, ""
}

// first returns the first key of the block. It can be read directly: its low bits are zero, and its bit in the bitmap
// is bit 0.
func (h *blockHead) first(src []byte) key { return key{hi: h.base, lo: src[blockHeader]} }

// blockPad bytes follow a block in memory, so that the fields after the last one can be loaded too.
const blockPad = 16

// byteRanks contains for each value of a byte the positions of its zeros, so that a bitmap is read byte by byte and not
// bit by bit.
type byteRanks [256]struct {
	// number of ones before each zero, in 16 bits each: the first four zeros in low, the others in high
	low, high uint64
	ones      uint64 // number of ones, repeated in each 16 bits
	zeros     uint64
}

func newByteRanks() *byteRanks {
	t := &byteRanks{}
	for b := range t {
		r := &t[b]
		for bit := range 8 {
			switch {
			case b>>bit&1 == 1:
				r.ones += laneOnes
			case r.zeros < 4:
				r.low |= r.ones & 0xf << (16 * r.zeros)
				r.zeros++
			default:
				r.high |= r.ones & 0xf << (16 * (r.zeros - 4))
				r.zeros++
			}
		}
	}
	return t
}

// seekMost is the number of lookups in a block up to which seek is cheaper than start.
const seekMost = 8

// finder looks up keys in an encoded block without decoding it. It finds only where the keys of each high part start:
// for all parts at once, or for each lookup.
type finder struct {
	ranks *byteRanks
	src   *[blockBytes + blockPad]byte
	head  blockHead
	// starts has 16 bits for each high part: the index of the first key that is not below it. This is the number of
	// ones in the bitmap before the zero with this number.
	starts *[startsMask + 1 + 16]byte
	parts  uint64 // number of high parts in starts; 0 before start is called
}

// startsMask is larger than any position in starts. A zero of the bitmap takes two bytes; one more entry is written at
// the end.
const startsMask = 1<<16 - 1

// reset sets the block to search. head is its header.
func (f *finder) reset(src []byte, head blockHead) {
	f.src, f.head, f.parts = (*[blockBytes + blockPad]byte)(src), head, 0
}

// start fills starts.
func (f *finder) start() {
	if f.starts == nil {
		f.starts = new([startsMask + 1 + 16]byte)
	}
	starts, t, n := f.starts, f.ranks, f.head.n
	to, ones := uint64(2), uint64(0) // part 0 starts at key 0; ones are counted in each 16 bits
	for at := f.head.upperAt; at <= blockRoom && int(ones&0xffff) < n; at += 8 {
		w := binary.LittleEndian.Uint64(f.src[at:])
		for range 8 {
			r := &t[w&0xff]
			w >>= 8
			binary.LittleEndian.PutUint64(starts[to&startsMask:], r.low+ones)
			binary.LittleEndian.PutUint64(starts[to&startsMask+8:], r.high+ones)
			to += 2 * r.zeros
			ones += r.ones
		}
	}
	f.parts = to / 2
	binary.LittleEndian.PutUint16(starts[to:], uint16(n)) // the end of the last part
	for to -= 2; to > 0 && int(binary.LittleEndian.Uint16(starts[to:])) > n; to -= 2 {
		binary.LittleEndian.PutUint16(starts[to:], uint16(n)) // ones after the last key belong to no key
	}
}

// find sets the hit of each entry to 1 if the block has its key, else to 0. No key may be less than the first key of
// the block. It does not panic, whatever the block contains.
func (f *finder) find(entries []entry, hits []uint8) {
	if f.parts == 0 && len(entries) <= seekMost {
		for i, e := range entries {
			hits[i] = f.seek(e)
		}
		return
	}
	if f.parts == 0 {
		f.start()
	}
	src := f.src
	width := f.head.width & 63 // a shift without a test
	mask := uint64(1)<<width - 1
	starts := f.starts
	parts := f.parts
	hits = hits[:len(entries)]
	for i := range entries {
		d := entries[i].hi - f.head.base
		q := d >> width
		if q >= parts {
			hits[i] = 0
			continue
		}
		both := binary.LittleEndian.Uint32(starts[2*q&startsMask:])
		first := uint(both & 0xffff)
		n := uint64(both>>16) - uint64(first)
		low := d & mask
		if n > 3 {
			hits[i] = f.among(int(first), int(n), low, entries[i].key().lo)
			continue
		}
		los := binary.LittleEndian.Uint64(src[blockHeader+first:]) ^ entries[i].lo>>arrivalBits*byteOnes
		at := uint(f.head.lowAt)*8 + first*width
		x := (load(src, at)^low)&mask | los&0xff
		at += width
		y := (load(src, at)^low)&mask | los>>8&0xff
		at += width
		z := (load(src, at)^low)&mask | los>>16&0xff
		same := isZero(x) | isZero(y)<<1 | isZero(z)<<2
		hits[i] = uint8(isZero(same&(1<<(n&3)-1)) ^ 1)
	}
}

// seek does the same as find for one entry, by reading the bitmap from its start to the key.
func (f *finder) seek(e entry) uint8 {
	h := &f.head
	d := e.hi - h.base
	part := d >> h.width
	bit := 0 // position after the zero with that number
	left := part
	for at := h.upperAt; left > 0; at += 8 {
		if at > blockRoom {
			return 0
		}
		w := ^binary.LittleEndian.Uint64(f.src[at:])
		if n := uint64(bits.OnesCount64(w)); n < left {
			left -= n
			bit += 64
			continue
		}
		for ; left > 1; left-- {
			w &= w - 1
		}
		bit += bits.TrailingZeros64(w) + 1
		break
	}
	first, n := bit-int(part), 0
	for at := h.upperAt*8 + bit; first+n < h.n && at+n < 8*blockBytes && load(f.src, uint(at+n))&1 == 1; n++ {
	}
	return f.among(first, n, d&(1<<h.width-1), e.key().lo)
}

// load returns 57 or more bits from the given bit on.
func load(src *[blockBytes + blockPad]byte, bit uint) uint64 {
	return binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7)
}

// among compares n keys from index i on.
func (f *finder) among(i, n int, low uint64, lo uint8) uint8 {
	h := &f.head
	for ; n > 0; n, i = n-1, i+1 {
		have := load(f.src, uint(h.lowAt*8+i*int(h.width))) & (1<<h.width - 1)
		if have == low && f.src[blockHeader+i] == lo {
			return 1
		}
	}
	return 0
}

// isZero returns 1 for 0, else 0. The compiler translates it without a branch.
func isZero(x uint64) (one uint64) {
	if x == 0 {
		one = 1
	}
	return one
}

const byteOnes, laneOnes = 0x0101010101010101, 0x0001000100010001
