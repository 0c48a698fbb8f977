package member

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"orbweaver/warc/deflate"
)

// PackerOptions configure a Packer.
type PackerOptions struct {
	// Compression of the members. Default Gzip.
	Compression Compression
	// Level of the compressor, 1 (fastest) to 9.
	Level int
	// Dictionary for the frames of Zstd, in zstd format and with a number. It must not be changed. Default: none.
	Dictionary []byte
	// Prefix is the text with which a member starts until Stamp replaces it. It must not be changed.
	Prefix []byte
	// Scratch gets the middle of a member that is too large for memory. Default: members stay in memory.
	Scratch Scratch
}

// Validate returns all faults of o as a joined error, or nil.
func (o PackerOptions) Validate() error {
	var faults []error
	if o.Compression > None {
		faults = append(faults, fmt.Errorf("warc: unknown compression %d", o.Compression))
	}
	if o.Level < 1 || o.Level > 9 {
		faults = append(faults, fmt.Errorf("warc: level %d is not within 1..9", o.Level))
	}
	if o.Dictionary != nil {
		if o.Compression != Zstd {
			faults = append(faults, fmt.Errorf("warc: a dictionary is for zstd, not for %s", o.Compression))
		}
		if _, err := dictionaryID(o.Dictionary); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// compressor is the input side of a compressor of the library.
type compressor interface {
	io.Writer
	Reset(io.Writer)
	Close() error
}

// method is how a Packer compresses.
type method uint8

const (
	fastGzip       method = iota // package deflate, for level 1
	libraryGzip                  // levels above 1
	zstdFrames                   // without a dictionary
	zstdDictionary               // late: see dictionaryPacker
	stored                       // not at all
)

// bufferKeep is the most memory in bytes that a buffer keeps between groups.
const bufferKeep = 4 << 20

// Packer compresses texts to members, in its own buffer. The first part of each, the prefix, stays uncompressed, so
// that it can be changed later without compressing again: it is a stored block before the deflate stream, or a raw
// block before those of zstd. It is not safe for concurrent use.
type Packer struct {
	compression Compression
	method      method
	initial     []byte // the prefix before Stamp
	out         sink
	members     []Member
	fast        *deflate.Encoder // of fastGzip
	library     compressor       // of libraryGzip and zstdFrames
	dictionary  dictionaryPacker // of zstdDictionary

	start    int64 // of the current member, in the output
	prefixAt int   // of the prefix, from start
	body     int   // of the compressor's own output, in out.b
	merged   bool  // mergeFrame has been called for the current member
	prefix   int   // length of the prefix; 0 if there is none
	restCRC  uint32
	restSize int64
}

// Member is a compressed record in the buffer of a Packer.
type Member struct {
	// Start and End are its place in the output. With a dictionary they are known after Stamp.
	Start, End int64
	// Raw is its length in bytes before compression.
	Raw int64

	prefixAt  int    // offset of the prefix from Start; -1 if there is none
	restCRC   uint32 // of the part after the prefix
	restShift uint32 // crcShift of its length
}

// NewPacker returns a Packer.
func NewPacker(o PackerOptions) (*Packer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &Packer{compression: o.Compression, initial: o.Prefix, out: sink{scratch: o.Scratch, movable: o.Scratch != nil}}
	var err error
	switch {
	case o.Dictionary != nil:
		p.method = zstdDictionary
		if err := p.dictionary.init(o.Dictionary, o.Level); err != nil {
			return nil, err
		}
	case o.Compression == None:
		p.method = stored
	case o.Compression == Gzip && o.Level == 1:
		p.method, p.fast = fastGzip, deflate.NewEncoder()
	case o.Compression == Gzip:
		p.method = libraryGzip
		p.library, err = flate.NewWriter(&p.out, o.Level)
	default:
		p.method = zstdFrames
		p.library, err = zstd.NewWriter(&p.out, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(o.Level)),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(false))
	}
	if err != nil {
		return nil, fmt.Errorf("warc: compressor: %w", err)
	}
	return p, nil
}

// Reset removes all members.
func (p *Packer) Reset() {
	p.out.reset()
	p.members = p.members[:0]
	p.dictionary.reset()
}

// Compression returns the form of the members.
func (p *Packer) Compression() Compression { return p.compression }

// DictionaryID returns the number of the dictionary, or 0.
func (p *Packer) DictionaryID() uint32 { return p.dictionary.id }

// Front returns what must stand at the start of a file: the frame with the dictionary, or nothing.
func (p *Packer) Front() []byte { return p.dictionary.frame }

// Len returns the number of members.
func (p *Packer) Len() int { return len(p.members) }

// Member returns member i.
func (p *Packer) Member(i int) *Member { return &p.members[i] }

// Output returns the members, in the form of the file. Before Stamp they have the Prefix of the options.
func (p *Packer) Output() (Output, error) {
	if p.method == zstdDictionary && !p.dictionary.packed {
		if err := p.Stamp(p.initial); err != nil {
			return Output{}, err
		}
	}
	return p.out.output(), nil
}

// Late reports whether Stamp compresses the members, because there is a dictionary.
func (p *Packer) Late() bool { return p.method == zstdDictionary }

// Stamp writes a prefix into all members that have one. It must be as long as that of the options. An error comes from
// a source of the members or from the Scratch, and Stamp may be called again.
func (p *Packer) Stamp(prefix []byte) error {
	if p.method == zstdDictionary {
		return p.dictionary.pack(&p.out, p.members, prefix)
	}
	crc := uint32(0)
	if p.compression == Gzip {
		crc = crc32.ChecksumIEEE(prefix)
	}
	for i := range p.members {
		p.stamp(&p.members[i], prefix, crc)
	}
	return nil
}

// stamp writes a prefix with this checksum into a member, and corrects the checksum of the member.
func (p *Packer) stamp(m *Member, prefix []byte, crc uint32) {
	if m.prefixAt < 0 {
		return
	}
	copy(p.out.b[p.out.place(m.Start)+m.prefixAt:], prefix)
	if p.compression == Gzip {
		binary.LittleEndian.PutUint32(p.out.b[p.out.place(m.End)-8:], crcJoin(crc, m.restCRC, m.restShift))
	}
}

// gzipHeader has no time and no name; its flags are "fastest" and "unknown system".
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"

// Parts of a zstd frame.
const (
	zstdHeader = 6 // magic, descriptor, window
	zstdMagic  = "\x28\xb5\x2f\xfd"
)

// Begin starts a member, with the prefix or without one.
func (p *Packer) Begin(prefixed bool) {
	p.start, p.merged = p.out.size(), false
	p.prefix, p.restCRC, p.restSize = 0, 0, 0
	var prefix []byte
	if prefixed {
		prefix = p.initial
		p.prefix = len(prefix)
	}
	n := p.prefix
	switch p.method {
	case zstdDictionary:
		p.dictionary.begin(prefix)
		return
	case fastGzip, libraryGzip:
		p.out.b = append(p.out.b, gzipHeader...)
		if prefixed { // a stored block: type, length, its complement
			p.out.b = append(p.out.b, 0, byte(n), byte(n>>8), byte(^n), byte(^n>>8))
		}
	case zstdFrames:
		if prefixed { // magic, descriptor, window; then a raw block: type and length
			p.out.b = append(p.out.b, zstdMagic+"\x00\x00"...)
			p.out.b = append(p.out.b, byte(n<<3), byte(n<<3>>8), byte(n<<3>>16))
		}
	}
	p.prefixAt = int(p.out.size() - p.start)
	p.out.b = append(p.out.b, prefix...)
	p.body = len(p.out.b)
	switch p.method {
	case fastGzip:
		p.fast.Reset()
	case libraryGzip, zstdFrames:
		p.library.Reset(&p.out)
	}
}

// Write compresses more of the member.
func (p *Packer) Write(b []byte) error {
	p.restSize += int64(len(b))
	switch p.method {
	case fastGzip:
		p.restCRC = crc32.Update(p.restCRC, crc32.IEEETable, b)
		p.out.b = p.fast.Append(p.out.b, b)
		return nil
	case zstdDictionary:
		p.dictionary.raw = append(p.dictionary.raw, b...)
		return nil
	case stored:
		p.out.b = append(p.out.b, b...)
		return nil
	case libraryGzip:
		p.restCRC = crc32.Update(p.restCRC, crc32.IEEETable, b)
	}
	_, err := p.library.Write(b)
	return err
}

// WriteFrom compresses size bytes of r, and keeps little of the result in memory: the rest is in the Scratch. It must
// be in the first member, and r must be readable until Reset. After an error the buffer is damaged, and only Reset may
// be called.
func (p *Packer) WriteFrom(r io.ReaderAt, size int64) error {
	if len(p.members) > 0 {
		return errNotFirst
	}
	if p.method == zstdDictionary {
		p.restSize += size
		p.dictionary.addSource(r, size)
		return nil
	}
	return eachPiece(r, size, func(piece []byte) error {
		if err := p.Write(piece); err != nil {
			return err
		}
		if len(p.out.b) < scratchFrom {
			return nil
		}
		if err := p.mergeFrame(); err != nil {
			return err
		}
		return p.out.moveOut()
	})
}

// errNotFirst is a bug of the caller.
var errNotFirst = errors.New("warc: only the first record of a group may have a source")

// End ends the member. After an error the buffer is damaged, and only Reset may be called.
func (p *Packer) End() error {
	m := Member{Raw: int64(p.prefix) + p.restSize, prefixAt: -1}
	switch p.method {
	case zstdDictionary:
		if p.prefix > 0 {
			m.prefixAt = 0
		}
		p.members = append(p.members, m)
		return nil
	case fastGzip:
		p.out.b = p.fast.Finish(p.out.b)
	case libraryGzip, zstdFrames:
		if err := p.library.Close(); err != nil {
			return err
		}
	}
	if err := p.mergeFrame(); err != nil {
		return err
	}
	if p.prefix > 0 {
		m.prefixAt = p.prefixAt
	}
	crc := uint32(0)
	if p.compression == Gzip {
		crc = crc32.ChecksumIEEE(p.initial)
		m.restCRC, m.restShift = p.restCRC, crcShift(p.restSize)
		p.out.b = binary.LittleEndian.AppendUint32(p.out.b, p.restCRC)
		p.out.b = binary.LittleEndian.AppendUint32(p.out.b, uint32(m.Raw))
	}
	m.Start, m.End = p.start, p.out.size()
	p.stamp(&m, p.initial, crc)
	p.members = append(p.members, m)
	return nil
}

// mergeFrame removes the header of the frame that the compressor wrote and keeps its window, so that its blocks follow
// our raw block in our frame. The raw block does not change the later ones, because they refer only to their own
// content. It does nothing the second time, and for a member that needs it not.
func (p *Packer) mergeFrame() error {
	if p.method != zstdFrames || p.prefix == 0 || p.merged {
		return nil
	}
	p.merged = true
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
	p.out.b[p.out.place(p.start)+5] = f[5]
	n := copy(f, f[header:])
	p.out.b = p.out.b[:p.body+n]
	return nil
}
