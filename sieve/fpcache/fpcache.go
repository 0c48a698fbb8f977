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
	// entrance is the number of newer fingerprints of the set when a new one is inserted. Most links occur only once:
	// they use the last three ways and leave the others to fingerprints with hits. docs/adr/0012 has the measurements.
	entrance     = 4
	stripes      = 64
	spinsPerStep = 32
)

// set is two cache lines. All words are atomic because readers take no lock. meta tells a reader whether the words it
// read belong together.
type set struct {
	meta atomic.Uint64
	hi   [ways]atomic.Uint64
	lo   [ways]atomic.Uint64
	_    uint64
}

// stripe counts lookups of the sets that map to it. Workers write it, and Stats reads it.
type stripe struct {
	hits, misses atomic.Uint64
	_            [6]uint64
}

// Cache is a set of 128-bit fingerprints with fixed size and approximately LRU replacement. All methods are safe for
// concurrent use.
type Cache struct {
	sets   []set
	seed   uint64
	counts [stripes]stripe
}

// Stats are counters since New, Load or Reset.
type Stats struct {
	Lookups  uint64 // calls of Seen
	Hits     uint64 // calls of Seen that returned true
	Capacity uint64 // number of fingerprints that fit
	Bytes    int64  // memory of the table
}

// New returns an empty cache of the given number of bytes, rounded down to sets of 128 bytes, but at least one set. The
// seed selects the set of a fingerprint; any value works.
func New(bytes int64, seed uint64) *Cache {
	return &Cache{sets: make([]set, max(1, bytes/setBytes)), seed: seed}
}

// Seen reports whether fp is in the cache. If so, it becomes the newest of its set. Seen does not insert.
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

// Put inserts fp. If its set is full, fp replaces the oldest fingerprint. The new one is placed after four others, see
// entrance. If fp is already in the cache, it becomes the newest.
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

// Reset removes all fingerprints and resets the counters.
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

// Stats returns the counters. They are not read at exactly the same moment if the cache is in use.
func (c *Cache) Stats() Stats {
	st := Stats{Capacity: uint64(len(c.sets)) * ways, Bytes: int64(len(c.sets)) * setBytes}
	for i := range c.counts {
		hits := c.counts[i].hits.Load()
		st.Hits += hits
		st.Lookups += hits + c.counts[i].misses.Load()
	}
	return st
}

// index maps a fingerprint to its set by the high word of a product, so that any number of sets works.
func (c *Cache) index(fp xxh3.Uint128) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h, _ := bits.Mul64((fp.Lo^c.seed)*odd, uint64(len(c.sets)))
	return h
}

// find returns the way that contains fp, or ways. The result is valid only if meta is still m afterwards, or if the
// caller holds the lock.
func (s *set) find(fp xxh3.Uint128, m uint64) uint64 {
	n := m >> countShift & countMask
	for w := range n {
		if s.hi[w].Load() == fp.Hi && s.lo[w].Load() == fp.Lo {
			return w
		}
	}
	return ways
}

// lock locks the set for writing and returns its meta without the lock bit. Storing a new meta unlocks.
func (s *set) lock() uint64 {
	for spin := 1; ; spin++ {
		m := s.meta.Load()
		if m&lockBit == 0 && s.meta.CompareAndSwap(m, m|lockBit) {
			return m
		}
		relax(spin)
	}
}

// toFront returns m with way w, which must be in the order, as the newest.
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

// insert returns m with way w at a place in the order. Later ways move on, and the last of seven is removed.
func insert(m, w, place uint64) uint64 {
	order := m & orderMask
	newer := order & (1<<(wayBits*place) - 1)
	older := (order - newer) << wayBits & orderMask
	return m&^orderMask | older | w<<(wayBits*place) | newer
}

// bump increments the version, so that a reader of the old words detects the change.
func bump(m uint64) uint64 { return m&^versionMask | (m+versionOne)&versionMask }

// relax yields the processor sometimes. A set is locked only for a few stores, so usually no wait is needed, unless the
// holder of the lock is not running.
func relax(spin int) {
	if spin%spinsPerStep == 0 {
		runtime.Gosched()
	}
}
