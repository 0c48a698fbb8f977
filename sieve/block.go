package sieve

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"

	"github.com/zeebo/xxh3"
)

const (
	blockBytes  = 4096
	blockHeader = 24
	// blockSlack bytes at the end of a block are unused, so that eight bytes can be loaded from the start of any field.
	blockSlack = 8
	blockRoom  = blockBytes - blockSlack
	// blockKeysMax is more than fit at any width: a key takes 8 bits and at least one bit of the bitmap.
	blockKeysMax = 4096
	widthMax     = 56 // with a bit offset of up to 7, a field still fits into one load of 64 bits
)

// widthFor returns the number of low bits that are stored directly when n keys are spread evenly. The rest of a gap
// then takes about two bits of the bitmap.
func widthFor(n uint64) uint { return min(uint(64-bits.Len64(max(n, 1)-1)), widthMax) }

// blockKeysMost returns the most keys that a block can have at a width. Each key takes at least one bit of the bitmap.
func blockKeysMost(width uint) int { return (blockRoom - blockHeader) * 8 / (8 + int(width) + 1) }

// fitting returns how many of the ascending hi fit into a block. hi must have at least one element.
func fitting(hi []uint64, width uint) int {
	most := min(len(hi), blockKeysMost(width))
	return 1 + sort.Search(most-1, func(i int) bool { // true if the key with index i+1 does not fit
		n := uint64(i) + 2
		span := (hi[i+1] - hi[0]) >> width
		return span > blockBytes*8 || blockHeader+n+(n*uint64(width)+7)/8+(n+span+7)/8 > blockRoom
	})
}

// encodeBlock writes the keys to dst, which has blockBytes bytes. The keys must fit. doc.go describes the format. Low
// bits are written as whole bytes, and the rest of a byte is carried to the next key; words of the bitmap likewise. It
// panics if the keys do not ascend (S3).
func encodeBlock(dst []byte, k keys, number uint32, width uint) {
	blk := (*[blockBytes]byte)(dst)
	clear(blk[:])
	n, base := k.len(), k.hi[0]
	lowAt := blockHeader + n
	upperAt := lowAt + (n*int(width)+7)/8
	binary.LittleEndian.PutUint64(blk[8:], base)
	binary.LittleEndian.PutUint16(blk[16:], uint16(n))
	blk[18] = byte(width)
	binary.LittleEndian.PutUint32(blk[20:], number)
	width &= 63 // a shift without a test
	mask := uint64(1)<<width - 1
	lo := k.lo[:n]
	var carry, prev uint64
	at := uint(lowAt) * 8
	for i, hi := range k.hi {
		if hi <= prev && i > 0 && (hi < prev || lo[i] <= lo[i-1]) {
			panic("BUG: S3: keys written to a run do not ascend")
		}
		prev = hi
		carry |= (hi - base) & mask << (at & 7)
		binary.LittleEndian.PutUint64(blk[at>>3:], carry)
		next := at + width
		carry >>= (next>>3 - at>>3) * 8 & 63
		at = next
	}
	var word uint64
	wordAt, wordEnd := upperAt, uint64(64)
	for i, hi := range k.hi {
		bit := (hi-base)>>width + uint64(i)
		for bit >= wordEnd {
			binary.LittleEndian.PutUint64(blk[wordAt:], word)
			word = 0
			wordAt += 8
			wordEnd += 64
		}
		word |= 1 << (bit & 63)
	}
	binary.LittleEndian.PutUint64(blk[wordAt:], word)
	copy(blk[blockHeader:], lo)
	binary.LittleEndian.PutUint64(dst, xxh3.Hash(dst[8:]))
}

// keyBlock is a decoded block, with memory for the most keys that a block can have.
type keyBlock struct {
	hi [blockKeysMax]uint64
	lo [blockKeysMax]uint8
}

// decode reads a block of blockBytes bytes. It returns its keys and the fault, which is "" if there is none. It never
// panics, and the keys that it returns are strictly ascending. They are valid until the next decode.
func (b *keyBlock) decode(src []byte, number uint32) (k keys, fault string) {
	h, fault := readHead(src, number)
	if fault != "" {
		return k, fault
	}
	blk := (*[blockBytes]byte)(src)
	width, mask := h.width&63, uint64(1)<<(h.width&63)-1 // & 63: a shift without a test
	var word, last, prevHi uint64
	var prevLo uint8
	first := -64 // number of the bitmap bit that is bit 0 of word
	field := h.lowAt * 8
	hi, lo := b.hi[:h.n], b.lo[:h.n]
	for i := range hi {
		for word == 0 {
			first += 64
			at := h.upperAt + first/8
			if at > blockRoom {
				return k, "invalid block bitmap"
			}
			word = binary.LittleEndian.Uint64(blk[at:])
		}
		last = uint64(first + bits.TrailingZeros64(word) - i)
		word &= word - 1
		x := h.base + (last<<width | binary.LittleEndian.Uint64(blk[field>>3&(blockBytes-1):])>>(field&7)&mask)
		l := blk[blockHeader+i]
		field += int(width)
		if x <= prevHi && i > 0 && (x < prevHi || l <= prevLo) {
			return k, "keys do not ascend"
		}
		hi[i], lo[i] = x, l
		prevHi, prevLo = x, l
	}
	if b.hi[0] != h.base || last > (math.MaxUint64-h.base)>>h.width {
		return k, "block key out of range"
	}
	return keys{hi: hi, lo: lo}, ""
}
