package fpcache

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

const (
	ways     = 7
	setBytes = 128

	lockBit     = 1 << 63
	countShift  = 60
	countMask   = 7
	versionOne  = 1 << 21
	versionMask = (1<<28 - 1) << 21
	orderMask   = 1<<21 - 1
	wayBits     = 3
	wayMask     = 1<<wayBits - 1
	// entrance is how many fingerprints of its set a new one stands behind. Most links are found once and never again;
	// they pass through the last three ways and leave the others to those that have been hit. docs/adr/0012 has the figures.
	entrance     = 4
	stripes      = 64
	spinsPerStep = 32
)

// set is two cache lines. All words are atomic since readers take no lock; meta says whether what they read is whole.
type set struct {
	meta atomic.Uint64
	hi   [ways]atomic.Uint64
	lo   [ways]atomic.Uint64
	_    uint64
}

// stripe counts look-ups of the sets that map to it. Written by any worker, read by Stats.
type stripe struct {
	hits, misses atomic.Uint64
	_            [6]uint64
}

// Cache is a fixed-size approximately-LRU set of 128-bit fingerprints. Safe for any number of goroutines.
type Cache struct {
	sets   []set
	seed   uint64
	counts [stripes]stripe
}

// Stats is what a cache has done since New, Load or Reset.
type Stats struct {
	Lookups  uint64 // calls of Seen
	Hits     uint64 // of those, answered yes
	Capacity uint64 // fingerprints that fit
	Bytes    int64  // memory of the table
}

// New makes an empty cache in the given number of bytes, rounded down to whole sets of 128 bytes but never below one
// set. The seed decides which set a fingerprint belongs to; any value will do.
func New(bytes int64, seed uint64) *Cache {
	return &Cache{sets: make([]set, max(1, bytes/setBytes)), seed: seed}
}

// Seen reports whether fp is in the cache and, if so, makes it recent. It does not insert.
func (c *Cache) Seen(fp xxh3.Uint128) bool {
	i := c.index(fp)
	s := &c.sets[i]
	count := &c.counts[i%stripes]
	for spin := 1; ; spin++ {
		m := s.meta.Load()
		if m&lockBit == 0 {
			w := s.find(fp, m)
			if w == ways {
				if s.meta.Load() == m {
					count.misses.Add(1)
					return false
				}
			} else if moved := toFront(m, w); moved == m {
				if s.meta.Load() == m {
					count.hits.Add(1)
					return true
				}
			} else if s.meta.CompareAndSwap(m, moved) {
				count.hits.Add(1)
				return true
			}
		}
		relax(spin)
	}
}

// Put inserts fp, in place of the least recent one of its set if the set is full. It stands behind the fingerprints that
// have been hit and before those that wait longer for their first hit. A fingerprint that is there already becomes
// recent.
func (c *Cache) Put(fp xxh3.Uint128) {
	s := &c.sets[c.index(fp)]
	m := s.lock()
	if w := s.find(fp, m); w != ways {
		s.meta.Store(bump(toFront(m, w)))
		return
	}
	n := m >> countShift & countMask
	w := n // an unused way
	if n < ways {
		m += 1 << countShift
	} else {
		w = m >> (wayBits * (ways - 1)) & wayMask
	}
	s.hi[w].Store(fp.Hi)
	s.lo[w].Store(fp.Lo)
	s.meta.Store(bump(insert(m, w, min(n, entrance))))
}

// Reset forgets everything, counters included.
func (c *Cache) Reset() {
	for i := range c.sets {
		s := &c.sets[i]
		m := s.lock()
		s.meta.Store(bump(m & versionMask))
	}
	for i := range c.counts {
		c.counts[i].hits.Store(0)
		c.counts[i].misses.Store(0)
	}
}

// Stats returns the counters; while others use the cache they are a moment apart from each other.
func (c *Cache) Stats() Stats {
	st := Stats{Capacity: uint64(len(c.sets)) * ways, Bytes: int64(len(c.sets)) * setBytes}
	for i := range c.counts {
		hits := c.counts[i].hits.Load()
		st.Hits += hits
		st.Lookups += hits + c.counts[i].misses.Load()
	}
	return st
}

// index maps a fingerprint to its set: the high word of a product, so that any number of sets will do.
func (c *Cache) index(fp xxh3.Uint128) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h, _ := bits.Mul64((fp.Lo^c.seed)*odd, uint64(len(c.sets)))
	return h
}

// find returns the way that holds fp, or ways. The answer is good only if meta is still m afterwards, or m is ours.
func (s *set) find(fp xxh3.Uint128, m uint64) uint64 {
	n := m >> countShift & countMask
	for w := range n {
		if s.hi[w].Load() == fp.Hi && s.lo[w].Load() == fp.Lo {
			return w
		}
	}
	return ways
}

// lock takes the set for writing and returns its meta without the lock bit; storing a bumped meta unlocks.
func (s *set) lock() uint64 {
	for spin := 1; ; spin++ {
		m := s.meta.Load()
		if m&lockBit == 0 && s.meta.CompareAndSwap(m, m|lockBit) {
			return m
		}
		relax(spin)
	}
}

// toFront returns m with way w, which is in the order, as the newest.
func toFront(m, w uint64) uint64 {
	order := m & orderMask
	n := m >> countShift & countMask
	at := uint64(0)
	for at+1 < n && order>>(wayBits*at)&wayMask != w {
		at++
	}
	newer := order & (1<<(wayBits*at) - 1)
	older := order &^ (1<<(wayBits*(at+1)) - 1)
	return m&^orderMask | older | newer<<wayBits | w
}

// insert returns m with way w at a place of the order; those behind it move on, and the last of seven falls out.
func insert(m, w, place uint64) uint64 {
	order := m & orderMask
	newer := order & (1<<(wayBits*place) - 1)
	older := (order - newer) << wayBits & orderMask
	return m&^orderMask | older | w<<(wayBits*place) | newer
}

// bump advances the version, so that a reader who saw the old words notices.
func bump(m uint64) uint64 { return m&^versionMask | (m+versionOne)&versionMask }

// relax lets the holder of a set get on: a set is held for a few stores, so it is nearly always free at once, unless
// its holder has lost the processor.
func relax(spin int) {
	if spin%spinsPerStep == 0 {
		runtime.Gosched()
	}
}
