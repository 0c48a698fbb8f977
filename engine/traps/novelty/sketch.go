package novelty

import "math/bits"

// block is a filter of 512 bits, one cache line.
type block [8]uint64

const (
	blockBytes = 64
	blockWords = 40 // average number of words in a full block; then one lookup in 25 is wrong
)

// sketch remembers recent words in two filters. New words are added to the current one, lookups use both. When the
// current one is full it becomes the previous one, whose words are forgotten.
type sketch struct {
	current, previous []block
	blocks            int // of each filter
	wordCount         int // words in current
}

// add adds a word, a hash with random bits, and reports whether it is new.
func (s *sketch) add(word uint64) (fresh bool) {
	if s.current == nil {
		s.current = make([]block, s.blocks)
	}
	at, which := bits.Mul64(word, uint64(s.blocks))
	which ^= word
	if s.current[at].has(which) {
		return false
	}
	fresh = s.previous == nil || !s.previous[at].has(which)
	if s.wordCount >= s.blocks*blockWords {
		s.current, s.previous, s.wordCount = s.previous, s.current, 0
		if s.current == nil {
			s.current = make([]block, s.blocks)
		}
		clear(s.current)
	}
	s.current[at].set(which)
	s.wordCount++
	return fresh
}

// has reports whether a word is known. It does not add it.
func (s *sketch) has(word uint64) bool {
	at, which := bits.Mul64(word, uint64(s.blocks))
	which ^= word
	return s.current != nil && s.current[at].has(which) || s.previous != nil && s.previous[at].has(which)
}

// bytes returns the memory of the filters in bytes.
func (s *sketch) bytes() int64 { return int64(len(s.current)+len(s.previous)) * blockBytes }

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
