package seen

import (
	"fmt"
	"slices"

	"orbweaver/internal/vfs"
)

// obsolete is a run that is needed only by Cuts up to lastCut; the last durable Cut may be among them.
type obsolete struct {
	run     *run
	lastCut uint64
}

// Tend merges as far as it is due. Usually there is nothing to do. If a table is frozen, it merges in proportion to how
// full the other one is. Call it after each Insert, while holding no lock that others need; what it does not do, Insert
// must do when there is no room. One caller at a time works, the others return at once. After an error nothing is lost,
// and the next call tries again.
func (m *Map) Tend() error {
	m.mu.Lock()
	due := m.frozen != nil && !m.closed
	m.mu.Unlock()
	if !due || !m.turn.TryLock() {
		return nil
	}
	defer m.turn.Unlock()
	return m.tend(m.behind)
}

// paceAhead over four: the merge is done when the other table is four fifths full.
const paceAhead = 5

// behind reports whether the merge should be further than it is. turn is held.
func (m *Map) behind() bool {
	m.mu.Lock()
	used, limit := uint64(m.filling.used), uint64(m.filling.limit)
	m.mu.Unlock()
	return m.merge == nil || m.merge.worked*limit*4 <= m.merge.work*used*paceAhead
}

// tend continues the merge while wanted returns true, until the frozen table is part of a run. The caller holds turn,
// but not mu.
func (m *Map) tend(wanted func() bool) error {
	for wanted() {
		if m.merge == nil {
			if started, err := m.start(); err != nil || !started {
				return m.writeError(err)
			}
		}
		complete, err := m.merge.step()
		if err != nil {
			return m.writeError(err)
		}
		if complete {
			return m.install()
		}
	}
	return nil
}

// writeError counts it; damage is none.
func (m *Map) writeError(err error) error {
	if err != nil && !isCorrupt(err) {
		m.mu.Lock()
		m.stats.WriteErrors++
		m.mu.Unlock()
	}
	return err
}

// freeze makes the full table the one to be merged. There is no frozen one. mu is held.
func (m *Map) freeze() {
	m.frozen, m.frozenEnd = m.filling, m.entries.end()
	if m.filling, m.spare = m.spare, nil; m.filling == nil {
		m.filling = newTable(m.tableMax)
	}
}

// start begins a merge, if there is a frozen table. turn is held.
func (m *Map) start() (started bool, err error) {
	m.mu.Lock()
	if m.frozen == nil {
		m.mu.Unlock()
		return false, nil
	}
	serial, all := m.serial, m.count
	m.serial++
	kept := tier(m.runs, uint64(m.frozen.used))
	inputs := slices.Clone(m.runs[kept:])
	memory := m.o.MemoryBytes - 2*int64(m.tableMax*slotsPerDigest*slotBytes)
	begin := int64(headBytes)
	for _, r := range m.runs[:kept] {
		memory -= r.filterMemory()
		begin = r.end
	}
	m.mu.Unlock()
	file, err := m.fsys.Create(runName(m.o.Dir, serial))
	if err != nil {
		return false, fmt.Errorf("seen: %w", err)
	}
	g := newMerge(file, serial, inputs, m.frozen, m.frozenEnd)
	g.out.start = begin
	// A quarter stays for the runs that come until this one is merged again.
	g.bits = bitsFor(g.out.keys, max(all, g.out.keys), memory-memory/(tierRatio+1))
	m.mu.Lock()
	m.merge = g
	m.view.Store(&view{runs: slices.Clone(m.runs), kept: kept, m: g})
	m.mu.Unlock()
	return true, nil
}

// install makes the complete run take the place of what it was made of. turn is held.
func (m *Map) install() error {
	m.mu.Lock()
	g, table := m.merge, m.frozen
	kept := len(m.runs) - len(g.inputs)
	m.runs = append(slices.Clone(m.runs[:kept]), g.out)
	m.view.Store(&view{runs: m.runs, kept: len(m.runs)})
	m.merge, m.frozen = nil, nil
	m.epoch++
	m.stats.Merges++
	m.stats.Merged += g.written
	var gone []*run
	for _, r := range g.inputs {
		if r.firstCut == 0 && r != m.syncing {
			gone = append(gone, r)
		} else {
			m.obsolete = append(m.obsolete, obsolete{run: r, lastCut: m.generation})
		}
	}
	m.mu.Unlock()
	table.clear()
	m.mu.Lock()
	if m.spare == nil && table.limit == m.tableMax {
		m.spare = table
	}
	m.mu.Unlock()
	return m.discard(gone)
}

// discard closes runs that are in no view, once no goroutine reads them, and removes their files. Release repeats
// failed removals.
func (m *Map) discard(gone []*run) error {
	if len(gone) == 0 {
		return nil
	}
	m.reading.Lock()
	for _, r := range gone {
		if r.file != nil {
			_ = r.file.Close() // it was only read, or is of no use
			r.file = nil
		}
	}
	m.reading.Unlock()
	var failed error
	for _, r := range gone {
		if err := vfs.RemoveIfExists(m.fsys, runName(m.o.Dir, r.serial)); err != nil {
			failed = fmt.Errorf("seen: %w", err)
			m.mu.Lock()
			m.obsolete = append(m.obsolete, obsolete{run: r})
			m.mu.Unlock()
		}
	}
	return failed
}
