package seen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"slices"

	"orbweaver/internal/vfs"
)

// scanBytes is the buffer for reading the whole file.
const scanBytes = 1 << 20

// Open makes a new map if cut is nil, emptying an old file, or goes back to exactly the cut: it reads the file up to
// there, verifies each entry, rebuilds the table, and cuts off what lies behind. Errors wrap ErrCorrupt if the file is
// not that of the cut; it is then left as it was.
func Open(fsys vfs.FS, o Options, cut *Cut) (*Map, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	seed := maphash.MakeSeed()
	m := &Map{fsys: fsys, o: o, hash: func(d Digest) uint64 { return maphash.Bytes(seed, d[:]) }}
	m.idle.L = &m.mu
	var err error
	if cut == nil {
		err = m.create()
	} else {
		err = m.load(*cut)
	}
	if err != nil {
		if m.file != nil {
			_ = m.file.Close() // err says already why it is of no use
		}
		return nil, err
	}
	return m, nil
}

// create makes a file with nothing but the magic, which is written with the first entries.
func (m *Map) create() (err error) {
	if err = m.fsys.MkdirAll(path.Dir(m.o.File)); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if m.file, err = m.fsys.Create(m.o.File); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	m.buf = append(m.buf, fileMagic...)
	return nil
}

func (m *Map) load(cut Cut) error {
	size, err := m.fsys.Size(m.o.File) // OpenRW would make a file that is missing
	if err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if m.file, err = m.fsys.OpenRW(m.o.File); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	if size < cut.Length {
		return m.corrupt(size, fmt.Sprintf("file ends early, the cut has %d bytes", cut.Length))
	}
	err = m.scan(io.NewSectionReader(m.file, 0, cut.Length), func(offset int64, d Digest) error {
		m.table.insert(m.hash(d), offset)
		return nil
	})
	if err != nil {
		return err
	}
	if m.table.count != cut.Count {
		return m.corrupt(cut.Length, fmt.Sprintf("%d entries, the cut has %d", m.table.count, cut.Count))
	}
	m.written = cut.Length
	if size > cut.Length {
		if err := m.file.Truncate(cut.Length); err != nil {
			return fmt.Errorf("seen: %w", err)
		}
	}
	return nil
}

// scan reads a whole map in the file's format and visits each entry that holds; the first that does not is an error.
func (m *Map) scan(from io.Reader, visit func(offset int64, d Digest) error) error {
	r := bufio.NewReaderSize(from, scanBytes)
	failed := func(offset int64, err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return m.corrupt(offset, "ends early")
		}
		return fmt.Errorf("seen: %w", err)
	}
	b := make([]byte, max(len(fileMagic), entryHeader))
	if _, err := io.ReadFull(r, b[:len(fileMagic)]); err != nil {
		return failed(0, err)
	}
	if string(b[:len(fileMagic)]) != fileMagic {
		return m.corrupt(0, "not a map of digests, or of another version")
	}
	for offset := int64(len(fileMagic)); ; {
		b = b[:entryHeader]
		if _, err := io.ReadFull(r, b); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return failed(offset, err)
		}
		n, fault := entryBytes(b)
		if fault != "" {
			return m.corrupt(offset, fault)
		}
		b = slices.Grow(b, n-entryHeader)[:n]
		if _, err := io.ReadFull(r, b[entryHeader:]); err != nil {
			return failed(offset, err)
		}
		d, _, err := m.decoded(b, offset)
		if err != nil {
			return err
		}
		if err := visit(offset, d); err != nil {
			return err
		}
		offset += int64(n)
	}
}

// Check reads everything, file and buffer, and verifies each entry, that the table leads to it by its digest, and that
// it leads nowhere else. No Insert and no Cut may be under way.
func (m *Map) Check() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	written, buffered := m.written, append([]byte(nil), m.buf...)
	count := m.table.count
	m.mu.Unlock()
	all := io.MultiReader(io.NewSectionReader(m.file, 0, written), bytes.NewReader(buffered))
	var entries uint64
	err := m.scan(all, func(offset int64, d Digest) error {
		entries++
		m.mu.Lock()
		defer m.mu.Unlock()
		there := false
		for _, o := range m.table.appendOffsets(nil, m.hash(d)) {
			if o == offset {
				there = true
			} else if other, _, err := m.read(o); err != nil {
				return err
			} else if other == d {
				return m.corrupt(offset, fmt.Sprintf("the entry at byte %d has the same digest", o))
			}
		}
		if !there {
			return m.corrupt(offset, "the table does not lead to this entry")
		}
		return nil
	})
	if err == nil && entries != count {
		err = m.corrupt(written, fmt.Sprintf("%d entries, the table has %d", entries, count))
	}
	return err
}
