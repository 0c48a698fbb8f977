package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	magic       = "OWBENCH\x03"
	frameHeader = 12
	frameLen    = 256 << 10 // the length of the frames that are written
	frameMax    = 1 << 20   // the longest frame that is read
)

// writeFrames writes b as frames with checksums. If all is false, it returns the rest that does not fill a frame, moved
// to the start of b. chainHash covers all frames of the snapshot up to now.
func writeFrames(out io.Writer, b []byte, all bool, stamp *uint64) (rest []byte, err error) {
	var head [frameHeader]byte
	whole := b
	for len(b) >= frameLen || (all && len(b) > 0) {
		n := min(frameLen, len(b))
		sum := xxh3.Hash(b[:n])
		*stamp = addToChainHash(*stamp, sum)
		binary.LittleEndian.PutUint32(head[:], uint32(n))
		binary.LittleEndian.PutUint64(head[4:], sum)
		if _, err := out.Write(head[:]); err != nil {
			return nil, err
		}
		if _, err := out.Write(b[:n]); err != nil {
			return nil, err
		}
		b = b[n:]
	}
	return append(whole[:0], b...), nil
}

// addToChainHash adds the checksum of a frame to the chain hash. The order of frames matters.
func addToChainHash(stamp, sum uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], stamp)
	binary.LittleEndian.PutUint64(b[8:], sum)
	return xxh3.Hash(b[:])
}

// decoder reads values from consecutive frames. It keeps the first error and returns zero values after it.
type decoder struct {
	in        io.Reader
	image     int
	chainHash uint64 // of the frames up to now, as in writeFrames
	offset    int64  // of the current frame
	next      int64  // of the next frame
	payload   []byte
	at        int
	err       error
}

func (d *decoder) corrupt(what string) {
	if d.err == nil {
		d.err = &vfs.CorruptError{
			File:   fmt.Sprintf("workbench image %d", d.image+1),
			Index:  d.image,
			Offset: d.offset,
			What:   what,
		}
	}
	d.payload, d.at = nil, 0
}

// fail records a read error. An early end counts as corruption.
func (d *decoder) fail(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.corrupt("unexpected end")
		return
	}
	if d.err == nil {
		d.err = fmt.Errorf("workbench: reading image %d of a snapshot: %w", d.image+1, err)
	}
	d.payload, d.at = nil, 0
}

// magic verifies the first bytes.
func (d *decoder) magic() {
	var b [len(magic)]byte
	if _, err := io.ReadFull(d.in, b[:]); err != nil {
		d.fail(err)
		return
	}
	if string(b[:]) != magic {
		d.corrupt("no workbench snapshot of this version")
	}
	d.next = int64(len(magic))
}

// ensureByte reads frames until a byte is available.
func (d *decoder) ensureByte() bool {
	for d.err == nil && d.at == len(d.payload) {
		d.frame()
	}
	return d.err == nil
}

func (d *decoder) frame() {
	d.offset = d.next
	var head [frameHeader]byte
	if _, err := io.ReadFull(d.in, head[:]); err != nil {
		d.fail(err)
		return
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n == 0 || n > frameMax {
		d.corrupt(fmt.Sprintf("frame of %d bytes", n))
		return
	}
	if cap(d.payload) < n {
		d.payload = make([]byte, n)
	}
	d.payload, d.at = d.payload[:n], 0
	if _, err := io.ReadFull(d.in, d.payload); err != nil {
		d.fail(err)
		return
	}
	sum := binary.LittleEndian.Uint64(head[4:])
	if xxh3.Hash(d.payload) != sum {
		d.corrupt("wrong checksum")
		return
	}
	d.chainHash = addToChainHash(d.chainHash, sum)
	d.next = d.offset + int64(n) + frameHeader
}

func (d *decoder) byte() byte {
	if !d.ensureByte() {
		return 0
	}
	d.at++
	return d.payload[d.at-1]
}

func (d *decoder) uvarint() uint64 {
	if v, n := binary.Uvarint(d.payload[d.at:]); n > 0 {
		d.at += n
		return v
	}
	v, err := binary.ReadUvarint(byteReader{d}) // the value continues in the next frame, or is invalid
	if err != nil {
		d.corrupt("invalid number")
		return 0
	}
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// bytes reads a length and appends this many bytes to dst. Memory grows with the bytes that were read, not with the
// length field.
func (d *decoder) bytes(dst []byte) []byte {
	n := d.uvarint()
	for n > 0 && d.ensureByte() {
		part := d.payload[d.at:]
		if uint64(len(part)) > n {
			part = part[:n]
		}
		dst = append(dst, part...)
		d.at += len(part)
		n -= uint64(len(part))
	}
	return dst
}

// skip passes n bytes.
func (d *decoder) skip(n uint64) {
	for n > 0 && d.ensureByte() {
		step := min(n, uint64(len(d.payload)-d.at))
		d.at += int(step)
		n -= step
	}
}

type byteReader struct{ d *decoder }

func (r byteReader) ReadByte() (byte, error) {
	b := r.d.byte()
	return b, r.d.err
}
