package workbench

// numbers is a set of small numbers with a list of its elements in the order of insertion. clear costs at most O(number
// of elements).
type numbers struct {
	list []uint32
	bits []uint64
}

func (s *numbers) has(n uint32) bool {
	word := int(n / 64)
	return word < len(s.bits) && s.bits[word]&(1<<(n%64)) != 0
}

// add reports whether n is new.
func (s *numbers) add(n uint32) bool {
	word := int(n / 64)
	if word >= len(s.bits) {
		s.bits = append(s.bits, make([]uint64, word+1-len(s.bits)+word/4)...)
	}
	bit := uint64(1) << (n % 64)
	if s.bits[word]&bit != 0 {
		return false
	}
	s.bits[word] |= bit
	s.list = append(s.list, n)
	return true
}

func (s *numbers) clear() {
	if len(s.list) < len(s.bits) {
		for _, n := range s.list {
			s.bits[n/64] = 0
		}
	} else {
		clear(s.bits)
	}
	s.list = s.list[:0]
}
