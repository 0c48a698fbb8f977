package warc

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"orbweaver/warc/deflate"
)

// sink collects what a compressor gives.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// deflater is the part of a compressor that takes bytes.
type deflater interface {
	io.Writer
	Reset(io.Writer)
	Close() error
}

// packer turns one record into one member, with the prefix left readable in it so that it can be changed later
// without packing anew: a stored block before the deflate stream, a raw block before those of zstd.
type packer struct {
	compression Compression
	out         sink
	fast        *deflate.Encoder // for Gzip at level 1, else nil
	late        *latePacker      // for Zstd with a dictionary, else nil
	z           deflater         // nil for those and for None

	start    int // of the member at hand, in out.b
	body     int // of the compressor's own output
	prefix   int // length of the prefix, 0 or prefixLen
	restCRC  uint32
	restSize int64
}

func newPacker(c Compression, level int, dictionary []byte) (*packer, error) {
	p := &packer{compression: c}
	var err error
	if dictionary != nil {
		if p.late, err = newLatePacker(dictionary, level); err != nil {
			return nil, err
		}
		return p, nil
	}
	switch c {
	case Gzip:
		if level == 1 {
			p.fast = deflate.NewEncoder()
			break
		}
		p.z, err = flate.NewWriter(&p.out, level)
	case Zstd:
		p.z, err = zstd.NewWriter(&p.out, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(false))
	case None:
	default:
		err = fmt.Errorf("compression %d", c)
	}
	if err != nil {
		return nil, fmt.Errorf("warc: compressor: %w", err)
	}
	return p, nil
}

// gzipHeader has no time and no name, and says "fastest, unknown system".
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"

// Sizes of what stands around the prefix.
const (
	storedHeader = 5 // deflate: type, length, its complement
	zstdHeader   = 6 // magic, descriptor, window
	rawHeader    = 3 // zstd: type and length
	zstdMagic    = "\x28\xb5\x2f\xfd"
)

// begin starts a member. With prefix it leaves room for one, which finish and setPrefix fill in.
func (p *packer) begin(prefix bool) {
	p.start = len(p.out.b)
	p.prefix, p.restCRC, p.restSize = 0, 0, 0
	if prefix {
		p.prefix = prefixLen
	}
	if p.late != nil {
		if prefix {
			p.late.raw = appendPrefix(p.late.raw)
		}
		p.late.packed = false
		return
	}
	switch p.compression {
	case Gzip:
		p.out.b = append(p.out.b, gzipHeader...)
		if prefix {
			p.out.b = append(p.out.b, 0, byte(prefixLen), byte(prefixLen>>8), byte(^prefixLen&0xff), byte(^prefixLen>>8&0xff))
		}
	case Zstd:
		if prefix {
			p.out.b = append(p.out.b, zstdMagic+"\x00\x00"...)
			p.out.b = append(p.out.b, byte(prefixLen<<3&0xff), byte(prefixLen<<3>>8&0xff), byte(prefixLen<<3>>16))
		}
	}
	if prefix {
		p.out.b = appendPrefix(p.out.b)
	}
	p.body = len(p.out.b)
	switch {
	case p.fast != nil:
		p.fast.Reset()
	case p.z != nil:
		p.z.Reset(&p.out)
	}
}

// appendPrefix adds a prefix that names no file yet.
func appendPrefix(dst []byte) []byte {
	return append(append(append(dst, prefixBefore...), "00000000-0000-0000-0000-000000000000"...), prefixAfter...)
}

// dictionary is the number of the dictionary, 0 if there is none.
func (p *packer) dictionary() uint32 {
	if p.late == nil {
		return 0
	}
	return p.late.id
}

// write packs more of the record.
func (p *packer) write(b []byte) error {
	p.restSize += int64(len(b))
	if p.late != nil {
		p.late.raw = append(p.late.raw, b...)
		return nil
	}
	switch p.compression {
	case Gzip:
		p.restCRC = crc32.Update(p.restCRC, crc32.IEEETable, b)
	case None:
		p.out.b = append(p.out.b, b...)
		return nil
	}
	if p.fast != nil {
		p.out.b = p.fast.Append(p.out.b, b)
		return nil
	}
	_, err := p.z.Write(b)
	return err
}

// finish ends the member and tells where it lies.
func (p *packer) finish() (member, error) {
	if p.late != nil {
		m := member{raw: int64(p.prefix) + p.restSize, prefixAt: -1}
		if p.prefix > 0 {
			m.prefixAt = 0
		}
		return m, nil
	}
	switch {
	case p.fast != nil:
		p.out.b = p.fast.Finish(p.out.b)
	case p.z != nil:
		if err := p.z.Close(); err != nil {
			return member{}, err
		}
	}
	if p.compression == Zstd && p.prefix > 0 {
		if err := p.mergeFrame(); err != nil {
			return member{}, err
		}
	}
	m := member{raw: int64(p.prefix) + p.restSize, prefixAt: -1}
	if p.prefix > 0 {
		m.prefixAt = p.body - p.prefix - p.start
	}
	if p.compression == Gzip {
		m.restCRC, m.restShift = p.restCRC, crcShift(p.restSize)
		p.out.b = binary.LittleEndian.AppendUint32(p.out.b, p.restCRC)
		p.out.b = binary.LittleEndian.AppendUint32(p.out.b, uint32(m.raw))
	}
	m.start, m.end = p.start, len(p.out.b)
	if p.prefix > 0 {
		m.setPrefix(p.out.b[m.start:m.end], p.compression, ID{})
	}
	return m, nil
}

// mergeFrame takes the header off the frame that the compressor wrote and keeps its window, so that its blocks
// follow our raw block in our frame. A raw block changes nothing that the later ones depend on, and they reach back to their own
// content only.
func (p *packer) mergeFrame() error {
	f := p.out.b[p.body:]
	if len(f) == 0 { // the compressor writes no frame for nothing; a record is never that
		return fmt.Errorf("warc: empty frame")
	}
	if len(f) < zstdHeader || string(f[:4]) != zstdMagic || f[4]&0x3f != 0 {
		return fmt.Errorf("warc: unexpected frame header % x", f[:min(len(f), zstdHeader)])
	}
	header := zstdHeader
	if size := f[4] >> 6; size > 0 {
		header += 1 << size
	}
	p.out.b[p.start+5] = f[5]
	n := copy(f, f[header:])
	p.out.b = p.out.b[:p.body+n]
	return nil
}

// member is one packed record within a buffer.
type member struct {
	start, end int    // in the buffer
	prefixAt   int    // of the prefix, from start; -1 if there is none
	restCRC    uint32 // of what follows the prefix
	restShift  uint32 // crcShift of its length
	raw        int64  // length before packing
	kind       Type
	indexEnd   int // the end of its index line in the encoder's index buffer
}

// setPrefix writes the identity of a warcinfo record into b, which is the member, and mends its checksum.
func (m *member) setPrefix(b []byte, c Compression, info ID) {
	if m.prefixAt < 0 {
		return
	}
	prefix := b[m.prefixAt : m.prefixAt+prefixLen]
	info.put(prefix[len(prefixBefore) : len(prefixBefore)+36])
	if c == Gzip {
		crc := crcJoin(crc32.ChecksumIEEE(prefix), m.restCRC, m.restShift)
		binary.LittleEndian.PutUint32(b[len(b)-8:], crc)
	}
}
