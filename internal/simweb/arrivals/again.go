package arrivals

import (
	"iter"
	"slices"
	"time"

	"orbweaver/internal/simweb"
)

// At returns the log as it was when the client died, at an earlier moment, when it had n arrivals. What was being
// answered then, and came to its end later, is in it as an exchange that the client gave up at that moment. Of the last
// lost arrivals before that the client need not know afterwards what they told: how long to wait. The original lives
// on.
func (l *Log) At(n int, when time.Time, lost int) *Log {
	records, agents := l.Snapshot(0)
	at := NewLog(l.model, l.Names)
	l.mu.Lock()
	at.base, at.conns, at.agents = l.base, l.conns, agents
	at.unknown = slices.Clone(l.unknown)
	for name, id := range l.unknownIDs {
		at.unknownIDs[name] = id
	}
	l.mu.Unlock()
	now := when.Sub(at.base).Nanoseconds()
	kept := records[:n:n]
	for i := max(0, n-lost); i < n; i++ {
		kept[i].Flags |= FlagLost
	}
	for _, r := range records[n:] {
		if r.Time <= now {
			r.End, r.Flags, r.Status = max(r.Time, min(r.End, now)), FlagCut|FlagLost, 0
			kept = append(kept, r)
		}
	}
	for chunk := range slices.Chunk(kept, logChunk) {
		at.chunks = append(at.chunks, append(make([]Record, 0, logChunk), chunk...))
	}
	at.count = len(kept)
	return at
}

// Targets yields what each arrival asked for.
func (l *Log) Targets() iter.Seq[simweb.Target] {
	records, _ := l.Snapshot(0)
	return func(yield func(simweb.Target) bool) {
		for i := range records {
			if !yield(records[i].Target) {
				return
			}
		}
	}
}

// Lose says that the client died just now: of what the last n arrivals told it may remember nothing.
func (l *Log) Lose(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := max(0, l.count-n); i < l.count; i++ {
		l.chunks[i/logChunk][i%logChunk].Flags |= FlagLost
	}
}

// Only returns the log of some of the arrivals, as if there had been no others. The original lives on.
func (l *Log) Only(keep func(*Arrival) bool) *Log {
	records, agents := l.Snapshot(0)
	only := NewLog(l.model, l.Names)
	l.mu.Lock()
	only.base, only.conns, only.agents, only.unknown = l.base, l.conns, agents, slices.Clone(l.unknown)
	for name, id := range l.unknownIDs {
		only.unknownIDs[name] = id
	}
	l.mu.Unlock()
	records = slices.DeleteFunc(records, func(r Record) bool {
		a := l.arrival(&r, agents)
		return !keep(&a)
	})
	for chunk := range slices.Chunk(records, logChunk) {
		only.chunks = append(only.chunks, append(make([]Record, 0, logChunk), chunk...))
	}
	only.count = len(records)
	return only
}
