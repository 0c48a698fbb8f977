package dedup

import (
	"fmt"

	"orbweaver/internal/vfs"
)

// Open creates a new map if checkpoint is nil, and removes an old one. Otherwise it restores exactly the Checkpoint: it
// reads the filters of the runs and the entries after the last run, and removes everything that the Checkpoint does not
// name. Errors wrap vfs.ErrCorrupt if the files do not match the Checkpoint; the files are then unchanged. Other damage
// is found by the call that reads it: Lookup, Insert, Tend or Check.
func Open(fsys vfs.FS, o Options, checkpoint *Checkpoint) (*Map, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	m := &Map{}
	m.log.mu, m.log.writeBytes = &m.mu, o.BufferBytes
	m.log.idle.L = &m.mu
	m.index.mu, m.index.memoryBytes, m.index.tables = &m.mu, o.MemoryBytes, newTables(o.tableDigests())
	m.index.runs.fsys, m.index.runs.dir = fsys, o.Dir
	var err error
	if checkpoint == nil {
		err = create(m, fsys, o.Dir)
	} else {
		err = load(m, fsys, o.Dir, checkpoint)
	}
	if err != nil {
		_ = m.Close() // err says already why it is of no use
		return nil, err
	}
	m.index.runs.publish(nil, len(m.index.runs.live))
	return m, nil
}

// create makes an empty map.
func create(m *Map, fsys vfs.FS, dir string) error {
	if err := fsys.MkdirAll(dir); err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	seed, err := m.log.create(fsys, dir)
	if err != nil {
		return err
	}
	m.hash = seededHash(seed)
	return m.index.runs.sweep()
}

// load restores a Checkpoint. It changes files only if all of the Checkpoint is there.
func load(m *Map, fsys vfs.FS, dir string, checkpoint *Checkpoint) error {
	seed, err := m.log.open(fsys, dir, checkpoint.Length)
	if err != nil {
		return err
	}
	m.hash = seededHash(seed)
	begin, err := m.index.open(checkpoint)
	if err != nil {
		return err
	}
	if err := loadTable(m, begin, checkpoint); err != nil {
		return err
	}
	if err := m.log.truncate(); err != nil {
		return err
	}
	return m.index.runs.sweep()
}

// loadTable reads the entries that are in no run into the table, which is made large enough.
func loadTable(m *Map, begin int64, checkpoint *Checkpoint) error {
	rest := checkpoint.Count - m.index.count
	if rest > uint64(checkpoint.Length-begin)/bodyFixed {
		why := fmt.Sprintf("too short for the %d entries of the checkpoint", checkpoint.Count)
		return m.log.corrupt(checkpoint.Length, why)
	}
	if rest > uint64(m.index.tables.limit) {
		m.index.tables.filling = newTable(int(rest))
	}
	err := m.log.scan(begin, checkpoint.Length, nil, func(offset int64, d Digest) error {
		if rest == 0 {
			return m.log.corrupt(offset, fmt.Sprintf("more entries than the %d of the checkpoint", checkpoint.Count))
		}
		rest--
		m.index.add(m.hash(d), offset)
		return nil
	})
	if err == nil && rest != 0 {
		why := fmt.Sprintf("%d entries, the checkpoint has %d", m.index.count, checkpoint.Count)
		err = m.log.corrupt(checkpoint.Length, why)
	}
	return err
}
