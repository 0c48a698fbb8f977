package dedup

import (
	"fmt"

	"orbweaver/internal/vfs"
)

// Open creates a new map if cut is nil, and removes an old one. Otherwise it restores exactly the Cut: it reads the
// filters of the runs and the entries after the last run, and removes everything that the Cut does not name. Errors
// wrap vfs.ErrCorrupt if the files do not match the Cut; the files are then unchanged. Other damage is found by the
// call that reads it: Lookup, Insert, Tend or Check.
func Open(fsys vfs.FS, o Options, cut *Cut) (*Map, error) {
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
	if cut == nil {
		err = create(m, fsys, o.Dir)
	} else {
		err = load(m, fsys, o.Dir, cut)
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

// load restores a Cut. It changes files only if all of the Cut is there.
func load(m *Map, fsys vfs.FS, dir string, cut *Cut) error {
	seed, err := m.log.open(fsys, dir, cut.Length)
	if err != nil {
		return err
	}
	m.hash = seededHash(seed)
	begin, err := m.index.open(cut)
	if err != nil {
		return err
	}
	if err := loadTable(m, begin, cut); err != nil {
		return err
	}
	if err := m.log.truncate(); err != nil {
		return err
	}
	return m.index.runs.sweep()
}

// loadTable reads the entries that are in no run into the table, which is made large enough.
func loadTable(m *Map, begin int64, cut *Cut) error {
	rest := cut.Count - m.index.count
	if rest > uint64(cut.Length-begin)/bodyFixed {
		return m.log.corrupt(cut.Length, fmt.Sprintf("too short for the %d entries of the cut", cut.Count))
	}
	if rest > uint64(m.index.tables.limit) {
		m.index.tables.filling = newTable(int(rest))
	}
	err := m.log.scan(begin, cut.Length, nil, func(offset int64, d Digest) error {
		if rest == 0 {
			return m.log.corrupt(offset, fmt.Sprintf("more entries than the %d of the cut", cut.Count))
		}
		rest--
		m.index.add(m.hash(d), offset)
		return nil
	})
	if err == nil && rest != 0 {
		err = m.log.corrupt(cut.Length, fmt.Sprintf("%d entries, the cut has %d", m.index.count, cut.Count))
	}
	return err
}
