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

// writeFrame writes the frame of a chunk at offset at of a pending file, and the head of the file before the first one.
// It returns the number of bytes written. After an error there may be a torn frame.
func writeFrame(f vfs.File, at int64, c chunk) (n int64, err error) {
	var head []byte
	if at == 0 {
		head = append(head, pendingMagic...)
	}
	head = append(head, frameHead(c)...)
	_, err = f.WriteAt(head, at)
	if err == nil {
		_, err = f.WriteAt(c.buf, at+int64(len(head)))
	}
	if err != nil {
		return 0, fmt.Errorf("sieve: %w", err)
	}
	return int64(len(head) + len(c.buf)), nil
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
