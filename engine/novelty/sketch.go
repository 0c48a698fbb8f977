package novelty

import "math/bits"

// block is a filter of 512 bits, one line of the processor's cache.
type block [8]uint64

const (
	blockBytes = 64
	blockWords = 40 // words that a block takes, on average, before it is full: one look-up in 25 errs then
)

// sketch remembers words that it was told lately: of two filters the younger is filled, and looked at with the older one, until it is
// full; then it is the older one, and what was in that is forgotten.
type sketch struct {
	young, old []block
	blocks     int // of each
	told       int // words in young
}

// tell notes a word, all of whose bits are as good as random, and says whether it is new.
func (s *sketch) tell(word uint64) (fresh bool) {
	if s.young == nil {
		s.young = make([]block, s.blocks)
	}
	at, which := bits.Mul64(word, uint64(s.blocks))
	which ^= word
	if s.young[at].has(which) {
		return false
	}
	fresh = s.old == nil || !s.old[at].has(which)
	if s.told >= s.blocks*blockWords {
		s.young, s.old, s.told = s.old, s.young, 0
		if s.young == nil {
			s.young = make([]block, s.blocks)
		}
		clear(s.young)
	}
	s.young[at].set(which)
	s.told++
	return fresh
}

// bytes is what it takes.
func (s *sketch) bytes() int64 { return int64(len(s.young)+len(s.old)) * blockBytes }

func (b *block) has(bits uint64) bool {
	for range 4 {
		if b[bits>>6&7]&(1<<(bits&63)) == 0 {
			return false
		}
		bits >>= 9
	}
	return true
}

func (b *block) set(bits uint64) {
	for range 4 {
		b[bits>>6&7] |= 1 << (bits & 63)
		bits >>= 9
	}
}
