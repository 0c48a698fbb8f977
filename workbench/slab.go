package workbench

// slab stores values by number in chunks that never move. Growing copies only the list of chunks, so it takes little
// time, and pointers to values stay valid. Numbers start at 1; 0 means none.
type slab[T any] struct {
	chunks []*[chunkLen]T
	free   []uint32
	last   uint32 // the largest number in use up to now
}

const (
	chunkLen = 1024
	slabMax  = 1<<32 - 2 // leaves one number after the last
)

func (s *slab[T]) at(n uint32) *T { return &s.chunks[(n-1)/chunkLen][(n-1)%chunkLen] }

// reach allocates memory for the value with number n.
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

// has reports whether there is memory for the value with number n. A loaded slab may have gaps.
func (s *slab[T]) has(n uint32) bool {
	k := int((n - 1) / chunkLen)
	return k < len(s.chunks) && s.chunks[k] != nil
}

// allocate returns a free number. A reused number keeps its old value; a new number has the zero value.
func (s *slab[T]) allocate() uint32 {
	if n := len(s.free); n > 0 {
		number := s.free[n-1]
		s.free = s.free[:n-1]
		return number
	}
	if s.last == slabMax {
		panic("BUG: workbench: more than 2^32 values")
	}
	s.reach(s.last + 1)
	return s.last
}

// release frees a number. The caller must have cleared the value, except for parts that the next user may reuse.
func (s *slab[T]) release(n uint32) { s.free = append(s.free, n) }
