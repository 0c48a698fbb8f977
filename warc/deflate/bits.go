package deflate

import (
	"encoding/binary"
	"slices"
)

// bitWriter contains the bits of an incomplete byte between two blocks.
type bitWriter struct {
	bits uint64
	n    uint
}

// put adds n bits, at most 32, and writes whole bytes to dst.
func (w *bitWriter) put(dst []byte, v uint64, n uint) []byte {
	w.bits |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		dst = append(dst, byte(w.bits))
		w.bits >>= 8
	}
	return dst
}

// finish fills the last byte with zeros and writes it.
func (w *bitWriter) finish(dst []byte) []byte {
	if w.n > 0 {
		dst = append(dst, byte(w.bits))
	}
	w.bits, w.n = 0, 0
	return dst
}

// fill writes the sequences of a block with its codes, and its end symbol. size is the most bytes that this takes.
func (w *bitWriter) fill(dst []byte, size int, m *matcher, c *coder, s *shapes) []byte {
	at := len(dst)
	dst = slices.Grow(dst, size+8)
	out := dst[:at+size+8]
	words := &c.literalWords
	acc, n := w.bits, w.n
	src := m.literals[:]
	for _, q := range m.seqs {
		left := int(q.run)
		for ; left >= 4; left -= 4 { // four words have at most 56 bits, and at most 7 are waiting
			four := binary.LittleEndian.Uint32(src)
			acc, n = words[four&255].join(acc, n)
			acc, n = words[four>>8&255].join(acc, n)
			acc, n = words[four>>16&255].join(acc, n)
			acc, n = words[four>>24].join(acc, n)
			src = src[4:]
			binary.LittleEndian.PutUint64(out[at:], acc)
			at, acc, n = at+int(n>>3), acc>>(n&^7&63), n&7
		}
		// Up to three more, without an unpredictable branch: words beyond the end have no bits.
		three := binary.LittleEndian.Uint32(src)
		src = src[left:]
		x, y, z := words[three&255], words[three>>8&255], words[three>>16&255]
		if left < 1 {
			x = 0
		}
		if left < 2 {
			y = 0
		}
		if left < 3 {
			z = 0
		}
		acc, n = x.join(acc, n)
		acc, n = y.join(acc, n)
		acc, n = z.join(acc, n)
		binary.LittleEndian.PutUint64(out[at:], acc)
		at, acc, n = at+int(n>>3), acc>>(n&^7&63), n&7
		if q.length == 0 {
			break
		}
		// The match: at most 14, 5, 14 and 13 bits.
		code := s.lengthCode[q.length]
		acc, n = words[code].join(acc, n)
		acc |= uint64(q.length-s.lengthBase[code-lengthsFrom]) << (n & 63)
		n += uint(s.lengthExtra[code-lengthsFrom])
		far := s.distance(q.distance)
		acc, n = c.distanceWords[far].join(acc, n)
		acc |= uint64(q.distance-s.distanceBase[far]) << (n & 63)
		n += uint(s.distanceExtra[far])
		binary.LittleEndian.PutUint64(out[at:], acc)
		at, acc, n = at+int(n>>3), acc>>(n&^7&63), n&7
	}
	acc, n = words[endOfBlock].join(acc, n)
	binary.LittleEndian.PutUint64(out[at:], acc)
	w.bits, w.n = acc>>(n&^7&63), n&7
	return out[:at+int(n>>3)]
}

// join adds a word after the n bits of acc.
func (x word) join(acc uint64, n uint) (uint64, uint) {
	return acc | uint64(x&0xffff)<<(n&63), n + uint(x>>16)
}
