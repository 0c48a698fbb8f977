package dnsres

import (
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

const shardCount = 64

// cache stores answers by name, and the questions in flight.
type cache struct {
	shards   [shardCount]shard
	perShard int
}

type shard struct {
	mu      sync.Mutex
	entries map[string]*entry
	evicted uint64
}

type entry struct {
	answer Answer
	faults int     // server faults in a row
	flight *flight // the question in flight, nil if there is none
}

// flight is a question that several callers may wait for. The caller that asks it, its leader, writes the fields before
// it closes done.
type flight struct {
	done      chan struct{}
	answer    Answer
	abandoned bool // the context of the leader ended: there is no answer
	faults    int  // server faults in a row; read and written by the leader
}

func newCache(entries int) *cache {
	c := &cache{perShard: max(entries/shardCount, 1)}
	for i := range c.shards {
		c.shards[i].entries = make(map[string]*entry)
	}
	return c
}

func (c *cache) shard(name string) *shard { return &c.shards[xxh3.HashString(name)%shardCount] }

// begin returns the cached answer, or a flight. If leads is true, the caller must ask and call finish; otherwise it
// must wait.
func (c *cache) begin(name string, now time.Time) (answer Answer, known bool, f *flight, leads bool) {
	s := c.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[name]
	switch {
	case e == nil:
		if len(s.entries) >= c.perShard {
			s.evict(now)
		}
		e = new(entry)
		s.entries[name] = e
	case e.flight != nil:
		return Answer{}, false, e.flight, false
	case now.Before(e.answer.Expires):
		return e.answer, true, nil, false
	}
	e.flight = &flight{done: make(chan struct{}), faults: e.faults}
	return Answer{}, false, e.flight, true
}

// finish ends a flight and caches its answer, unless it was abandoned.
func (c *cache) finish(name string, f *flight, answer Answer, abandoned bool) {
	s := c.shard(name)
	s.mu.Lock()
	e := s.entries[name]
	if e == nil || e.flight != f {
		panic("BUG: D1: a question ends that is not in flight")
	}
	e.flight = nil
	switch {
	case !abandoned:
		e.answer, e.faults = answer, f.faults
	case e.faults == 0:
		delete(s.entries, name)
	}
	s.mu.Unlock()
	f.answer, f.abandoned = answer, abandoned
	close(f.done)
}

// evict makes space: it examines a few entries and removes the one that expires first. Entries in flight stay. Go
// iterates over maps from a random position, so the few are a sample.
func (s *shard) evict(now time.Time) {
	const sample = 12
	var victim string
	var first time.Time
	seen := 0
	for name, e := range s.entries {
		if e.flight == nil && (first.IsZero() || e.answer.Expires.Before(first)) {
			victim, first = name, e.answer.Expires
		}
		if seen++; seen >= sample {
			break
		}
	}
	if first.IsZero() {
		return // all are in flight, so they are no more than the callers
	}
	delete(s.entries, victim)
	if first.After(now) {
		s.evicted++
	}
}

func (c *cache) stats() (cached int, evicted uint64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		cached += len(s.entries)
		evicted += s.evicted
		s.mu.Unlock()
	}
	return cached, evicted
}
