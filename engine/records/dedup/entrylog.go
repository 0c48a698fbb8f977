package dedup

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	fileMagic  = "OWSEEN02"
	headBytes  = 24
	entriesLog = "entries"
	// readFirst is the size of the first read of an entry, in bytes: most URIs fit.
	readFirst = 512
	// bufferLimit times the size of one write may wait for the disk; then Insert waits or fails.
	bufferLimit = 4
	// scanBytes is the buffer for reading entries in a row.
	scanBytes = 1 << 20
)

// entryLog is the append-only file of entries with its write buffer. Bytes before written are in the file and never
// change. The bytes of writing and buf follow them, in this order.
type entryLog struct {
	file       vfs.File
	writeBytes int         // size of one write
	mu         *sync.Mutex // that of the Map; it guards the fields below
	idle       sync.Cond   // on mu: a write has ended

	written int64 // valid length of the file
	// bytes that are being written at offset written; they do not change meanwhile. nil if there are none
	writing     []byte
	buf         []byte // bytes after writing
	writeErrors uint64
}

// create makes a file with nothing but its head, which is written with the first entries.
func (l *entryLog) create(fsys vfs.FS, dir string) (seed uint64, err error) {
	if l.file, err = fsys.Create(path.Join(dir, entriesLog)); err != nil {
		return 0, fmt.Errorf("dedup: %w", err)
	}
	seed = rand.Uint64()
	l.buf = appendHead(nil, seed)
	return seed, nil
}

// open opens the file for a checkpoint of this length. It does not change the file; truncate does.
func (l *entryLog) open(fsys vfs.FS, dir string, length int64) (seed uint64, err error) {
	name := path.Join(dir, entriesLog)
	size, err := fsys.Size(name) // OpenRW would make a file that is missing
	if err != nil {
		return 0, fmt.Errorf("dedup: %w", err)
	}
	if l.file, err = fsys.OpenRW(name); err != nil {
		return 0, fmt.Errorf("dedup: %w", err)
	}
	if size < length || length < headBytes || length > offsetMax {
		return 0, l.corrupt(size, fmt.Sprintf("%d bytes long, the checkpoint has %d", size, length))
	}
	var head [headBytes]byte
	if err := readAt(l.file, head[:], 0); err != nil {
		return 0, err
	}
	seed, fault := parseHead(head[:])
	if fault != "" {
		return 0, l.corrupt(0, fault)
	}
	l.written = length
	return seed, nil
}

// truncate removes what is behind the entries of the checkpoint.
func (l *entryLog) truncate() error {
	size, err := l.file.Size()
	if err == nil && size > l.written {
		err = l.file.Truncate(l.written)
	}
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	return nil
}

// end is the offset of the next entry.
func (l *entryLog) end() int64 { return l.written + int64(len(l.writing)+len(l.buf)) }

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
func (l *entryLog) read(p *probe, offset int64) (Digest, First, error) {
	if at := offset - l.written; at >= 0 {
		from := l.writing
		if at >= int64(len(from)) {
			at -= int64(len(from))
			from = l.buf
		}
		if at >= int64(len(from)) {
			return Digest{}, First{}, l.corrupt(offset, "the index leads behind the last entry")
		}
		n, fault := entryBytes(from[at:])
		if fault != "" {
			panic("BUG: dedup: the buffer has no entry where the table says")
		}
		return l.decoded(from[at:at+int64(n)], offset)
	}
	end := l.written
	l.mu.Unlock()
	defer l.mu.Lock()
	b, err := l.readFile(p, offset, end)
	if err != nil {
		return Digest{}, First{}, err
	}
	return l.decoded(b, offset)
}

func (l *entryLog) decoded(b []byte, offset int64) (Digest, First, error) {
	d, f, fault := decodeEntry(b, offset)
	if fault != "" {
		return d, f, l.corrupt(offset, fault)
	}
	return d, f, nil
}

