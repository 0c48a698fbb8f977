package fpcache

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	mathbits "math/bits"

	"github.com/zeebo/xxh3"
)

// ErrCorrupt is wrapped by errors of Load if the bytes are not a complete saved cache.
var ErrCorrupt = errors.New("fpcache: corrupt")

const (
	magic       = "OWFPCAC2"
	magicFull   = "OWFPCAC1" // of the former format, which has every set, used or not
	headerBytes = 32
	frameSets   = 8192
	savedBytes  = 8 * (1 + 2*ways)
	setsMax     = 1 << 36 // 8 TiB of cache: a larger number in a header is not plausible
	// setsFirst is the number of sets that Load allocates before the first frame is verified, so that a damaged header
	// cannot allocate much.
	setsFirst = 2 * frameSets
)

// Save writes the cache to w: a bit for each set, and 120 bytes for each set in use. The cache may be in use meanwhile.
func (c *Cache) Save(w io.Writer) error {
	head := make([]byte, 0, headerBytes)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint64(head, c.seed)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(c.sets)))
	head = binary.LittleEndian.AppendUint64(head, xxh3.Hash(head))
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("fpcache: save: %w", err)
	}
	frame := make([]byte, 0, min(frameSets, len(c.sets))*savedBytes+frameSets/8+8)
	for at := 0; at < len(c.sets); at += frameSets {
		sets := c.sets[at:min(at+frameSets, len(c.sets))]
		frame = frame[:bitmapBytes(len(sets))]
		clear(frame)
		for i := range sets {
			if before := len(frame); sets[i].meta.Load()>>countShift&countMask > 0 {
				frame = sets[i].appendTo(frame)
				frame[i/8] |= 1 << (i % 8)
				if binary.LittleEndian.Uint64(frame[before:])>>countShift&countMask == 0 { // it is empty again
					frame = frame[:before]
					frame[i/8] &^= 1 << (i % 8)
				}
			}
		}
		frame = binary.LittleEndian.AppendUint64(frame, xxh3.Hash(frame))
		if _, err := w.Write(frame); err != nil {
			return fmt.Errorf("fpcache: save: %w", err)
		}
	}
	return nil
}

// bitmapBytes is the length of the bits of a frame.
func bitmapBytes(sets int) int { return (sets + 7) / 8 }

// Load reads the output of Save, also that of the former format, and no bytes after it. Errors wrap ErrCorrupt, or are
// errors of r.
func Load(r io.Reader) (*Cache, error) {
	head := make([]byte, headerBytes)
	if err := readFull(r, head); err != nil {
		return nil, err
	}
	full := string(head[:8]) == magicFull
	if !full && string(head[:8]) != magic || binary.LittleEndian.Uint64(head[24:]) != xxh3.Hash(head[:24]) {
		return nil, fmt.Errorf("%w: header", ErrCorrupt)
	}
	total := binary.LittleEndian.Uint64(head[16:])
	if total == 0 || total > setsMax {
		return nil, fmt.Errorf("%w: %d sets", ErrCorrupt, total)
	}
	c := &Cache{sets: make([]set, min(total, setsFirst)), seed: binary.LittleEndian.Uint64(head[8:])}
	buf := make([]byte, min(frameSets, total)*savedBytes+frameSets/8+8)
	for at := uint64(0); at < total; at += frameSets {
		if at == uint64(len(c.sets)) {
			first := c.sets
			c.sets = make([]set, total)
			for i := range first {
				c.sets[i].copyFrom(&first[i])
			}
		}
		if err := loadFrame(r, c.sets[at:min(at+frameSets, total)], buf, full); err != nil {
			return nil, fmt.Errorf("%w, at set %d", err, at)
		}
	}
	return c, nil
}

// loadFrame reads one frame into sets. In the former format, full, every set is there and no bits are.
func loadFrame(r io.Reader, sets []set, buf []byte, full bool) error {
	used, bits := len(sets), 0
	if !full {
		bits = bitmapBytes(len(sets))
		if err := readFull(r, buf[:bits]); err != nil {
			return err
		}
		used = 0
		for _, b := range buf[:bits] {
			used += mathbits.OnesCount8(b)
		}
		if extra := len(sets) % 8; extra > 0 && buf[bits-1]>>extra != 0 {
			return fmt.Errorf("%w: bits of no set", ErrCorrupt)
		}
	}
	end := bits + used*savedBytes
	if err := readFull(r, buf[bits:end+8]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint64(buf[end:]) != xxh3.Hash(buf[:end]) {
		return fmt.Errorf("%w: frame", ErrCorrupt)
	}
	body := buf[bits:end]
	for i := range sets {
		if !full && buf[i/8]>>(i%8)&1 == 0 {
			continue
		}
		if !sets[i].load(body) {
			return fmt.Errorf("%w: set %d of the frame", ErrCorrupt, i)
		}
		body = body[savedBytes:]
	}
	return nil
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
