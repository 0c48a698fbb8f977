package fpcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

// ErrCorrupt is wrapped by errors of Load if the bytes are not a complete saved cache.
var ErrCorrupt = errors.New("fpcache: corrupt")

const (
	magic       = "OWFPCAC1"
	headerBytes = 32
	frameSets   = 8192
	savedBytes  = 8 * (1 + 2*ways)
	setsMax     = 1 << 36 // 8 TiB of cache: a larger number in a header is not plausible
	// setsFirst is the number of sets that Load allocates before the first frame is verified, so that a damaged header
	// cannot allocate much.
	setsFirst = 2 * frameSets
)

// Save writes the cache to w, 120 bytes per set. The cache may be in use meanwhile.
func (c *Cache) Save(w io.Writer) error {
	head := make([]byte, 0, headerBytes)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint64(head, c.seed)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(c.sets)))
	head = binary.LittleEndian.AppendUint64(head, xxh3.Hash(head))
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("fpcache: save: %w", err)
	}
	frame := make([]byte, 0, min(frameSets, len(c.sets))*savedBytes+8)
	for at := 0; at < len(c.sets); at += frameSets {
		frame = frame[:0]
		for i := at; i < min(at+frameSets, len(c.sets)); i++ {
			frame = c.sets[i].appendTo(frame)
		}
		frame = binary.LittleEndian.AppendUint64(frame, xxh3.Hash(frame))
		if _, err := w.Write(frame); err != nil {
			return fmt.Errorf("fpcache: save: %w", err)
		}
	}
	return nil
}

// Load reads the output of Save, and no bytes after it. Errors wrap ErrCorrupt, or are errors of r.
func Load(r io.Reader) (*Cache, error) {
	head := make([]byte, headerBytes)
	if err := readFull(r, head); err != nil {
		return nil, err
	}
	if string(head[:8]) != magic || binary.LittleEndian.Uint64(head[24:]) != xxh3.Hash(head[:24]) {
		return nil, fmt.Errorf("%w: header", ErrCorrupt)
	}
	total := binary.LittleEndian.Uint64(head[16:])
	if total == 0 || total > setsMax {
		return nil, fmt.Errorf("%w: %d sets", ErrCorrupt, total)
	}
	c := &Cache{sets: make([]set, min(total, setsFirst)), seed: binary.LittleEndian.Uint64(head[8:])}
	frame := make([]byte, min(frameSets, total)*savedBytes+8)
	for at := uint64(0); at < total; at += frameSets {
		if at == uint64(len(c.sets)) {
			first := c.sets
			c.sets = make([]set, total)
			for i := range first {
				c.sets[i].copyFrom(&first[i])
			}
		}
		n := min(frameSets, total-at)
		b := frame[:n*savedBytes+8]
		if err := readFull(r, b); err != nil {
			return nil, err
		}
		body := b[:len(b)-8]
		if binary.LittleEndian.Uint64(b[len(body):]) != xxh3.Hash(body) {
			return nil, fmt.Errorf("%w: frame at set %d", ErrCorrupt, at)
		}
		for i := range n {
			if !c.sets[at+i].load(body[i*savedBytes:]) {
				return nil, fmt.Errorf("%w: set %d", ErrCorrupt, at+i)
			}
		}
	}
	return c, nil
}

// readFull fills b. An early end is corruption; other errors come from the reader.
func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: ends early", ErrCorrupt)
	}
	if err != nil {
		return fmt.Errorf("fpcache: load: %w", err)
	}
	return nil
}

// appendTo appends a consistent state of the set. Unused ways are written as zeros.
func (s *set) appendTo(b []byte) []byte {
	for spin := 1; ; spin++ {
		m := s.meta.Load()
		if m&lockBit == 0 {
			out := binary.LittleEndian.AppendUint64(b, m&^versionMask)
			n := int(m >> countShift & countMask)
			for w := range ways {
				out = binary.LittleEndian.AppendUint64(out, used(w < n, s.hi[w].Load()))
			}
			for w := range ways {
				out = binary.LittleEndian.AppendUint64(out, used(w < n, s.lo[w].Load()))
			}
			if s.meta.Load() == m {
				return out
			}
		}
		relax(spin)
	}
}

// load fills a set that no other goroutine uses yet. It returns false if the order is invalid.
func (s *set) load(b []byte) bool {
	m := binary.LittleEndian.Uint64(b)
	n := m >> countShift & countMask
	if m&(lockBit|versionMask) != 0 || m&^(uint64(countMask)<<countShift|orderMask) != 0 {
		return false
	}
	var there uint64
	for i := range n {
		w := m >> (wayBits * i) & wayMask
		if w >= n || there>>w&1 == 1 {
			return false
		}
		there |= 1 << w
	}
	s.meta.Store(m)
	for w := range ways {
		s.hi[w].Store(binary.LittleEndian.Uint64(b[8+8*w:]))
		s.lo[w].Store(binary.LittleEndian.Uint64(b[8+8*(ways+w):]))
	}
	return true
}

// copyFrom copies another set. Neither may be in use.
func (s *set) copyFrom(o *set) {
	s.meta.Store(o.meta.Load())
	for w := range ways {
		s.hi[w].Store(o.hi[w].Load())
		s.lo[w].Store(o.lo[w].Load())
	}
}

func used(yes bool, v uint64) uint64 {
	if yes {
		return v
	}
	return 0
}
