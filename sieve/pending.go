package sieve

import (
	"encoding/binary"
	"fmt"
	"slices"

	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

const (
	pendingMagic = "OWSIEVP3"
	frameHeader  = 24
	// What is read of a frame at first: header and keys of a usual one, or all of it.
	frameFront = 64 << 10
	frameWhole = chunkBytesMax + frameFront
)

// frame is one stretch of a pending file: the keys of some payloads, and these.
type frame struct {
	at      int64 // in the file
	records int
	payload int64  // bytes
	buf     []byte // the frame's first bytes, as many as were read
}

func (fr *frame) payloadAt() int64 { return fr.at + frameHeader + int64(fr.records)*keyBytes }
func (fr *frame) end() int64       { return fr.payloadAt() + fr.payload }

// appendFrame appends a chunk's frame without the payloads, of which the first has the given number. Entries are in order
// of arrival, without those that have not to be kept.
func appendFrame(dst []byte, c chunk, number uint64, entries []entry) []byte {
	head := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.buf)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(c.records))
	dst = append(dst, make([]byte, 16)...)
	for i := range uint64(c.records) {
		var k key
		if len(entries) > 0 && entries[0].arrival() == number+i {
			k, entries = entries[0].key(), entries[1:]
		}
		dst = append(binary.LittleEndian.AppendUint64(dst, k.hi), k.lo)
	}
	sum := xxh3.HashSeed(dst[head+frameHeader:], binary.LittleEndian.Uint64(dst[head:]))
	binary.LittleEndian.PutUint64(dst[head+8:], sum)
	binary.LittleEndian.PutUint64(dst[head+16:], xxh3.HashSeed(c.buf, sum))
	return dst
}

