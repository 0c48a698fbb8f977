package workbench

// slab holds values by number, in chunks that never move: growing copies nothing but a list of chunks, so it stops nobody,
// and a pointer to a value stays good. Numbers start at 1; 0 is nobody's.
type slab[T any] struct {
	chunks []*[chunkLen]T
	free   []uint32
	last   uint32 // the largest number given out
}

const (
	chunkLen = 1024
	slabMax  = 1<<32 - 2 // so that there is a number behind the last
)

func (s *slab[T]) at(n uint32) *T { return &s.chunks[(n-1)/chunkLen][(n-1)%chunkLen] }

// reach makes room for the value with this number.
func (s *slab[T]) reach(n uint32) {
	s.last = max(s.last, n)
	k := int((n - 1) / chunkLen)
	if more := k + 1 - len(s.chunks); more > 0 {
		s.chunks = append(s.chunks, make([]*[chunkLen]T, more)...)
	}
	if s.chunks[k] == nil {
		s.chunks[k] = new([chunkLen]T)
	}
}

// has says that there is room for the value with this number: between loaded ones there may be gaps.
func (s *slab[T]) has(n uint32) bool {
	k := int((n - 1) / chunkLen)
	return k < len(s.chunks) && s.chunks[k] != nil
}

// take gives out a number: one that was put back, with the value that was left there, or the next one, with the zero value.
func (s *slab[T]) take() uint32 {
	if n := len(s.free); n > 0 {
		number := s.free[n-1]
		s.free = s.free[:n-1]
		return number
	}
	if s.last == slabMax {
		panic("BUG: workbench: more than 2^32 of a kind")
	}
	s.reach(s.last + 1)
	return s.last
}

// put takes a number back. The caller has emptied the value, but for what is worth keeping for the next one.
func (s *slab[T]) put(n uint32) { s.free = append(s.free, n) }
