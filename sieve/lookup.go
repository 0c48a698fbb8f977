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

// wordsMax is how many words of 64 bits a bitmap may begin in.
const wordsMax = blockRoom/8 + 1

// finder looks ascending keys up in an encoded block without decoding it. Nearly nothing in it is a branch, since nobody
// could foretell them: a look-up that is guessed wrong costs as much as three.
type finder struct {
	src   []byte
	head  blockHead
	word  int // of the bitmap, where the last look-up was
	words int
	// zeros[i] are the zeros of the bitmap before its word i.
	zeros [wordsMax + 1]uint16
}

// reset points the finder at a block whose head was read.
func (f *finder) reset(src []byte, head blockHead) {
	f.src, f.head, f.word, f.words = src[:blockBytes], head, 0, 0
	zeros, ones := 0, 0
	for at := head.upperAt; at <= blockRoom && ones < head.n; at += 8 {
		n := bits.OnesCount64(binary.LittleEndian.Uint64(src[at:]))
		ones += n
		zeros += 64 - n
		f.words++
		f.zeros[f.words] = uint16(zeros)
	}
}

// has returns 1 if the block has k, else 0. k must not be below the block's first key nor below a key asked before.
// Whatever the block holds, it does not panic.
func (f *finder) has(k key) uint64 {
	h, src := &f.head, (*[blockBytes]byte)(f.src)
	d := k.hi - h.base
	// The keys whose high part is q are the ones of the bitmap that follow its q-th zero without a gap.
	q64 := d >> (h.width & 63)
	if q64 > uint64(f.zeros[f.words]) {
		return 0
	}
	q, w := int(q64), f.word
	for int(f.zeros[w+1]) < q {
		w++
	}
	f.word = w
	bit := 0
	if q > 0 {
		bit = 64*w + selectBit(^binary.LittleEndian.Uint64(src[h.upperAt+8*w:]), q-int(f.zeros[w])) + 1
	}
	at, i := h.upperAt+bit/8, bit-q
	if at > blockRoom || i >= h.n {
		return 0
	}
	ones := binary.LittleEndian.Uint64(src[at:]) >> (bit % 8)
	low := d & (1<<(h.width&63) - 1)
	if ones&3 == 3 { // several, of which the first is not always the one
		return f.among(bit, i, low, k.lo)
	}
	return ones & isZero(h.low(f.src, i)^low|uint64(src[blockHeader+i]^k.lo))
}

// among looks at the keys from index i on, whose bits stand from a bit of the bitmap on, as long as they have the same
// high part.
func (f *finder) among(bit, i int, low uint64, lo uint8) uint64 {
	h := &f.head
	for ; i < h.n && h.upperAt+bit/8 < blockBytes && f.src[h.upperAt+bit/8]>>(bit%8)&1 == 1; i, bit = i+1, bit+1 {
		if have := h.low(f.src, i); have > low || have == low && f.src[blockHeader+i] >= lo {
			return isZero(have ^ low | uint64(f.src[blockHeader+i]^lo))
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