// readFile reads one entry, which must end before end, into the probe's buffer.
func (l *entryLog) readFile(p *probe, offset, end int64) ([]byte, error) {
	sized := func(n int) []byte {
		if cap(p.entry) < n {
			p.entry = append(make([]byte, 0, n), p.entry...)
		}
		return p.entry[:n]
	}
	p.entry = sized(int(min(readFirst, end-offset)))
	if err := readAt(l.file, p.entry, offset); err != nil {
		return nil, err
	}
	n, fault := entryBytes(p.entry)
	if fault == "" && int64(n) > end-offset {
		fault = "entry ends early"
	}
	if fault != "" {
		return nil, l.corrupt(offset, fault)
	}
	have := len(p.entry)
	if n <= have {
		return p.entry[:n], nil
	}
	p.entry = sized(n)
	return p.entry, readAt(l.file, p.entry[have:], offset+int64(have))
}

func (l *entryLog) corrupt(offset int64, what string) error {
	return &vfs.CorruptError{File: l.file.Name(), Offset: offset, What: what}
}

// write writes the buffer to the file. The caller holds mu, which is released meanwhile; no other goroutine may write.
// After an error the bytes are at the front of the buffer again, and the next write goes to the same offset.
func (l *entryLog) write() error {
	l.writing, l.buf = l.buf, nil
	at := l.written
	l.mu.Unlock()
	_, err := l.file.WriteAt(l.writing, at) // only this goroutine changes l.writing while it is set
	l.mu.Lock()
	if err == nil {
		l.written += int64(len(l.writing))
		if l.buf == nil {
			l.buf = l.writing[:0]
		}
	} else {
		l.buf = append(l.writing, l.buf...)
		l.writeErrors++
		err = fmt.Errorf("dedup: %w", err)
	}
	l.writing = nil
	l.idle.Broadcast()
	return err
}

// writeOrWait writes the buffer, or waits for the goroutine that writes. The caller holds mu.
func (l *entryLog) writeOrWait() error {
	if l.writing != nil {
		l.idle.Wait()
		return nil
	}
	return l.write()
}

// append adds an entry at the end. If there is enough for a write, it writes: then it releases mu, which the caller
// holds, when the entry is already in the buffer.
func (l *entryLog) append(d Digest, f *First) {
	l.buf = appendEntry(l.buf, l.end(), d, *f)
	if len(l.buf) >= l.writeBytes && l.writing == nil {
		_ = l.write() // counted, and kept for the next try: the entry is in the buffer whatever the disk says
	}
}

// isOverfull reports that no entry should be added before a write. The caller holds mu.
func (l *entryLog) isOverfull() bool { return len(l.buf) >= bufferLimit*l.writeBytes }

// snapshot returns the length of the file and a copy of the bytes behind it. The caller holds mu, and no goroutine
// writes.
func (l *entryLog) snapshot() (written int64, buffered []byte) { return l.written, bytes.Clone(l.buf) }

// scan reads the entries from begin to end, and then those of more, and visits each that holds; the first that does not
// is an error.
func (l *entryLog) scan(begin, end int64, more io.Reader, visit func(offset int64, d Digest) error) error {
	var from io.Reader = io.NewSectionReader(l.file, begin, end-begin)
	if more != nil {
		from = io.MultiReader(from, more)
	}
	r := bufio.NewReaderSize(from, int(min(scanBytes, end-begin+4096)))
	var b []byte
	for offset := begin; ; {
		head, err := r.Peek(entryHead)
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("dedup: %w", err)
		}
		n, fault := entryBytes(head)
		if fault != "" {
			return l.corrupt(offset, fault)
		}
		b = slices.Grow(b[:0], n)[:n]
		if _, err := io.ReadFull(r, b); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return l.corrupt(offset, "entry ends early")
		} else if err != nil {
			return fmt.Errorf("dedup: %w", err)
		}
		d, _, err := l.decoded(b, offset)
		if err != nil {
			return err
		}
		if err := visit(offset, d); err != nil {
			return err
		}
		offset += int64(n)
	}
}
