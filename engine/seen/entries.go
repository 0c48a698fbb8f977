package seen

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

const (
	fileMagic  = "OWSEEN02"
	headBytes  = 24
	entriesLog = "entries"
	// readFirst is what one read of an entry asks for: nearly all URIs fit.
	readFirst = 512
	// bufferLimit times BufferBytes may wait for the disk before Insert waits, or refuses.
	bufferLimit = 4
)

// entries is the append-only file and what is on its way to it. Map.mu guards it.
type entries struct {
	written int64  // length of the file that counts
	writing []byte // goes to the file at `written` just now, and is not changed meanwhile; nil if none
	buf     []byte // comes behind it
}

func (e *entries) end() int64 { return e.written + int64(len(e.writing)+len(e.buf)) }

// appendHead appends what the file begins with.
func appendHead(b []byte, seed uint64) []byte {
	b = append(b, fileMagic...)
	b = binary.LittleEndian.AppendUint64(b, seed)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b[len(b)-16:]))
}

func parseHead(b []byte) (seed uint64, fault string) {
	if string(b[:8]) != fileMagic {
		return 0, "not a map of digests, or of another version"
	}
	if binary.LittleEndian.Uint64(b[16:]) != xxh3.Hash(b[:16]) {
		return 0, "checksum of the head"
	}
	return binary.LittleEndian.Uint64(b[8:]), ""
}

// read returns the entry at an offset that the index has. mu is held, but not while the disk is read.
func (m *Map) read(p *probe, offset int64) (Digest, First, error) {
	e := &m.entries
	if at := offset - e.written; at >= 0 {
		from := e.writing
		if at >= int64(len(from)) {
			at -= int64(len(from))
			from = e.buf
		}
		if at >= int64(len(from)) {
			return Digest{}, First{}, m.corrupt(offset, "the index leads behind the last entry")
		}
		n, fault := entryBytes(from[at:])
		if fault != "" {
			panic("BUG: seen: the buffer has no entry where the table says")
		}
		return m.decoded(from[at:at+int64(n)], offset)
	}
	end := e.written
	m.mu.Unlock()
	defer m.mu.Lock()
	b, err := m.readFile(p, offset, end)
	if err != nil {
		return Digest{}, First{}, err
	}
	return m.decoded(b, offset)
}

func (m *Map) decoded(b []byte, offset int64) (Digest, First, error) {
	d, f, fault := decodeEntry(b, offset)
	if fault != "" {
		return d, f, m.corrupt(offset, fault)
	}
	return d, f, nil
}

// readFile reads one entry, which must end before end, into the probe's memory.
func (m *Map) readFile(p *probe, offset, end int64) ([]byte, error) {
	sized := func(n int) []byte {
		if cap(p.entry) < n {
			p.entry = append(make([]byte, 0, n), p.entry...)
		}
		return p.entry[:n]
	}
	p.entry = sized(int(min(readFirst, end-offset)))
	if err := readAt(m.file, p.entry, offset); err != nil {
		return nil, err
	}
	n, fault := entryBytes(p.entry)
	if fault == "" && int64(n) > end-offset {
		fault = "entry ends early"
	}
	if fault != "" {
		return nil, m.corrupt(offset, fault)
	}
	have := len(p.entry)
	if n <= have {
		return p.entry[:n], nil
	}
	p.entry = sized(n)
	return p.entry, readAt(m.file, p.entry[have:], offset+int64(have))
}

func (m *Map) corrupt(offset int64, what string) error {
	return &CorruptError{File: m.file.Name(), Offset: offset, What: what}
}

// write brings the buffer to the file. mu is held, but not while the disk writes; nobody else may be writing. After an
// error the bytes are back in front of the buffer, and the next write goes to the same place.
func (m *Map) write() error {
	e := &m.entries
	e.writing, e.buf = e.buf, nil
	at := e.written
	m.mu.Unlock()
	_, err := m.file.WriteAt(e.writing, at) // only this goroutine changes e.writing while it is set
	m.mu.Lock()
	if err == nil {
		e.written += int64(len(e.writing))
		if e.buf == nil {
			e.buf = e.writing[:0]
		}
	} else {
		e.buf = append(e.writing, e.buf...)
		m.stats.WriteErrors++
		err = fmt.Errorf("seen: %w", err)
	}
	e.writing = nil
	m.idle.Broadcast()
	return err
}

// makeRoom returns at once while buffer and table are within their limits. Else it does what is to be done, or waits for
// who does it; waited is then true, and the world may have changed. mu is held.
func (m *Map) makeRoom() (waited bool, err error) {
	for len(m.entries.buf) >= bufferLimit*m.o.BufferBytes {
		waited = true
		if m.entries.writing != nil {
			m.idle.Wait()
		} else if err := m.write(); err != nil {
			return true, err
		}
		if m.closed {
			return true, ErrClosed
		}
	}
	if !m.filling.full() {
		return waited, nil
	}
	if m.frozen == nil {
		m.freeze()
		return waited, nil
	}
	m.mu.Unlock()
	defer m.mu.Lock()
	m.turn.Lock()
	defer m.turn.Unlock()
	return true, m.tend(func() bool { return true })
}

// getProbe needs mu.
func (m *Map) getProbe() *probe {
	n := len(m.probes)
	if n == 0 {
		return new(probe)
	}
	p := m.probes[n-1]
	m.probes = m.probes[:n-1]
	return p
}

// putProbe needs mu.
func (m *Map) putProbe(p *probe) {
	if cap(p.entry) <= 4*readFirst {
		m.probes = append(m.probes, p)
	}
}