// writeChunk moves the oldest chunk of a bucket to its file. If it fails it may leave a torn frame behind what counts;
// the next try writes over it. writeMu is held, mu is not.
func (s *Sieve) writeChunk(b *bucket) error {
	s.mu.Lock()
	c, f, at, number := b.chunks[0], b.file, b.fileBytes, uint64(b.written)
	entries := b.unwritten()
	s.mu.Unlock()
	if f == nil {
		var err error
		if f, err = s.pendingFile(); err != nil {
			return err
		}
	}
	buf := s.scratch[:0]
	if at == 0 {
		buf = append(buf, pendingMagic...)
	}
	buf = appendFrame(buf, c, number, entries)
	s.scratch = buf
	_, err := f.WriteAt(buf, at)
	if err == nil {
		_, err = f.WriteAt(c.buf, at+int64(len(buf)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.file = f
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	b.fileBytes = at + int64(len(buf)+len(c.buf))
	s.stats.Spilled += int64(len(buf) + len(c.buf))
	full := b.full()
	if b.shift(); full {
		s.makeRoom()
	}
	return nil
}

// pendingFile returns a file for one more bucket, a spare one if there is one: to write over it costs a tenth.
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

// loadPending reads the first c.Bytes bytes of a pending file, keeps their keys in b, and cuts off what is behind them.
// live, if not nil, says which payloads count.
func loadPending(fsys vfs.FS, name string, c FileCut, generation uint64, live []uint64, b *bucket) error {
	if _, err := fsys.Size(name); err != nil {
		return fmt.Errorf("sieve: %w", err) // OpenRW would make a file that is missing
	}
	f, err := fsys.OpenRW(name)
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if err := readPending(f, c, live, b); err != nil {
		return closeAfter(f, err)
	}
	b.file = &storeFile{File: f, kind: kindPending, serial: c.Serial, firstCut: generation, synced: true}
	b.written, b.fileBytes, b.file.cutBytes = b.arrived, c.Bytes, c.Bytes
	b.touched = len(b.entries)
	return nil
}

func readPending(f vfs.File, c FileCut, live []uint64, b *bucket) error {
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	if size < c.Bytes || c.Bytes < int64(len(pendingMagic)) {
		return &CorruptError{File: f.Name(), Offset: size, What: fmt.Sprintf("file length, want %d", c.Bytes)}
	}
	magic := make([]byte, len(pendingMagic))
	if err := readAt(f, magic, 0); err != nil {
		return err
	}
	if string(magic) != pendingMagic {
		return &CorruptError{File: f.Name(), What: "not a pending file, or of another version"}
	}
	var fr frame
	for at := int64(len(magic)); at < c.Bytes; at = fr.end() {
		if err := fr.read(f, at, c.Bytes, frameWhole); err != nil {
			return err
		}
		if _, err := fr.payloads(f); err != nil {
			return err
		}
		if uint64(fr.records) > c.Count-uint64(b.arrived) {
			return &CorruptError{File: f.Name(), Offset: at, What: fmt.Sprintf("more than %d records", c.Count)}
		}
		for keys := fr.keys(); len(keys) > 0; keys = keys[keyBytes:] {
			if live == nil || isSet(live, b.arrived) {
				k := key{hi: binary.LittleEndian.Uint64(keys), lo: keys[8]}
				b.entries = append(b.entries, newEntry(k, uint64(b.arrived)))
			}
			b.arrived++
		}
	}
	if uint64(b.arrived) != c.Count {
		return &CorruptError{File: f.Name(), Offset: c.Bytes, What: fmt.Sprintf("%d records, want %d", b.arrived, c.Count)}
	}
	b.live = live
	b.left.Store(int64(len(b.entries)))
	if size > c.Bytes {
		if err := f.Truncate(c.Bytes); err != nil {
			return fmt.Errorf("sieve: %w", err)
		}
	}
	return nil
}

// read reads and verifies what stands before the payloads of the frame at an offset of a file of which so many bytes
// count. It reads at least `first` bytes, if there are so many.
func (fr *frame) read(f vfs.File, at, bytes, first int64) error {
	if bytes-at < frameHeader {
		return &CorruptError{File: f.Name(), Offset: at, What: "frame header ends early"}
	}
	fr.at, fr.buf = at, fr.buf[:0]
	if err := fr.readTo(f, min(first, bytes-at)); err != nil {
		return err
	}
	fr.payload, fr.records = int64(binary.LittleEndian.Uint32(fr.buf)), int(binary.LittleEndian.Uint32(fr.buf[4:]))
	if fr.end() > bytes {
		return &CorruptError{File: f.Name(), Offset: at, What: "frame ends early"}
	}
	if err := fr.readTo(f, fr.payloadAt()-at); err != nil {
		return err
	}
	if xxh3.HashSeed(fr.keys(), binary.LittleEndian.Uint64(fr.buf)) != binary.LittleEndian.Uint64(fr.buf[8:]) {
		return &CorruptError{File: f.Name(), Offset: at, What: "frame checksum"}
	}
	return nil
}

// readTo reads on until buf has n bytes.
func (fr *frame) readTo(f vfs.File, n int64) error {
	have := int64(len(fr.buf))
	if have >= n {
		return nil
	}
	fr.buf = slices.Grow(fr.buf, int(n-have))[:n]
	return readAt(f, fr.buf[have:], fr.at+have)
}

func (fr *frame) keys() []byte { return fr.buf[frameHeader : fr.payloadAt()-fr.at] }

// payloads reads the rest of the frame, if it was not read, and verifies it.
func (fr *frame) payloads(f vfs.File) ([]byte, error) {
	if err := fr.readTo(f, fr.end()-fr.at); err != nil {
		return nil, err
	}
	p := fr.buf[fr.payloadAt()-fr.at : fr.end()-fr.at]
	if xxh3.HashSeed(p, binary.LittleEndian.Uint64(fr.buf[8:])) != binary.LittleEndian.Uint64(fr.buf[16:]) {
		return nil, &CorruptError{File: f.Name(), Offset: fr.at, What: "frame checksum"}
	}
	return p, nil
}
