package warc

import (
	crand "crypto/rand"
	"crypto/sha1"
	"fmt"
	"hash"
	"math/rand/v2"

	"orbweaver/internal/invariants"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/header"
	"orbweaver/warc/member"
)

// EncoderOptions configure the compression of records. They must be equal to those of the Writer.
type EncoderOptions struct {
	// Compression of the records. Default Gzip.
	Compression Compression
	// Level of the compressor, 1 (fastest) to 9. Default 1.
	Level int
	// Dictionary for the frames of Zstd, in zstd format and with a number. It must not be changed. Default: none.
	Dictionary []byte
	// Scratch gets the middle of a record with a Source, so that memory is bounded. It belongs to the Encoder. Default:
	// groups stay in memory.
	Scratch member.Scratch
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o EncoderOptions) WithDefaults() EncoderOptions {
	if o.Level == 0 {
		o.Level = 1
	}
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o EncoderOptions) Validate() error {
	return o.packer().Validate()
}

// packer returns the options of the compressor.
func (o EncoderOptions) packer() member.PackerOptions {
	prefix := prefixOf(ID{})
	return member.PackerOptions{
		Compression: o.Compression, Level: o.Level, Dictionary: o.Dictionary, Prefix: prefix[:], Scratch: o.Scratch,
	}
}

// bufferKeep is the most memory in bytes that an Encoder keeps for index lines between groups.
const bufferKeep = 4 << 20

// Encoder compresses records into its own buffer. It is not safe for concurrent use; each worker has one. It starts no
// goroutine and needs no Close. After the first few groups it does not allocate.
type Encoder struct {
	packer  *member.Packer
	ids     *rand.ChaCha8
	sha     hash.Hash
	sum     [20]byte
	header  []byte
	index   []byte // the first parts of CDXJ lines, see appendIndex
	scratch []byte
	records []recordMark
	prefix  [prefixLen]byte // the last one stamped
	broken  error
}

// recordMark belongs to a record of the group, the member with the same index.
type recordMark struct {
	kind     Type
	indexEnd int // the end of its index line in the index
}

// NewEncoder returns an Encoder. Its memory is that of the compressor (300 KiB for gzip at level 1, 1 MB and more for
// others) and the buffer for one group.
func NewEncoder(o EncoderOptions) (*Encoder, error) {
	p, err := member.NewPacker(o.WithDefaults().packer())
	if err != nil {
		return nil, err
	}
	e := &Encoder{packer: p, sha: sha1.New()}
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails: it ends the process instead
	e.ids = rand.NewChaCha8(seed)
	return e, nil
}

