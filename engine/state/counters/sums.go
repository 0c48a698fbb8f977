package counters

import (
	"encoding/binary"
	"io"
	"maps"
	"math"
	"sync"
)

// Sums are numbers that the user has added up, by name: --stat and --hook. They are in the checkpoint, and what came
// after it is in the journal. Safe for concurrent use. The zero value is ready.
type Sums struct {
	mu struct {
		sync.Mutex
		of map[string]float64
	}
}

// sumsMost is the largest number of names: programs of the user name them, too (--hook).
const sumsMost = 256

// Add adds to a number. 0 makes it known. A name that is not known is left out if there are sumsMost.
func (s *Sums) Add(name string, n float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.of == nil {
		s.mu.of = make(map[string]float64)
	}
	if _, isKnown := s.mu.of[name]; isKnown || len(s.mu.of) < sumsMost {
		s.mu.of[name] += n
	}
}

// Load returns a copy of all; nil for none.
func (s *Sums) Load() map[string]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mu.of)
}

// Store sets all.
func (s *Sums) Store(of map[string]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.of = maps.Clone(of)
}

// AddAll adds the numbers that AppendSum wrote. An error means that b is damaged; those before the damage are added.
func (s *Sums) AddAll(b []byte) error {
	for len(b) > 0 {
		size, head := binary.Uvarint(b)
		if head <= 0 || len(b)-head < 8 || size > uint64(len(b)-head-8) {
			return io.ErrUnexpectedEOF
		}
		name, rest := b[head:][:size], b[head+int(size):]
		s.Add(string(name), math.Float64frombits(binary.LittleEndian.Uint64(rest)))
		b = rest[8:]
	}
	return nil
}

// AppendSum appends a number for AddAll, as a journal entry has it: a uvarint with the length of the name, the name,
// and the bits of the number, little-endian.
func AppendSum(dst []byte, name string, n float64) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(name))), name...)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(n))
}
