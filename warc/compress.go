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

// sink collects the output of a compressor.
type sink struct{ b []byte }

func (s *sink) Write(p []byte) (int, error) {
	s.b = append(s.b, p...)
	return len(p), nil
}

// deflater is the input side of a compressor.
type deflater interface {
	io.Writer
	Reset(io.Writer)
	Close() error
}

// packer compresses a record to a member. The prefix stays uncompressed, so that it can be changed later without
// compressing again: it is a stored block before the deflate stream, or a raw block before those of zstd.
type packer struct {
	compression    Compression
	out            sink
	fast           *deflate.Encoder // for Gzip at level 1, otherwise nil
	withDictionary *latePacker      // for Zstd with a dictionary, otherwise nil
	z              deflater         // nil for these two and for None

	start    int // of the current member, in out.b
	body     int // of the compressor's own output
	prefix   int // length of the prefix, 0 or prefixLen
	restCRC  uint32
	restSize int64
}

func newPacker(c Compression, level int, dictionary []byte) (*packer, error) {
	p := &packer{compression: c}
	var err error
	if dictionary != nil {
		if p.withDictionary, err = newLatePacker(dictionary, level); err != nil {
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

// gzipHeader has no time and no name; its flags are "fastest" and "unknown system".
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"

// Sizes of the parts around the prefix.
const (
	storedHeader = 5 // deflate: type, length, its complement
	zstdHeader   = 6 // magic, descriptor, window
	rawHeader    = 3 // zstd: type and length
	zstdMagic    = "\x28\xb5\x2f\xfd"
)

// begin starts a member. If prefix is true, it reserves space for the prefix, which finish and setPrefix fill in.
func (p *packer) begin(prefix bool) {
	p.start = len(p.out.b)
	p.prefix, p.restCRC, p.restSize = 0, 0, 0
	if prefix {
		p.prefix = prefixLen
	}
	if p.withDictionary != nil {
		if prefix {
			p.withDictionary.raw = appendPrefix(p.withDictionary.raw)
		}
		p.withDictionary.packed = false
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

// appendPrefix appends a prefix that names no file yet.
func appendPrefix(dst []byte) []byte {
	return append(append(append(dst, prefixBefore...), "00000000-0000-0000-0000-000000000000"...), prefixAfter...)
}

// dictionary returns the number of the dictionary, or 0.
func (p *packer) dictionary() uint32 {
	if p.withDictionary == nil {
		return 0
	}
	return p.withDictionary.id
}

// write compresses more of the record.
func (p *packer) write(b []byte) error {
	p.restSize += int64(len(b))
	if p.withDictionary != nil {
		p.withDictionary.raw = append(p.withDictionary.raw, b...)
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

// finish ends the member and returns its position.
func (p *packer) finish() (member, error) {
	if p.withDictionary != nil {
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

// mergeFrame removes the header of the frame that the compressor wrote and keeps its window, so that its blocks follow
// our raw block in our frame. The raw block does not change the later ones, because they refer only to their own
// content.
func (p *packer) mergeFrame() error {
	f := p.out.b[p.body:]
	if len(f) == 0 { // the compressor writes no frame for empty input; a record is never empty
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

// member is a compressed record in a buffer.
type member struct {
	start, end int    // in the buffer
	prefixAt   int    // offset of the prefix from start; -1 if there is none
	restCRC    uint32 // of the part after the prefix
	restShift  uint32 // crcShift of its length
	raw        int64  // length before packing
	kind       Type
	indexEnd   int // the end of its index line in the encoder's index buffer
}

// setPrefix writes the identity of a warcinfo record into b, which is the member, and corrects its checksum.
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
