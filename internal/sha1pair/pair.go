package sha1pair

import (
	"crypto/sha1"
	"encoding"
	"encoding/binary"
	"hash"
)

// Hasher digests messages, two at a time. It belongs to one goroutine.
type Hasher struct {
	sha   hash.Hash
	lanes bool
	state [stateBytes]byte
	out   [sha1.Size]byte
}

// blockBytes is the unit of SHA-1.
const blockBytes = sha1.BlockSize

// The library's form of a state: a mark, five words, the bytes that do not fill a block, the length of the message so
// far.
const (
	mark       = "sha\x01"
	stateBytes = len(mark) + sha1.Size + blockBytes + 8
)

// NewHasher makes one.
func NewHasher() *Hasher { return &Hasher{sha: sha1.New(), lanes: hasLanes()} }

// Sums returns the SHA-1 of a and of b. It allocates nothing.
func (h *Hasher) Sums(a, b []byte) (x, y [sha1.Size]byte) {
	n := min(len(a), len(b)) / blockBytes
	if !h.lanes || n < 2 {
		return h.sum(a), h.sum(b)
	}
	sa, sb := first(), first()
	blocks(&sa, &sb, &a[0], &b[0], n)
	return h.finish(&sa, a, n), h.finish(&sb, b, n)
}

// first is the state of an empty message.
func first() [8]uint32 {
	return [8]uint32{0x10325476, 0x98badcfe, 0xefcdab89, 0x67452301, 0, 0, 0, 0xc3d2e1f0}
}

func (h *Hasher) sum(m []byte) [sha1.Size]byte {
	h.sha.Reset()
	return h.end(m)
}

// end takes the rest of a message.
func (h *Hasher) end(m []byte) [sha1.Size]byte {
	_, _ = h.sha.Write(m) // a hash never fails
	h.sha.Sum(h.out[:0])
	return h.out
}

// finish hands the state after n blocks of m to the library, which does the rest.
func (h *Hasher) finish(s *[8]uint32, m []byte, n int) [sha1.Size]byte {
	b := append(h.state[:0], mark...)
	for _, word := range [...]uint32{s[3], s[2], s[1], s[0], s[7]} {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	b = binary.BigEndian.AppendUint64(b[:stateBytes-8], uint64(n*blockBytes))
	if err := h.sha.(encoding.BinaryUnmarshaler).UnmarshalBinary(b); err != nil {
		panic("BUG: sha1pair: the library does not know its own state: " + err.Error())
	}
	return h.end(m[n*blockBytes:])
}
