package sieve

import (
	"encoding/binary"
	"math"
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

// wordsMax is how many words of 64 bits a bitmap may begin in.
const wordsMax = blockRoom/8 + 1

// finder looks keys up in an encoded block without decoding it. Nearly nothing in it is a branch, since nobody could
// foretell them, and no look-up waits for the one before: a look-up that is guessed wrong costs as much as three.
type finder struct {
	src   []byte
	head  blockHead
	words int
	// scale is words for each zero, 32 bits of it behind the point: where to begin looking for one.
	scale uint64
	// zeros[i] are the zeros of the bitmap before its word i; behind the last word there are more than can be asked for.
	zeros [wordsMax + 3]uint16
}

// reset points the finder at a block whose head was read.
func (f *finder) reset(src []byte, head blockHead) {
	f.src, f.head = src[:blockBytes], head
	zeros, ones, words := 0, 0, 0
	for at := head.upperAt; at <= blockRoom && ones < head.n; at += 8 {
		n := bits.OnesCount64(binary.LittleEndian.Uint64(src[at:]))
		ones += n
		zeros += 64 - n
		words++
		f.zeros[words] = uint16(zeros)
	}
	f.zeros[words+1], f.zeros[words+2] = math.MaxUint16, math.MaxUint16
	f.words, f.scale = words, uint64(words)<<32/uint64(zeros+1)
}

// ask sets the hit of each entry to 1 if the block has its key, else to 0. No key may be below the block's first.
// Whatever the block holds, it does not panic.
func (f *finder) ask(entries []entry, hits []uint8) {
	src, h := (*[blockBytes]byte)(f.src), f.head
	width := h.width & 63 // a shift without a test
	mask := uint64(1)<<width - 1
	most := uint64(f.zeros[f.words])
	hits = hits[:len(entries)]
	for i := range entries {
		d := entries[i].hi - h.base
		// The keys whose high part is q are the ones of the bitmap that follow its q-th zero without a gap.
		q := d >> width
		if q > most {
			hits[i] = 0
			continue
		}
		bit := 0
		if q > 0 {
			bit = f.zero(src, q) + 1
		}
		at, first := h.upperAt+bit/8, bit-int(q)
		if at > blockRoom || first >= h.n {
			hits[i] = 0
			continue
		}
		ones := binary.LittleEndian.Uint64(src[at:]) >> (bit & 7) & (1<<(h.n-first) - 1)
		low, lo := d&mask, entries[i].key().lo
		if ones&15 == 15 { // one in seventy
			hits[i] = f.among(bit, first, low, lo)
			continue
		}
		field := first * int(width)
		x := uint64(src[blockHeader+first]^lo) | (load(src, h.lowAt, field)&mask ^ low)
		y := uint64(src[blockHeader+first+1]^lo) | (load(src, h.lowAt, field+int(width))&mask ^ low)
		z := uint64(src[blockHeader+first+2]^lo) | (load(src, h.lowAt, field+2*int(width))&mask ^ low)
		second := ones & (ones >> 1)
		hits[i] = uint8(ones&isZero(x) | second&isZero(y) | second&(ones>>2)&isZero(z))
	}
}

// load returns the bits from bit number `bit` behind byte `from` on, 57 at least if they all lie in the block.
func load(src *[blockBytes]byte, from, bit int) uint64 {
	return binary.LittleEndian.Uint64(src[min(from+bit>>3, blockRoom):]) >> (bit & 7)
}

// zero returns the number of the bit that is the q-th zero of the bitmap, which has so many; q counts from 1. Keys are
// spread evenly, so it is in the word where it should be, or in one beside it.
func (f *finder) zero(src *[blockBytes]byte, q uint64) int {
	guess := int(q * f.scale >> 32)
	z := f.zeros[guess : guess+3]
	w := guess - 1 + int(below(uint64(z[0]), q)+below(uint64(z[1]), q)+below(uint64(z[2]), q))
	for uint64(f.zeros[w+1]) < q {
		w++
	}
	for uint64(f.zeros[w]) >= q {
		w--
	}
	return 64*w + selectBit(^binary.LittleEndian.Uint64(src[f.head.upperAt+8*w:]), int(q)-int(f.zeros[w]))
}

// below returns 1 if a < b, else 0.
func below(a, b uint64) uint64 {
	_, borrow := bits.Sub64(a, b, 0)
	return borrow
}

// among looks at the keys from index i on, whose bits stand from a bit of the bitmap on, as long as they have the same
// high part.
func (f *finder) among(bit, i int, low uint64, lo uint8) uint8 {
	h, src := &f.head, (*[blockBytes]byte)(f.src)
	mask := uint64(1)<<h.width - 1
	for ; i < h.n && h.upperAt+bit/8 < blockBytes && src[h.upperAt+bit/8]>>(bit%8)&1 == 1; i, bit = i+1, bit+1 {
		if load(src, h.lowAt, i*int(h.width))&mask == low && src[blockHeader+i] == lo {
			return 1
		}
	}
	return 0
}

// isZero returns 1 for 0, else 0.
func isZero(x uint64) uint64 { return ^(x | -x) >> 63 }

// selectBit returns the number of the n-th bit that is set in w, n counted from 1; w has so many. It counts bits byte by
// byte, finds the byte, and does the same with its bits made bytes.
func selectBit(w uint64, n int) int {
	sums := w - w>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0f0f0f0f0f0f0f0f * byteOnes // byte i: bits set in bytes 0 to i
	at := 8 * bytesBelow(sums, n)
	n -= int(sums << 8 >> at & 0xff)
	spread := w >> at & 0xff * byteOnes & 0x8040201008040201 // byte i: bit i, where it stood
	spread = (spread + 0x7f7f7f7f7f7f7f7f) >> 7 & byteOnes
	return at + bytesBelow(spread*byteOnes, n)
}

const byteOnes, byteTops = 0x0101010101010101, 0x8080808080808080

// bytesBelow returns how many of the ascending bytes of sums, at most 127 each, are below n.
func bytesBelow(sums uint64, n int) int {
	return bits.OnesCount64(((uint64(n-1)*byteOnes | byteTops) - sums) & byteTops)
}
