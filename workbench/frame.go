package workbench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"
)

const (
	magic       = "OWBENCH\x01"
	frameHeader = 12
	frameLen    = 256 << 10 // the writer's frames
	frameMax    = 1 << 20   // the longest a reader accepts
)

// CorruptError says that a snapshot is not what Save wrote.
type CorruptError struct {
	Offset int64 // bytes into the snapshot, where the frame begins that shows it
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("workbench: corrupt snapshot at byte %d: %s", e.Offset, e.What)
}

// writeFrames writes b as checksummed frames and returns what does not fill one, unless all is true.
func writeFrames(out io.Writer, b []byte, all bool) (rest []byte, err error) {
	var head [frameHeader]byte
	for len(b) >= frameLen || (all && len(b) > 0) {
		n := min(frameLen, len(b))
		binary.LittleEndian.PutUint32(head[:], uint32(n))
		binary.LittleEndian.PutUint64(head[4:], xxh3.Hash(b[:n]))
		if _, err := out.Write(head[:]); err != nil {
			return nil, err
		}
		if _, err := out.Write(b[:n]); err != nil {
			return nil, err
		}
		b = b[n:]
	}
	return b, nil
}

// decoder reads the values in a row of frames. Its first fault sticks, and every value read after it is zero.
type decoder struct {
	in      io.Reader
	offset  int64 // of the current frame
	next    int64 // of the one after
	payload []byte
	at      int
	err     error
}

func (d *decoder) corrupt(what string) {
	if d.err == nil {
		d.err = &CorruptError{Offset: d.offset, What: what}
	}
	d.payload, d.at = nil, 0
}

func (d *decoder) fail(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.corrupt("ends too early")
		return
	}
	if d.err == nil {
		d.err = fmt.Errorf("workbench: reading a snapshot: %w", err)
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
	if xxh3.Hash(d.payload) != binary.LittleEndian.Uint64(head[4:]) {
		d.corrupt("checksum")
		return
	}
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
	v, err := binary.ReadUvarint(byteReader{d})
	if err != nil {
		d.corrupt("number")
		return 0
	}
	return v
}

func (d *decoder) varint() int64 {
	v, err := binary.ReadVarint(byteReader{d})
	if err != nil {
		d.corrupt("number")
		return 0
	}
	return v
}

// bytes reads a length and as many bytes, into memory that is the caller's. Memory grows with what is really there, not
// with what the length claims.
func (d *decoder) bytes() []byte {
	n := d.uvarint()
	var b bytes.Buffer
	for n > 0 && d.more() {
		part := d.payload[d.at:]
		if uint64(len(part)) > n {
			part = part[:n]
		}
		b.Write(part)
		d.at += len(part)
		n -= uint64(len(part))
	}
	return b.Bytes()
}

type byteReader struct{ d *decoder }

func (r byteReader) ReadByte() (byte, error) {
	b := r.d.byte()
	return b, r.d.err
}
