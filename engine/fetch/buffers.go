package fetch

import (
	"slices"
	"sync"
)

// buffer is memory of a pool. The zero buffer is empty.
type buffer struct {
	b    []byte
	tier int8 // 1 + index of its tier; 0 for memory outside the pool
}

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

// takeBuffer returns the smallest free buffer of at least need bytes.
func (p *Pool) takeBuffer(need int) (buffer, bool) {
	b, ok := p.find(need)
	if !ok {
		p.exhausted.Add(1)
	}
	return b, ok
}

// find is takeBuffer without counting a failure.
func (p *Pool) find(need int) (buffer, bool) {
	for i := range p.tiers {
		if p.tiers[i].size < need {
			continue
		}
		if b := p.tiers[i].takeBuffer(); b != nil {
			return buffer{b: b, tier: int8(i + 1)}, true
		}
	}
	return buffer{}, false
}

// takeOrMake is takeBuffer for a payload that must be assembled. If no buffer is free, memory is allocated and counted:
// at most one such payload exists for each parse worker.
func (p *Pool) takeOrMake(need int) buffer {
	if b, ok := p.takeBuffer(need); ok {
		return b
	}
	p.extra.Add(1)
	return buffer{b: make([]byte, need)}
}

// returnBuffer returns a buffer to its tier and wakes a waiting goroutine.
func (p *Pool) returnBuffer(b buffer) {
	if b.tier > 0 {
		p.tiers[b.tier-1].returnBuffer(b.b)
		p.serve()
	}
}
