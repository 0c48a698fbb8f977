package sieve

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// blockHead is what the header of an encoded block says, and where its parts begin.
type blockHead struct {
	n       int
	width   uint
	base    uint64 // hi of the first key
	lowAt   int
	upperAt int
}

// readHead checks a block's checksum and header; fault is "" if they hold.
func readHead(src []byte, number uint32) (h blockHead, fault string) {
	if binary.LittleEndian.Uint64(src) != xxh3.Hash(src[8:blockBytes]) {
		return h, "block checksum"
	}
	h = blockHead{n: int(binary.LittleEndian.Uint16(src[16:])), width: uint(src[18]), base: binary.LittleEndian.Uint64(src[8:])}
	h.lowAt = blockHeader + h.n
	h.upperAt = h.lowAt + (h.n*int(h.width)+7)/8
	switch {
	case binary.LittleEndian.Uint32(src[20:]) != number:
		return h, "block is not in its place"
	case h.n == 0 || h.n > blockKeysMax || h.width > widthMax || h.upperAt > blockRoom:
		return h, "block header"
	}
	return h, ""
}

// first is the block's first key as it stands: its low bits are all zero, its bit in the bitmap is bit 0.
func (h *blockHead) first(src []byte) key { return key{hi: h.base, lo: src[blockHeader]} }

// low is the low bits of the hi of key i, relative to the first.
func (h *blockHead) low(src []byte, i int) uint64 {
	at := i * int(h.width)
	return binary.LittleEndian.Uint64(src[h.lowAt+at/8:]) >> (at % 8) & (uint64(1)<<h.width - 1)
}

// finder looks ascending keys up in an encoded block without decoding it: it walks the bitmap once, a word at a time.
type finder struct {
	src   []byte
	head  blockHead
	word  uint64
	at    int // bit number of word's bit 0 within the bitmap
	zeros int // in the bitmap before it
}

// reset points the finder at a block whose head was read.
func (f *finder) reset(src []byte, head blockHead) {
	*f = finder{src: src, head: head, word: binary.LittleEndian.Uint64(src[head.upperAt:])}
}

// has reports whether the block has k, which must not be below the block's first key nor below a key asked before.
// Whatever the block holds, it does not panic.
func (f *finder) has(k key) bool {
	d := k.hi - f.head.base
	// The keys whose high part is q are the ones of the bitmap that follow its q-th zero without a gap.
	q := d >> f.head.width
	if q > blockBytes*8 {
		return false
	}
	bit := 0
	if q > 0 {
		skip := int(q) - f.zeros // at least 1: the walk never goes beyond the word with the zero last asked for
		for n := bits.OnesCount64(^f.word); skip > n; n = bits.OnesCount64(^f.word) {
			skip -= n
			f.zeros += n
			f.at += 64
			at := f.head.upperAt + f.at/8
			if at > blockRoom {
				return false
			}
			f.word = binary.LittleEndian.Uint64(f.src[at:])
		}
		bit = selectBit(^f.word, skip) + 1
	}
	return f.among(f.at+bit, f.at+bit-int(q), d, k.lo)
}

// among looks at the keys from index i on, whose bits stand from a bit of the bitmap on, as long as they have the same
// high part.
func (f *finder) among(bit, i int, d uint64, lo uint8) bool {
	h := &f.head
	low := d & (uint64(1)<<h.width - 1)
	for ; i < h.n && h.upperAt+bit/8 < blockBytes && f.src[h.upperAt+bit/8]>>(bit%8)&1 == 1; i, bit = i+1, bit+1 {
		if have := h.low(f.src, i); have > low || have == low && f.src[blockHeader+i] >= lo {
			return have == low && f.src[blockHeader+i] == lo
		}
	}
	return false
}

// selectBit returns the number of the n-th bit that is set in w, n counted from 1; w has so many. All but the last few
// steps are free of branches, since nobody could foretell them.
func selectBit(w uint64, n int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	sums := w - w>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0f0f0f0f0f0f0f0f * ones // byte i: bits set in bytes 0 to i
	before := uint64(n-1)*ones | tops
	at := 8 * bits.OnesCount64((before-sums)&tops) // of the byte that has the bit: as many bytes are passed over
	n -= int(sums << 8 >> at & 0xff)
	w >>= at
	for ; n > 1; n-- {
		w &= w - 1
	}
	return at + bits.TrailingZeros64(w)
}
