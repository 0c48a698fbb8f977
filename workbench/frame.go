package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// The format of a snapshot: frames with checksums. A chain hash covers all frames, so that a snapshot of changes names
// the one that it belongs to.
const (
	frameMagic     = "OWBENCH\x03" // the first bytes of a snapshot
	frameHeaderLen = 12            // length and checksum of a frame
	frameLen       = 256 << 10     // of the frames that are written
	lenMax         = 1 << 20       // of a frame that is read
)

// writeFrame writes b as frames with checksums. If all is false, it returns the rest that does not fill a frame, moved
// to the start of b. chainHash covers all frames of the snapshot up to now.
func writeFrame(out io.Writer, b []byte, all bool, chainHash *uint64) (rest []byte, err error) {
	var head [frameHeaderLen]byte
	whole := b
	for len(b) >= frameLen || (all && len(b) > 0) {
		n := min(frameLen, len(b))
		sum := xxh3.Hash(b[:n])
		*chainHash = addToChainHash(*chainHash, sum)
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

// frameReader reads values from consecutive frames. It keeps the first error and returns zero values after it.
type frameReader struct {
	Err       error
	ChainHash uint64 // of the frames up to now, as in Write
	Offset    int64  // of the current frame

	in      io.Reader
	image   int
	next    int64 // offset of the next frame
	payload []byte
	at      int
}

// Reset begins to read an image. image is its number in a chain, from 0, for errors.
func (d *frameReader) Reset(in io.Reader, image int) {
	*d = frameReader{in: in, image: image, payload: d.payload[:0]}
}

// Image returns the number of the image.
func (d *frameReader) Image() int { return d.image }

// Corrupt records that the current frame is invalid.
func (d *frameReader) Corrupt(what string) {
	if d.Err == nil {
		d.Err = &vfs.CorruptError{
			File:   fmt.Sprintf("workbench image %d", d.image+1),
			Index:  d.image,
			Offset: d.Offset,
			What:   what,
		}
	}
	d.payload, d.at = nil, 0
}

// fail records a read error. An early end counts as corruption.
func (d *frameReader) fail(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.Corrupt("unexpected end")
		return
	}
	if d.Err == nil {
		d.Err = fmt.Errorf("workbench: reading image %d of a snapshot: %w", d.image+1, err)
	}
	d.payload, d.at = nil, 0
}

// Magic verifies the first bytes.
func (d *frameReader) Magic() {
	var b [len(frameMagic)]byte
	if _, err := io.ReadFull(d.in, b[:]); err != nil {
		d.fail(err)
		return
	}
	if string(b[:]) != frameMagic {
		d.Corrupt("no workbench snapshot of this version")
	}
	d.next = int64(len(frameMagic))
}

// ensureByte reads frames until a byte is available.
func (d *frameReader) ensureByte() bool {
	for d.Err == nil && d.at == len(d.payload) {
		d.frame()
	}
	return d.Err == nil
}

func (d *frameReader) frame() {
	d.Offset = d.next
	var head [frameHeaderLen]byte
	if _, err := io.ReadFull(d.in, head[:]); err != nil {
		d.fail(err)
		return
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n == 0 || n > lenMax {
		d.Corrupt(fmt.Sprintf("frame of %d bytes", n))
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
		d.Corrupt("wrong checksum")
		return
	}
	d.ChainHash = addToChainHash(d.ChainHash, sum)
	d.next = d.Offset + int64(n) + frameHeaderLen
}

// Byte reads a byte.
func (d *frameReader) Byte() byte {
	if !d.ensureByte() {
		return 0
	}
	d.at++
	return d.payload[d.at-1]
}

// Uvarint reads a number without a sign.
func (d *frameReader) Uvarint() uint64 {
	if v, n := binary.Uvarint(d.payload[d.at:]); n > 0 {
		d.at += n
		return v
	}
	v, err := binary.ReadUvarint(byteReader{d}) // the value continues in the next frame, or is invalid
	if err != nil {
		d.Corrupt("invalid number")
		return 0
	}
	return v
}

// Varint reads a number with a sign.
func (d *frameReader) Varint() int64 {
	u := d.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Bytes reads a length and appends this many bytes to dst. Memory grows with the bytes that were read, not with the
// length field.
func (d *frameReader) Bytes(dst []byte) []byte {
	n := d.Uvarint()
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

// Rest returns the bytes of the current frame that are not read yet. Pass says how many of them were.
func (d *frameReader) Rest() []byte { return d.payload[d.at:] }

// Pass passes n bytes of Rest.
func (d *frameReader) Pass(n int) { d.at += n }

type byteReader struct{ d *frameReader }

func (r byteReader) ReadByte() (byte, error) {
	b := r.d.Byte()
	return b, r.d.Err
}

// frameBeyond is a position behind the end of each frame.
const frameBeyond = 1 << 30

// passFrameNumber returns the position after a number in b. It may be behind the end of b.
func passFrameNumber(b []byte, at int) int {
	for at < len(b) && b[at] >= 0x80 {
		at++
	}
	return at + 1
}

// passFrameBytes returns bytes after their length, and the position after them; frameBeyond if they do not end in b.
func passFrameBytes(b []byte, at int) (_ []byte, next int) {
	if at >= len(b) {
		return nil, frameBeyond
	}
	n := uint64(b[at])
	if at++; n >= 0x80 {
		var used int
		if n, used = binary.Uvarint(b[at-1:]); used <= 0 {
			return nil, frameBeyond
		}
		at += used - 1
	}
	if n > uint64(len(b)-at) {
		return nil, frameBeyond
	}
	return b[at : at+int(n)], at + int(n)
}
