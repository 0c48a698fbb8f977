package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// gzipHeader has no time and no name; its flags are "fastest" and "unknown system".
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"

// gzipBatch is how many compressed bytes are collected before they are written.
const gzipBatch = 256 << 10

// GzipWriter compresses what is written to it as one gzip member. It belongs to one goroutine.
type GzipWriter struct {
	to      io.Writer
	encoder *Encoder
	out     []byte
	crc     uint32
	size    uint32 // modulo 1<<32, as in the format
}

// NewGzipWriter returns a GzipWriter that writes to w.
func NewGzipWriter(w io.Writer) *GzipWriter {
	return &GzipWriter{to: w, encoder: NewEncoder(), out: []byte(gzipHeader)}
}

// Write compresses p, which it borrows.
func (z *GzipWriter) Write(p []byte) (int, error) {
	z.crc = crc32.Update(z.crc, crc32.IEEETable, p)
	z.size += uint32(len(p))
	if z.out = z.encoder.Append(z.out, p); len(z.out) < gzipBatch {
		return len(p), nil
	}
	_, err := z.to.Write(z.out)
	z.out = z.out[:0]
	return len(p), err
}

// Close ends the member. It does not close the writer below.
func (z *GzipWriter) Close() error {
	z.out = z.encoder.Finish(z.out)
	z.out = binary.LittleEndian.AppendUint32(z.out, z.crc)
	z.out = binary.LittleEndian.AppendUint32(z.out, z.size)
	_, err := z.to.Write(z.out)
	z.out = z.out[:0]
	return err
}
