package sieve

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"
)

const (
	blockBytes  = 4096
	blockHeader = 24
	// blockSlack at the end of a block is never used, so that eight bytes can be loaded wherever a field begins.
	blockSlack = 8
	blockRoom  = blockBytes - blockSlack
	// blockKeysMax is above what fits at any width: a key takes 8 bits and at least one of the bitmap.
	blockKeysMax = 4096
	widthMax     = 56 // with a bit offset of up to 7 a field still lies in one load of 64 bits
)

// widthFor is the number of low bits stored as they are when n keys are spread evenly: the rest of a gap then takes
// about two bits of the bitmap.
func widthFor(n uint64) uint { return min(uint(64-bits.Len64(max(n, 1)-1)), widthMax) }

// keyBlock is a block in memory: ascending keys as two flat arrays.
type keyBlock struct {
	n  int
	hi [blockKeysMax]uint64
	lo [blockKeysMax]uint8
}

func (b *keyBlock) key(i int) key { return key{hi: b.hi[i], lo: b.lo[i]} }

// fits reports whether one more key, not below the last, can be added at the given width.
func (b *keyBlock) fits(k key, width uint) bool {
	if b.n == 0 {
		return true
	}
	if b.n == blockKeysMax {
		return false
	}
	n := uint64(b.n) + 1
	span := (k.hi - b.hi[0]) >> width
	if span > blockBytes*8 {
		return false
	}
	return blockHeader+n+(n*uint64(width)+7)/8+(n+span+7)/8 <= blockRoom
}

func (b *keyBlock) add(k key) {
	b.hi[b.n], b.lo[b.n] = k.hi, k.lo
	b.n++
}

// encode writes the block into dst, which is blockBytes long. doc.go draws it.
func (b *keyBlock) encode(dst []byte, number uint32, width uint) {
	clear(dst)
	binary.LittleEndian.PutUint64(dst[8:], b.hi[0])
	binary.LittleEndian.PutUint16(dst[16:], uint16(b.n))
	dst[18] = byte(width)
	binary.LittleEndian.PutUint32(dst[20:], number)
	low := dst[blockHeader+b.n:]
	upper := low[(b.n*int(width)+7)/8:]
	mask := uint64(1)<<width - 1
	for i := range b.n {
		dst[blockHeader+i] = b.lo[i]
		d := b.hi[i] - b.hi[0]
		at := i * int(width)
		field := low[at/8:]
		binary.LittleEndian.PutUint64(field, binary.LittleEndian.Uint64(field)|(d&mask)<<(at%8))
		bit := int(d>>width) + i
		upper[bit/8] |= 1 << (bit % 8)
	}
	binary.LittleEndian.PutUint64(dst, xxh3.Hash(dst[8:]))
}

// decode reads a block of blockBytes. The result is the fault, or "". It never panics, and what it accepts is strictly
// ascending.
func (b *keyBlock) decode(src []byte, number uint32) string {
	b.n = 0
	h, fault := readHead(src, number)
	if fault != "" {
		return fault
	}
	blk := (*[blockBytes]byte)(src)
	width, mask := h.width&63, uint64(1)<<(h.width&63)-1 // & 63: a shift without a test
	var word, last, prevHi uint64
	var prevLo uint8
	first := -64 // bit number of word's bit 0 within the bitmap
	field := h.lowAt * 8
	hi, lo := b.hi[:h.n], b.lo[:h.n]
	for i := range hi {
		for word == 0 {
			first += 64
			at := h.upperAt + first/8
			if at > blockRoom {
				return "block bitmap"
			}
			word = binary.LittleEndian.Uint64(blk[at:])
		}
		last = uint64(first + bits.TrailingZeros64(word) - i)
		word &= word - 1
		x := h.base + (last<<width | binary.LittleEndian.Uint64(blk[field>>3&(blockBytes-1):])>>(field&7)&mask)
		l := blk[blockHeader+i]
		field += int(width)
		if x <= prevHi && i > 0 && (x < prevHi || l <= prevLo) {
			return "keys do not ascend"
		}
		hi[i], lo[i] = x, l
		prevHi, prevLo = x, l
	}
	if b.hi[0] != h.base || last > (math.MaxUint64-h.base)>>h.width {
		return "block keys beyond their range"
	}
	b.n = h.n
	return ""
}
