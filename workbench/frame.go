package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

const (
	magic       = "OWBENCH\x03"
	frameHeader = 12
	frameLen    = 256 << 10 // the writer's frames
	frameMax    = 1 << 20   // the longest a reader accepts
)

// CorruptError says that an image is not what was written.
type CorruptError struct {
	Image  int   // which of those that Load was given, from 0
	Offset int64 // bytes into it, where the frame begins that shows it
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("workbench: image %d of the snapshot is corrupt at byte %d: %s", e.Image+1, e.Offset, e.What)
}

// writeFrames writes b as checksummed frames and returns what does not fill one, at the start of b, unless all is true.
// stamp is a hash of all frames of the image so far.
func writeFrames(out io.Writer, b []byte, all bool, stamp *uint64) (rest []byte, err error) {
	var head [frameHeader]byte
	whole := b
	for len(b) >= frameLen || (all && len(b) > 0) {
		n := min(frameLen, len(b))
		sum := xxh3.Hash(b[:n])
		*stamp = stampOf(*stamp, sum)
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

// stampOf goes on with an image's stamp: which of two frames comes first makes a difference.
func stampOf(stamp, sum uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], stamp)
	binary.LittleEndian.PutUint64(b[8:], sum)
	return xxh3.Hash(b[:])
}

// decoder reads the values in a row of frames. Its first fault sticks, and every value read after it is zero.
type decoder struct {
	in      io.Reader
	image   int
	stamp   uint64 // as writeFrames has it
	offset  int64  // of the current frame
	next    int64  // of the one after
	payload []byte
	at      int
	err     error
}

func (d *decoder) corrupt(what string) {
	if d.err == nil {
		d.err = &CorruptError{Image: d.image, Offset: d.offset, What: what}
	}
	d.payload, d.at = nil, 0
}

// fail is about an error of the reader; that it ends too early is damage, too.
func (d *decoder) fail(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.corrupt("ends too early")
		return
	}
	if d.err == nil {
		d.err = fmt.Errorf("workbench: reading image %d of a snapshot: %w", d.image+1, err)
	}
	d.payload, d.at = nil, 0
}

// magic checks the first bytes.
func (d *decoder) magic() {
	var b [len(magic)]byte
	if _, err := io.ReadFull(d.in, b[:]); err != nil {
		d.fail(err)
		return
	}
	if string(b[:]) != magic {
		d.corrupt("not a workbench snapshot of this version")
	}
	d.next = int64(len(magic))
}

// more makes sure that a byte is there.
func (d *decoder) more() bool {
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
		d.corrupt("checksum")
		return
	}
	d.stamp = stampOf(d.stamp, sum)
	d.next = d.offset + int64(n) + frameHeader
}

func (d *decoder) byte() byte {
	if !d.more() {
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
	v, err := binary.ReadUvarint(byteReader{d}) // it goes over the end of a frame, or is none
	if err != nil {
		d.corrupt("number")
		return 0
	}
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// bytes appends to dst what a length and as many bytes say. Memory grows with what is really there, not with what the
// length claims.
func (d *decoder) bytes(dst []byte) []byte {
	n := d.uvarint()
	for n > 0 && d.more() {
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

type byteReader struct{ d *decoder }

func (r byteReader) ReadByte() (byte, error) {
	b := r.d.byte()
	return b, r.d.err
}
