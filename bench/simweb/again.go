package simweb

import (
	"slices"
	"time"
)

// At returns the log as it was when the client died, at an earlier moment, when it had n arrivals. What was being
// answered then, and came to its end later, is in it as an exchange that the client gave up at that moment. Of the last
// lost arrivals before that the client need not know afterwards what they told: how long to wait. The original lives
// on.
func (l *Log) At(n int, when time.Time, lost int) *Log {
	records, agents := l.snapshot(0)
	at := l.w.NewLog()
	l.mu.Lock()
	at.base, at.conns, at.agents = l.base, l.conns, agents
	at.names = slices.Clone(l.names)
	for name, id := range l.nameIDs {
		at.nameIDs[name] = id
	}
	l.mu.Unlock()
	now := when.Sub(at.base).Nanoseconds()
	kept := records[:n:n]
	for i := max(0, n-lost); i < n; i++ {
		kept[i].flags |= flagLost
	}
	for _, r := range records[n:] {
		if r.time <= now {
			r.end, r.flags, r.status = max(r.time, min(r.end, now)), flagCut|flagLost, 0
			kept = append(kept, r)
		}
	}
	for chunk := range slices.Chunk(kept, logChunk) {
		at.chunks = append(at.chunks, append(make([]record, 0, logChunk), chunk...))
	}
	at.count = len(kept)
	return at
}

// Again returns an equal world that remembers what the log tells: pages that fail at the first try have had it.
func (w *World) Again(l *Log) *World {
	again := &World{c: w.c, seed: w.seed, base: w.base, shapes: w.shapes, robots: w.robots, pages: w.pages, sizes: w.sizes,
		sea: w.sea, tries: make(map[target]uint32)}
	again.buffers.New = func() any { return new(buffer) }
	again.sheets.New = func() any { return new(sheet) }
	records, _ := l.snapshot(0)
	for i := range records {
		if t := records[i].t; t.host >= 0 && t.kind == kindPage {
			again.tries[t]++
		}
	}
	return again
}

// Lose says that the client died just now: of what the last n arrivals told it may remember nothing.
func (l *Log) Lose(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := max(0, l.count-n); i < l.count; i++ {
		l.chunks[i/logChunk][i%logChunk].flags |= flagLost
	}
}

// Only returns the log of some of the arrivals, as if there had been no others. The original lives on.
func (l *Log) Only(keep func(*Arrival) bool) *Log {
	records, agents := l.snapshot(0)
	only := l.w.NewLog()
	l.mu.Lock()
	only.base, only.conns, only.agents, only.names = l.base, l.conns, agents, slices.Clone(l.names)
	for name, id := range l.nameIDs {
		only.nameIDs[name] = id
	}
	l.mu.Unlock()
	records = slices.DeleteFunc(records, func(r record) bool {
		a := l.arrival(&r, agents)
		return !keep(&a)
	})
	for chunk := range slices.Chunk(records, logChunk) {
		only.chunks = append(only.chunks, append(make([]record, 0, logChunk), chunk...))
	}
	only.count = len(records)
	return only
}
