package fetch

import (
	"slices"
	"sync"
)

// buffer is memory lent by a pool. The zero buffer is none.
type buffer struct {
	b    []byte
	tier int8 // 1 + index of the tier it goes back to; 0: to the collector
}

// tier is a counted stack of buffers of one size: last in, first out, so that warm memory is used again and memory that
// was never needed is never touched.
type tier struct {
	mu   sync.Mutex // held for a few instructions
	free [][]byte
	size int
	max  int
	made int
	dry  uint64

	gives int // since the last trim
	spare int // buffers that were free all the time since then
}

// trimEvery is how many buffers come back between two looks at what nobody needed meanwhile.
const trimEvery = 1024

func (t *tier) init(size, count int) {
	t.size, t.max = size, count
}

// take gives a buffer, or nil if all are out.
func (t *tier) take() []byte {
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

func (t *tier) give(b []byte) {
	t.mu.Lock()
	t.free = append(t.free, b)
	if t.gives++; t.gives >= trimEvery {
		t.trim()
	}
	t.mu.Unlock()
}

// trim leaves half of what was spare to the collector: after thousands of pages at once had to wait for the parse workers, few do.
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

// take gives the smallest free buffer of at least need bytes.
func (p *Pool) take(need int) (buffer, bool) {
	b, ok := p.find(need)
	if !ok {
		p.exhausted.Add(1)
	}
	return b, ok
}

// find is take without counting that there is none.
func (p *Pool) find(need int) (buffer, bool) {
	for i := range p.tiers {
		if p.tiers[i].size < need {
			continue
		}
		if b := p.tiers[i].take(); b != nil {
			return buffer{b: b, tier: int8(i + 1)}, true
		}
	}
	return buffer{}, false
}

// takeOrMake is take for a payload that must be put together, which cannot be done without memory. If none is free it is
// allocated and counted; the pages whose payload is read at one time are few, one per parse worker.
func (p *Pool) takeOrMake(need int) buffer {
	if b, ok := p.take(need); ok {
		return b
	}
	p.extra.Add(1)
	return buffer{b: make([]byte, need)}
}

// give takes a buffer back.
func (p *Pool) give(b buffer) {
	if b.tier > 0 {
		p.tiers[b.tier-1].give(b.b)
		p.serve()
	}
}
