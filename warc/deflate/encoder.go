package deflate

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

const (
	windowMax  = 32 << 10 // largest distance of a match
	bufferSize = 64 << 10 // window and block; positions have 16 bits
	bufferPad  = 8        // so that eight bytes can be loaded from any position
)

// Encoder compresses one stream after the other.
type Encoder struct {
	start int // position of the current block in the stream; earlier bytes belong to written blocks
	end   int // end of the data

	matcher matcher
	coder   coder
	bits    bitWriter
}

// NewEncoder makes an Encoder, ready for a stream.
func NewEncoder() *Encoder {
	e := &Encoder{}
	e.coder.init()
	return e
}

// Reset drops an incomplete stream.
func (e *Encoder) Reset() {
	e.start, e.end = 0, 0
	e.bits.bits, e.bits.n, e.bits.at = 0, 0, 0
}

// Append compresses more of a stream, and appends to dst the output that is ready, possibly nothing. It borrows p.
func (e *Encoder) Append(dst, p []byte) []byte {
	for len(p) > 0 {
		full := e.start + bufferSize - windowMax
		if e.start == 0 {
			full = bufferSize
		}
		if e.end == full {
			dst = e.block(dst, false)
			e.start = e.end
			continue
		}
		n := min(len(p), full-e.end)
		e.matcher.buf.write(e.end, p[:n])
		e.end += n
		p = p[n:]
	}
	return dst
}

// Finish ends the stream, appends the rest of it to dst, and makes the Encoder ready for the next.
func (e *Encoder) Finish(dst []byte) []byte {
	dst = e.bits.finish(e.block(dst, true))
	e.Reset()
	return dst
}

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
