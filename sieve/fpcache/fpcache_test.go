package fpcache

import (
	"container/list"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/invariants"
)

// fpOf returns an evenly spread fingerprint for a small number, as hashing a URL does.
func fpOf(i uint64) xxh3.Uint128 {
	b := [8]byte{byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24), byte(i >> 32), byte(i >> 40)}
	return xxh3.Hash128Seed(b[:], 42)
}

// lru is the reference implementation: exact least recently used.
type lru struct {
	capacity int
	order    *list.List
	at       map[xxh3.Uint128]*list.Element
}

func newLRU(capacity int) *lru {
	return &lru{capacity: capacity, order: list.New(), at: map[xxh3.Uint128]*list.Element{}}
}

func (l *lru) seen(fp xxh3.Uint128) bool {
	e, ok := l.at[fp]
	if ok {
		l.order.MoveToFront(e)
	}
	return ok
}

func (l *lru) put(fp xxh3.Uint128) {
	if l.seen(fp) {
		return
	}
	if l.order.Len() == l.capacity {
		oldest := l.order.Back()
		delete(l.at, oldest.Value.(xxh3.Uint128))
		l.order.Remove(oldest)
	}
	l.at[fp] = l.order.PushFront(fp)
}

// A hit makes a fingerprint the newest, a new one is inserted after four others, and the last of seven is removed.
func TestOneSetIsExact(t *testing.T) {
	c := New(setBytes, 1)
	var order []xxh3.Uint128 // newest first
	rng := rand.New(rand.NewPCG(1, 2))
	for step := range 50_000 {
		fp := fpOf(rng.Uint64N(12))
		at := slices.Index(order, fp)
		put := rng.IntN(2) == 0
		if put {
			c.Put(fp)
		} else if got := c.Seen(fp); got != (at >= 0) {
			t.Fatalf("step %d: Seen %v, the model says %v", step, got, at >= 0)
		}
		switch {
		case at >= 0:
			order = slices.Insert(slices.Delete(order, at, at+1), 0, fp)
		case put:
			order = slices.Insert(order[:min(len(order), ways-1)], min(len(order), entrance), fp)
		}
	}
}

func TestHitRateIsNearTrueLRUOrAbove(t *testing.T) {
	const capacity = 1 << 13
	for _, skew := range []float64{1.05, 1.3} {
		c, model := New(capacity/ways*setBytes, 7), newLRU(capacity)
		zipf := rand.NewZipf(rand.New(rand.NewPCG(3, 4)), skew, 10, 1<<20)
		var hits, modelHits float64
		n := 400_000.0
		if invariants.Race {
			n = 100_000
		}
		for range int(n) {
			fp := fpOf(zipf.Uint64())
			if c.Seen(fp) {
				hits++
			} else {
				c.Put(fp)
			}
			if model.seen(fp) {
				modelHits++
			} else {
				model.put(fp)
			}
		}
		t.Logf("skew %.2f: hit rate %.4f, true LRU %.4f", skew, hits/n, modelHits/n)
		if hits < 0.99*modelHits {
			t.Errorf("skew %.2f: hit rate %.4f is more than 1%% below true LRU's %.4f", skew, hits/n, modelHits/n)
		}
		if st := c.Stats(); st.Lookups != uint64(n) || st.Hits != uint64(hits) {
			t.Errorf("stats %+v after %.0f look-ups with %.0f hits", st, n, hits)
		}
	}
}

func TestC1_OnlyWhatWasPutIsSeen(t *testing.T) {
	c := New(1<<16, 9)
	fp := fpOf(1)
	if c.Seen(fp) {
		t.Fatal("an empty cache has seen something")
	}
	c.Put(fp)
	for bit := range 64 {
		if c.Seen(xxh3.Uint128{Hi: fp.Hi ^ 1<<bit, Lo: fp.Lo}) || c.Seen(xxh3.Uint128{Hi: fp.Hi, Lo: fp.Lo ^ 1<<bit}) {
			t.Fatalf("a fingerprint that differs in bit %d is taken for the one that was put", bit)
		}
	}
	if c.Seen(xxh3.Uint128{}) {
		t.Fatal("the zero fingerprint was never put")
	}
	c.Put(xxh3.Uint128{})
	if !c.Seen(fp) || !c.Seen(xxh3.Uint128{}) {
		t.Fatal("what was put is not seen")
	}
	c.Reset()
	if c.Seen(fp) || c.Seen(xxh3.Uint128{}) || c.Stats().Hits != 0 {
		t.Fatal("Reset has not forgotten")
	}
}

// Each worker puts only fingerprints of its own class, all into few sets. Seen must not return true for a fingerprint
// that was never put, or for halves of two different ones.
func TestC1_UnderManyGoroutines(t *testing.T) {
	c := New(4*setBytes, 5)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 20_000 {
				i := rng.Uint64N(64)
				fp := xxh3.Uint128{Hi: i, Lo: i << 58}
				if rng.IntN(3) == 0 {
					c.Put(fp)
				} else {
					c.Seen(fp)
				}
				j := rng.Uint64N(64)
				if i != j && c.Seen(xxh3.Uint128{Hi: i, Lo: j << 58}) {
					t.Errorf("a yes for half of %d and half of %d", i, j)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range c.sets {
		checkSet(t, &c.sets[i])
	}
}

// checkSet checks that the set is unlocked, that the order contains each used way once, and that no fingerprint is
// repeated.
func checkSet(t *testing.T, s *set) {
	t.Helper()
	m := s.meta.Load()
	n := m >> countShift & countMask
	there := map[xxh3.Uint128]bool{}
	var named uint64
	for i := range n {
		w := m >> (wayBits * i) & wayMask
		named |= 1 << w
		there[xxh3.Uint128{Hi: s.hi[w].Load(), Lo: s.lo[w].Load()}] = true
	}
	if m&lockBit != 0 || named != 1<<n-1 || uint64(len(there)) != n {
		t.Fatalf("set with meta %x: %d ways, named %b, %d different", m, n, named, len(there))
	}
}

func TestC2_MemoryIsWhatWasAskedFor(t *testing.T) {
	c := New(1<<20, 1)
	if st := c.Stats(); st.Bytes != 1<<20 || st.Capacity != (1<<20)/setBytes*ways {
		t.Fatalf("stats %+v for 1 MiB", st)
	}
	if got := New(0, 1).Stats().Capacity; got != ways {
		t.Fatalf("the smallest cache holds %d", got)
	}
	if invariants.Race {
		t.Skip("allocation counts mean nothing under the race detector")
	}
	var i uint64
	if n := testing.AllocsPerRun(1000, func() {
		i++
		c.Put(fpOf(i))
		c.Seen(fpOf(i))
		c.Seen(fpOf(i + 1))
	}); n != 0 {
		t.Fatalf("%v allocations for a Put and two Seen", n)
	}
}
