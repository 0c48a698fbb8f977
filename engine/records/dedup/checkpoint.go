package dedup

import (
	"errors"
	"fmt"
)

// RunCheckpoint describes one run of a Checkpoint.
type RunCheckpoint struct {
	Serial  uint64 `json:"serial"`
	Digests uint64 `json:"digests"`
	Bytes   int64  `json:"bytes"`
}

// Checkpoint is a checkpoint of the map: a small value for the manifest, which Open restores. It is durable after Sync.
type Checkpoint struct {
	Generation uint64          `json:"generation"`
	Length     int64           `json:"length"` // length of the entries file, in bytes
	Count      uint64          `json:"count"`
	Runs       []RunCheckpoint `json:"runs,omitempty"` // oldest first
}

// unsyncedCheckpoint is what the next Sync must make durable.
type unsyncedCheckpoint struct {
	runs   []*run
	length int64 // of the entries
	failed error // permanent error of a Sync: the system reports lost data only once
}

// Checkpoint returns the current state. It accesses no file. The runs that it names are kept until Release.
func (m *Map) Checkpoint() (Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable(); err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{Length: m.log.end(), Count: m.index.count}
	m.lastCheckpoint.runs, c.Runs = m.index.runs.checkpoint()
	m.lastCheckpoint.length, c.Generation = c.Length, m.index.runs.generation
	return c, nil
}

// usable returns an error after Close or a failed sync. The caller holds mu.
func (m *Map) usable() error {
	if m.closed {
		return ErrClosed
	}
	return m.lastCheckpoint.failed
}

// Sync writes and syncs what the last Checkpoint names. A failed write may be repeated. After a failed fsync,
// Checkpoint and Sync fail permanently: the system may have lost data and reports this only once.
func (m *Map) Sync() error {
	m.mu.Lock()
	for m.usable() == nil && m.log.written < m.lastCheckpoint.length {
		if err := m.log.writeOrWait(); err != nil {
			m.mu.Unlock()
			return err
		}
	}
	err := m.usable()
	runs, unfinished := m.lastCheckpoint.runs, m.index.unfinished()
	m.index.runs.syncing = unfinished
	m.mu.Unlock()
	if err != nil {
		return err
	}
	err = m.syncFiles(runs, unfinished)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.index.runs.syncing = nil
	if err != nil {
		m.lastCheckpoint.failed = fmt.Errorf("dedup: %w", err)
	}
	return m.lastCheckpoint.failed
}

func (m *Map) syncFiles(runs []*run, unfinished *run) error {
	if err := m.log.file.Sync(); err != nil {
		return err
	}
	// The unfinished run is not needed yet. But if a large run is never synced before its end, the next Sync waits for
	// all of it.
	if unfinished != nil {
		if err := unfinished.file.Sync(); err != nil {
			return err
		}
	}
	return m.index.runs.sync(runs)
}

// Release says that a manifest with c is durable: runs that only older Checkpoints name are removed. A file that cannot
// be removed is an error; the next Release tries again.
func (m *Map) Release(c Checkpoint) error {
	m.mu.Lock()
	if err := m.usable(); err != nil {
		m.mu.Unlock()
		return err
	}
	unused := m.index.runs.takeObsolete(c.Generation)
	m.mu.Unlock()
	return m.index.discard(unused)
}

// Close closes the files. Everything after the last Checkpoint is lost. No other call may run; a second Close does
// nothing.
func (m *Map) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	m.log.idle.Broadcast()
	m.mu.Unlock()
	faults := m.index.close()
	if m.log.file != nil {
		faults = append(faults, m.log.file.Close())
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	return nil
}
