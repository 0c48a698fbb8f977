package seen

import (
	"errors"
	"fmt"
	"slices"
)

// RunCut describes one run of a Cut.
type RunCut struct {
	Serial  uint64 `json:"serial"`
	Digests uint64 `json:"digests"`
	Bytes   int64  `json:"bytes"`
}

// Cut is a checkpoint of the map: a small value for the manifest, which Open restores. It is durable after Sync.
type Cut struct {
	Generation uint64   `json:"generation"`
	Length     int64    `json:"length"` // length of the entries file, in bytes
	Count      uint64   `json:"count"`
	Runs       []RunCut `json:"runs,omitempty"` // oldest first
}

// Cut returns the current state. It accesses no file. The runs that it names are kept until Release.
func (m *Map) Cut() (Cut, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(); err != nil {
		return Cut{}, err
	}
	m.generation++
	c := Cut{Generation: m.generation, Length: m.entries.end(), Count: m.count}
	m.cut, m.cutLength = slices.Clone(m.runs), c.Length
	for _, r := range m.cut {
		c.Runs = append(c.Runs, RunCut{Serial: r.serial, Digests: r.keys, Bytes: r.bytes})
		if r.firstCut == 0 {
			r.firstCut = m.generation
		}
	}
	return c, nil
}

// usable returns an error after Close or a failed sync. The caller holds mu.
func (m *Map) usable() error {
	if m.closed {
		return ErrClosed
	}
	return m.failed
}

// Sync writes and syncs what the last Cut names. A failed write may be repeated. After a failed fsync, Cut and Sync
// fail permanently: the system may have lost data and reports this only once.
func (m *Map) Sync() error {
	m.mu.Lock()
	for m.usable() == nil && m.entries.written < m.cutLength {
		if m.entries.writing != nil {
			m.idle.Wait()
		} else if err := m.write(); err != nil {
			m.mu.Unlock()
			return err
		}
	}
	err := m.usable()
	runs := m.cut
	var unfinished *run
	if m.merge != nil {
		unfinished = m.merge.out
	}
	m.syncing = unfinished
	m.mu.Unlock()
	if err != nil {
		return err
	}
	err = m.syncFiles(runs, unfinished)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.syncing = nil
	if err != nil {
		m.failed = fmt.Errorf("seen: %w", err)
	}
	return m.failed
}

func (m *Map) syncFiles(runs []*run, unfinished *run) error {
	if err := m.file.Sync(); err != nil {
		return err
	}
	// The unfinished run is not needed yet. But if a large run is never synced before its end, the next Sync waits for
	// all of it.
	if unfinished != nil {
		if err := unfinished.file.Sync(); err != nil {
			return err
		}
	}
	for _, r := range runs {
		if r.synced {
			continue
		}
		if err := r.file.Sync(); err != nil {
			return err
		}
		r.synced = true
	}
	return m.fsys.SyncDir(m.o.Dir)
}

// Release says that a manifest with c is durable: runs that only older Cuts name are removed. A file that cannot be
// removed is an error; the next Release tries again.
func (m *Map) Release(c Cut) error {
	m.mu.Lock()
	if err := m.usable(); err != nil {
		m.mu.Unlock()
		return err
	}
	var gone []*run
	var kept []obsolete
	for _, o := range m.obsolete {
		if o.lastCut < c.Generation {
			gone = append(gone, o.run)
		} else {
			kept = append(kept, o)
		}
	}
	m.obsolete = kept
	m.mu.Unlock()
	return m.discard(gone)
}

// Close closes the files. Everything after the last Cut is lost. No other call may run; a second Close does nothing.
func (m *Map) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	runs := slices.Clone(m.runs)
	for _, o := range m.obsolete {
		runs = append(runs, o.run)
	}
	if m.merge != nil {
		runs = append(runs, m.merge.out)
	}
	m.idle.Broadcast()
	m.mu.Unlock()
	var faults []error
	for _, r := range runs {
		if r.file != nil {
			faults = append(faults, r.file.Close())
		}
	}
	if m.file != nil {
		faults = append(faults, m.file.Close())
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return nil
}
