package seen

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
)

const (
	// readFirst is what one read of an entry asks for: nearly all URIs fit.
	readFirst = 512
	// bufferLimit times BufferBytes may wait for the disk before Insert waits, or refuses.
	bufferLimit = 4
)

// read returns the entry at an offset that the table has. mu is held, but not while the disk is read.
func (m *Map) read(offset int64) (Digest, First, error) {
	if at := offset - m.written; at >= 0 {
		from := m.writing
		if at >= int64(len(from)) {
			at -= int64(len(from))
			from = m.buf
		}
		n, fault := entryBytes(from[at:])
		if fault != "" {
			panic("BUG: the buffer has no entry where the table says")
		}
		return m.decoded(from[at:at+int64(n)], offset)
	}
	end := m.written
	m.mu.Unlock()
	b, err := m.readFile(offset, end)
	m.mu.Lock()
	if err != nil {
		return Digest{}, First{}, err
	}
	return m.decoded(b, offset)
}

func (m *Map) decoded(b []byte, offset int64) (Digest, First, error) {
	d, f, fault := decodeEntry(b)
	if fault != "" {
		return d, f, m.corrupt(offset, fault)
	}
	return d, f, nil
}

// readFile reads one entry, which must end before end.
func (m *Map) readFile(offset, end int64) ([]byte, error) {
	b := make([]byte, min(readFirst, end-offset))
	if err := m.readAt(b, offset); err != nil {
		return nil, err
	}
	if len(b) < entryHeader {
		return nil, m.corrupt(offset, "entry ends early")
	}
	n, fault := entryBytes(b)
	if fault == "" && int64(n) > end-offset {
		fault = "entry ends early"
	}
	if fault != "" {
		return nil, m.corrupt(offset, fault)
	}
	if n <= len(b) {
		return b[:n], nil
	}
	have := len(b)
	b = slices.Grow(b, n-have)[:n]
	return b, m.readAt(b[have:], offset+int64(have))
}

func (m *Map) readAt(b []byte, offset int64) error {
	n, err := m.file.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return m.corrupt(offset+int64(n), "file ends early")
	}
	return fmt.Errorf("seen: %w", err)
}

func (m *Map) corrupt(offset int64, what string) error {
	return &CorruptError{File: m.file.Name(), Offset: offset, What: what}
}

// write brings the buffer to the file. mu is held, but not while the disk writes; nobody else may be writing. After an
// error the bytes are back in front of the buffer, and the next write goes to the same place.
func (m *Map) write() error {
	m.writing, m.buf = m.buf, nil
	at := m.written
	m.mu.Unlock()
	_, err := m.file.WriteAt(m.writing, at) // only this goroutine changes m.writing while it is set
	m.mu.Lock()
	if err == nil {
		m.written += int64(len(m.writing))
		if m.buf == nil {
			m.buf = m.writing[:0]
		}
	} else {
		m.buf = append(m.writing, m.buf...)
		m.stats.WriteErrors++
		err = fmt.Errorf("seen: %w", err)
	}
	m.writing = nil
	m.idle.Broadcast()
	return err
}

// makeRoom returns at once while the buffer is within its limit. Else it waits for the write that is under way, or
// writes itself; waited is then true, and the world may have changed.
func (m *Map) makeRoom() (waited bool, err error) {
	for len(m.buf) >= bufferLimit*m.o.BufferBytes {
		waited = true
		if m.writing != nil {
			m.idle.Wait()
		} else if err := m.write(); err != nil {
			return true, err
		}
		if m.closed {
			return true, ErrClosed
		}
	}
	return waited, nil
}

// Cut is a state that Open can go back to.
type Cut struct {
	Length int64  `json:"length"`
	Count  uint64 `json:"count"`
}

// Cut writes what is buffered, without syncing it, and names the state. After an error nothing is lost; the next Cut
// tries again.
func (m *Map) Cut() (Cut, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	length := m.written + int64(len(m.writing)+len(m.buf))
	count := m.table.count
	for m.written < length {
		if err := m.usable(); err != nil {
			return Cut{}, err
		}
		if m.writing != nil {
			m.idle.Wait()
		} else if err := m.write(); err != nil {
			return Cut{}, err
		}
	}
	return Cut{Length: length, Count: count}, m.usable()
}

// usable needs mu.
func (m *Map) usable() error {
	if m.closed {
		return ErrClosed
	}
	return m.failed
}

// Sync makes what the last Cut names durable. Once it has failed, Cut and Sync fail for ever: what the system has lost
// of a file it does not tell twice.
func (m *Map) Sync() error {
	m.mu.Lock()
	err := m.usable()
	m.mu.Unlock()
	if err != nil {
		return err
	}
	if err = m.file.Sync(); err == nil {
		err = m.fsys.SyncDir(path.Dir(m.o.File))
	}
	if err != nil {
		err = fmt.Errorf("seen: %w", err)
		m.mu.Lock()
		m.failed = err
		m.mu.Unlock()
	}
	return err
}

// Close closes the file. What was not cut is forgotten. Nothing else may be under way; a second Close does nothing.
func (m *Map) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	m.idle.Broadcast()
	m.mu.Unlock()
	if err := m.file.Close(); err != nil {
		return fmt.Errorf("seen: %w", err)
	}
	return nil
}