// NewID returns a new record identity: a random UUID (version 4).
func (e *Encoder) NewID() ID {
	var id ID
	_, _ = e.ids.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Reset removes the current group. Its Group must not be used any more.
func (e *Encoder) Reset() {
	if invariants.Mangle(e.index); cap(e.index) > bufferKeep {
		e.index = nil
	}
	e.packer.Reset()
	e.index = e.index[:0]
	e.records = e.records[:0]
	e.broken = nil
}

// Append compresses a record and appends it to the group. It borrows all of r, and sets r.ID if it is zero; a Source is
// borrowed until Reset. If the record is invalid, the error wraps ErrRecord, and the group is unchanged. After any
// other error only Reset may be called.
func (e *Encoder) Append(r *Record) error {
	if e.broken != nil {
		return e.broken
	}
	if r.ID.IsZero() {
		r.ID = e.NewID()
	}
	size, digest := e.measure(r)
	if size > BlockMax {
		return fmt.Errorf("%w: a block of %d bytes, at most %d", ErrRecord, size, BlockMax)
	}
	var err error
	if e.header, err = r.appendHeader(e.header[:0], size, digest); err != nil {
		return err
	}
	if r.Source.Size > 0 && (len(e.records) > 0 || r.BlockDigest == nil) {
		return fmt.Errorf("%w: a source without a digest, or not in the first record of its group", ErrRecord)
	}
	if err := e.pack(r); err != nil {
		// The source or the scratch failed. The state of the buffer is unknown.
		e.broken = fmt.Errorf("warc: packing a record: %w", err)
		return e.broken
	}
	if r.Index != nil {
		e.appendIndex(r)
	}
	e.records = append(e.records, recordMark{kind: r.Type, indexEnd: len(e.index)})
	return nil
}

// measure returns the length of the block in bytes, and its digest.
func (e *Encoder) measure(r *Record) (size int64, digest *[20]byte) {
	for _, part := range r.Block {
		size += int64(len(part))
	}
	size += r.Source.Size
	if r.BlockDigest != nil {
		return size, r.BlockDigest
	}
	e.sha.Reset()
	for _, part := range r.Block {
		e.sha.Write(part)
	}
	e.sha.Sum(e.sum[:0])
	return size, &e.sum
}

// pack writes prefix, header, block and the two empty lines as a member.
func (e *Encoder) pack(r *Record) error {
	p := e.packer
	p.Begin(r.Type != Warcinfo)
	if r.Type == Warcinfo {
		e.scratch = append(e.scratch[:0], versionLine...)
		if err := p.Write(e.scratch); err != nil {
			return err
		}
	}
	if err := p.Write(e.header); err != nil {
		return err
	}
	for _, part := range r.Block {
		if err := p.Write(part); err != nil {
			return err
		}
	}
	if r.Source.Size > 0 {
		if err := p.WriteFrom(r.Source.From, r.Source.Size); err != nil {
			return err
		}
	}
	e.scratch = append(e.scratch[:0], "\r\n\r\n"...)
	if err := p.Write(e.scratch); err != nil {
		return err
	}
	return p.End()
}

// appendIndex appends the part of the CDXJ line that is already known. The Writer adds length, offset and file name.
func (e *Encoder) appendIndex(r *Record) {
	e.scratch = header.AppendURI(e.scratch[:0], r.TargetURI)
	c := cdxj.Entry{Date: r.Date, URI: e.scratch, Status: r.Index.Status, MIME: r.Index.MIME,
		SimHash: r.Index.SimHash, Render: r.Index.Render}
	if r.Type == Revisit {
		n := len(e.scratch)
		e.scratch = append(e.scratch, "warc/revisit"...)
		c.URI, c.MIME = e.scratch[:n], e.scratch[n:]
	}
	if r.PayloadDigest != nil {
		e.header = header.AppendDigest(e.header[:0], r.PayloadDigest)
		c.Digest = e.header
	}
	e.index = c.Append(e.index)
}

// Pack compresses the records for the current file of w, without a lock. It does nothing if there is no dictionary. If
// the file changes afterwards, Append compresses them again.
func (e *Encoder) Pack(w *Writer) error {
	if id := w.id.Load(); id != nil && e.packer.Late() {
		return e.Group().stamp(*id)
	}
	return nil
}

// Group returns the records appended since Reset. They use the memory of the Encoder until Reset or the next Append.
func (e *Encoder) Group() Group { return Group{e: e, records: len(e.records)} }

// Group is the records of an attempt. They stay together, in this order, in one file. The zero Group has none.
type Group struct {
	e       *Encoder
	records int
}

// Len returns the number of records.
func (g Group) Len() int { return g.records }

// Size returns the length in the file, in bytes. It is known before Writer.Append; with a dictionary only after Ready.
func (g Group) Size() int64 {
	out, _ := g.output() // Ready has reported the error
	return out.Size()
}

// output returns the group in the form of the file.
func (g Group) output() (member.Output, error) {
	if g.records == 0 {
		return member.Output{}, nil
	}
	return g.e.packer.Output() //nolint:wrapcheck // of a package below this one
}

// Bytes returns the group in the form of the file. Before Writer.Append it contains no identity of a warcinfo record.
// The records must have no Source.
func (g Group) Bytes() []byte {
	out, err := g.output()
	if err != nil || out.MiddleSize > 0 {
		panic("BUG: warc: Bytes of a group that is not in memory")
	}
	return out.Tail
}

// Record returns the offset of record i from the start of the group, and its length in the file, in bytes.
func (g Group) Record(i int) (offset, length int64) {
	g.Size() // compresses it if needed
	m := g.e.packer.Member(i)
	return m.Start, m.End - m.Start
}

// stamp writes the identity of the warcinfo record into all records of the group, and with a dictionary compresses
// them.
func (g Group) stamp(info ID) error {
	g.e.prefix = prefixOf(info)
	return g.e.packer.Stamp(g.e.prefix[:]) //nolint:wrapcheck // of a package below this one
}
