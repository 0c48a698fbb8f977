package sieve

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

const (
	pendingMagic = "OWSIEVP4"
	frameHeader  = 24
	// frameWhole is the size of the first read of a frame: all of a usual frame.
	frameWhole = chunkBytesMax + frameHeader
)

// frame is a part of a pending file: the records of a chunk.
type frame struct {
	at      int64 // offset in the file
	records int
	bytes   int64  // of records
	buf     []byte // the first bytes of the frame, as many as were read
}

func (fr *frame) end() int64 { return fr.at + frameHeader + fr.bytes }

// frameHead returns the header of the frame of a chunk.
func frameHead(c chunk) []byte {
	head := make([]byte, 0, frameHeader)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(c.buf)))
	head = binary.LittleEndian.AppendUint32(head, uint32(c.records))
	head = binary.LittleEndian.AppendUint64(head, xxh3.HashSeed(c.buf, binary.LittleEndian.Uint64(head)))
	return binary.LittleEndian.AppendUint64(head, xxh3.Hash(head))
}

// writeChunk moves the oldest chunk of a bucket to its file. After an error there may be a torn frame after fileBytes;
// the next attempt overwrites it. writeMu is held, mu is not.
func (s *Sieve) writeChunk(b *bucket) error {
	s.mu.Lock()
	c, f, at := b.payloads.chunks.chunks[0], b.payloads.file, b.payloads.fileBytes
	s.mu.Unlock()
	if f == nil {
		var err error
		if f, err = s.pendingFile(); err != nil {
			return err
		}
	}
	var head []byte
	if at == 0 {
		head = append(head, pendingMagic...)
	}
	head = append(head, frameHead(c)...)
	_, err := f.WriteAt(head, at)
	if err == nil {
		_, err = f.WriteAt(c.buf, at+int64(len(head)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.payloads.file = f
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	s.stats.Spilled += int64(len(head) + len(c.buf))
	full := b.full()
	if b.moveFirst(at + int64(len(head)+len(c.buf))); full {
		s.wakeWaiting()
	}
	return nil
}

// pendingFile returns a file for a bucket, a spare one if possible: to overwrite a file costs a tenth.
func (s *Sieve) pendingFile() (*storeFile, error) {
	s.mu.Lock()
	if last := len(s.spareFiles) - 1; last >= 0 {
		f := s.spareFiles[last]
		s.spareFiles = s.spareFiles[:last]
		s.mu.Unlock()
		return f, nil
	}
	s.mu.Unlock()
	return s.create(kindPending)
}

// loadPending reads the first c.Bytes bytes of a pending file, adds their keys to b, and truncates the rest. If live is
// not nil, only payloads with a bit in it are added.
func loadPending(fsys vfs.FS, name string, c FileCheckpoint, generation uint64, live []uint64, b *bucket) error {
	if _, err := fsys.Size(name); err != nil {
		return fmt.Errorf("sieve: %w", err) // OpenRW would create a missing file
	}
	f, err := fsys.OpenRW(name)
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if err := readPending(f, c, live, b); err != nil {
		return closeAfter(f, err)
	}
	b.payloads.file = &storeFile{
		File: f, kind: kindPending, serial: c.Serial, firstCheckpoint: generation, synced: true, checkpointBytes: c.Bytes,
	}
	b.payloads.written, b.payloads.fileBytes = b.payloads.arrivals, c.Bytes
	return nil
}

func readPending(f vfs.File, c FileCheckpoint, live []uint64, b *bucket) error {
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if size < c.Bytes || c.Bytes < int64(len(pendingMagic)) {
		return &vfs.CorruptError{File: f.Name(), Offset: size, What: fmt.Sprintf("file length, want %d", c.Bytes)}
	}
	magic := make([]byte, len(pendingMagic))
	if err := readAt(f, magic, 0); err != nil {
		return err
	}
	if string(magic) != pendingMagic {
		return &vfs.CorruptError{File: f.Name(), What: "no pending file of this version"}
	}
	var fr frame
	for at := int64(len(magic)); at < c.Bytes; at = fr.end() {
		if err := fr.read(f, at, c.Bytes, frameWhole); err != nil {
			return err
		}
		body, err := fr.body(f)
		if err != nil {
			return err
		}
		if uint64(fr.records) > c.Count-uint64(b.payloads.arrivals) {
			return &vfs.CorruptError{File: f.Name(), Offset: at, What: fmt.Sprintf("more than %d records", c.Count)}
		}
		for range fr.records {
			k, _, rest, ok := splitRecord(body)
			if !ok {
				return fr.corrupt(f)
			}
			if live == nil || isSet(live, b.payloads.arrivals) {
				b.entries.add(k, uint64(b.payloads.arrivals))
			}
			body = rest
			b.payloads.arrivals++
		}
		if len(body) > 0 {
			return fr.corrupt(f)
		}
	}
	if uint64(b.payloads.arrivals) != c.Count {
		return &vfs.CorruptError{
			File:   f.Name(),
			Offset: c.Bytes,
			What:   fmt.Sprintf("%d records, want %d", b.payloads.arrivals, c.Count),
		}
	}
	b.live.bitmap = live
	b.live.unemitted.Store(int64(b.entries.n))
	if size > c.Bytes {
		if err := f.Truncate(c.Bytes); err != nil {
			return fmt.Errorf("sieve: %w", err)
		}
	}
	return nil
}

// recordSize returns the size of the record of a payload.
func recordSize(payload int) int { return keyBytes + (bits.Len(uint(payload)|1)+6)/7 + payload }

// putRecord writes a record to dst, which has recordSize bytes.
func putRecord(dst []byte, k key, payload []byte) {
	binary.LittleEndian.PutUint64(dst, k.hi)
	dst[keyBytes-1] = k.lo
	n := keyBytes + binary.PutUvarint(dst[keyBytes:], uint64(len(payload)))
	copy(dst[n:], payload)
}

// splitRecord splits off the first record of p; ok is false if there is none.
func splitRecord(p []byte) (k key, payload, rest []byte, ok bool) {
	if len(p) < keyBytes {
		return k, nil, nil, false
	}
	length, n := binary.Uvarint(p[keyBytes:])
	if n <= 0 || length > uint64(len(p)-keyBytes-n) {
		return k, nil, nil, false
	}
	k = key{hi: binary.LittleEndian.Uint64(p), lo: p[keyBytes-1]}
	begin := keyBytes + n
	end := begin + int(length)
	return k, p[begin:end:end], p[end:], true
}

// read reads and verifies the header of the frame at offset at. The file is valid up to offset bytes. The first read
// has `first` bytes, or fewer at the end.
func (fr *frame) read(f vfs.File, at, bytes, first int64) error {
	if bytes-at < frameHeader {
		return &vfs.CorruptError{File: f.Name(), Offset: at, What: "frame header ends early"}
	}
	fr.at, fr.buf = at, fr.buf[:0]
	if err := fr.readTo(f, min(first, bytes-at)); err != nil {
		return err
	}
	if xxh3.Hash(fr.buf[:frameHeader-8]) != binary.LittleEndian.Uint64(fr.buf[frameHeader-8:]) {
		return &vfs.CorruptError{File: f.Name(), Offset: at, What: "frame checksum"}
	}
	fr.bytes, fr.records = int64(binary.LittleEndian.Uint32(fr.buf)), int(binary.LittleEndian.Uint32(fr.buf[4:]))
	if fr.end() > bytes {
		return &vfs.CorruptError{File: f.Name(), Offset: at, What: "frame ends early"}
	}
	return nil
}

// readTo reads until buf has n bytes.
func (fr *frame) readTo(f vfs.File, n int64) error {
	have := int64(len(fr.buf))
	if have >= n {
		return nil
	}
	fr.buf = slices.Grow(fr.buf, int(n-have))[:n]
	return readAt(f, fr.buf[have:], fr.at+have)
}

// body reads the rest of the frame, verifies it, and returns the records.
func (fr *frame) body(f vfs.File) ([]byte, error) {
	if err := fr.readTo(f, fr.end()-fr.at); err != nil {
		return nil, err
	}
	p := fr.buf[frameHeader : fr.end()-fr.at]
	if xxh3.HashSeed(p, binary.LittleEndian.Uint64(fr.buf)) != binary.LittleEndian.Uint64(fr.buf[8:]) {
		return nil, &vfs.CorruptError{File: f.Name(), Offset: fr.at, What: "frame checksum"}
	}
	return p, nil
}

func (fr *frame) corrupt(f vfs.File) error {
	return &vfs.CorruptError{File: f.Name(), Offset: fr.at, What: "frame contains invalid records"}
}
