package buffers

import (
	"slices"
	"sync"
)

// tier is a counted stack of buffers of one size: last in, first out, so that warm memory is reused and unneeded memory
// is never touched.
type tier struct {
	mu   sync.Mutex // held for a few instructions
	free [][]byte
	size int
	max  int
	made int
	dry  uint64

	gives int // buffers returned since the last trim
	spare int // buffers that were free all the time since then
}

// trimEvery is the number of returned buffers between two calls of trim.
const trimEvery = 1024

func (t *tier) init(size, count int) {
	t.size, t.max = size, count
}

// takeBuffer returns a buffer, or nil if all are in use.
func (t *tier) takeBuffer() []byte {
	t.mu.Lock()
	if n := len(t.free); n > 0 {
		b := t.free[n-1]
		t.free[n-1] = nil
		t.free = t.free[:n-1]
		t.spare = min(t.spare, n-1)
		t.mu.Unlock()
		return b
	}
	t.spare = 0
	fresh := t.made < t.max
	if fresh {
		t.made++
	} else {
		t.dry++
	}
	t.mu.Unlock()
	if !fresh {
		return nil
	}
	return make([]byte, t.size)
}

func (t *tier) returnBuffer(b []byte) {
	t.mu.Lock()
	t.free = append(t.free, b)
	if t.gives++; t.gives >= trimEvery {
		t.trim()
	}
	t.mu.Unlock()
}

// trim releases half of the spare buffers to the garbage collector. After a burst of thousands of pages, few are
// needed.
func (t *tier) trim() {
	drop := t.spare / 2
	t.free = slices.Delete(t.free, 0, drop)
	t.made -= drop
	t.gives, t.spare = 0, len(t.free)
}

func (t *tier) counts() (made, out int, dry uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.made, t.made - len(t.free), t.dry
}
