package seen

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	fileMagic  = "OWSEEN02"
	headBytes  = 24
	entriesLog = "entries"
	// readFirst is the size of the first read of an entry, in bytes: most URIs fit.
	readFirst = 512
	// bufferLimit times BufferBytes may wait for the disk; then Insert waits or fails.
	bufferLimit = 4
)

// entries is the append-only file with its write buffer. Map.mu guards it.
type entries struct {
	written int64 // valid length of the file
	// bytes that are being written at offset written; they do not change meanwhile. nil if there are none
	writing []byte
	buf     []byte // bytes after writing
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

// read returns the entry at an offset of the index. The caller holds mu, which is released during disk access.
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

// readFile reads one entry, which must end before end, into the probe's buffer.
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
	return &vfs.CorruptError{File: m.file.Name(), Offset: offset, What: what}
}

// write writes the buffer to the file. The caller holds mu, which is released meanwhile; no other goroutine may write.
// After an error the bytes are at the front of the buffer again, and the next write goes to the same offset.
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

// makeRoom returns at once if buffer and table are within their limits. Otherwise it writes or merges, or waits for the
// goroutine that does. Then waited is true, and the state may have changed. The caller holds mu.
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

// getProbe returns a probe. The caller holds mu.
func (m *Map) getProbe() *probe {
	n := len(m.probes)
	if n == 0 {
		return new(probe)
	}
	p := m.probes[n-1]
	m.probes = m.probes[:n-1]
	return p
}

// putProbe takes a probe back. The caller holds mu.
func (m *Map) putProbe(p *probe) {
	if cap(p.entry) <= 4*readFirst {
		m.probes = append(m.probes, p)
	}
}
