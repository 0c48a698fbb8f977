package warc

import (
	crand "crypto/rand"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"strconv"
)

// EncoderOptions say how records are packed. They must be the Writer's.
type EncoderOptions struct {
	// Compression of the records. Default Gzip.
	Compression Compression
	// Level of the compressor, 1 (fastest) to 9. Default 1.
	Level int
	// Dictionary that frames of Zstd refer to, in zstd's own form and with a number. It is not changed any more. Default: none.
	Dictionary []byte
}

// WithDefaults returns a copy in which what was zero is filled in.
func (o EncoderOptions) WithDefaults() EncoderOptions {
	if o.Level == 0 {
		o.Level = 1
	}
	return o
}

// Validate tells what is wrong with the options, all of it.
func (o EncoderOptions) Validate() error {
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

// bufferKeep is how much memory an Encoder may hold on to between groups, in bytes. What a larger group needed is given back.
const bufferKeep = 4 << 20

// Encoder packs records into a buffer of its own. One per worker; not safe for concurrent use. It starts no goroutine
// and needs no closing. After the first few groups it allocates nothing.
type Encoder struct {
	p       *packer
	ids     *rand.ChaCha8
	sha     hash.Hash
	sum     [20]byte
	header  []byte
	index   []byte // the beginnings of CDXJ lines, see appendIndex
	scratch []byte
	members []member
	broken  error
}

// NewEncoder makes an Encoder. Its memory is the compressor's (300 KiB for gzip at level 1, 1 MB and more for others) and the buffer for one group.
func NewEncoder(o EncoderOptions) (*Encoder, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p, err := newPacker(o.Compression, o.Level, o.Dictionary)
	if err != nil {
		return nil, err
	}
	e := &Encoder{p: p, sha: sha1.New()}
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails: it ends the process instead
	e.ids = rand.NewChaCha8(seed)
	return e, nil
}

// NewID makes an identity for a record: a random UUID (version 4).
func (e *Encoder) NewID() ID {
	var id ID
	_, _ = e.ids.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Reset forgets the group at hand. Its Group must not be used any more.
func (e *Encoder) Reset() {
	if cap(e.p.out.b) > bufferKeep {
		e.p.out.b = nil
	}
	if cap(e.index) > bufferKeep {
		e.index = nil
	}
	e.p.out.b = e.p.out.b[:0]
	if e.p.late != nil {
		e.p.late.reset()
	}
	e.index = e.index[:0]
	e.members = e.members[:0]
	e.broken = nil
}

// Append packs one record behind those that are there. It borrows all of r, and sets r.ID if it was zero. After an
// error the group is as it was before the call; the error wraps ErrRecord if the record is to blame.
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
	m, err := e.pack(r)
	if err != nil {
		// The compressor writes to memory, so this is a bug of it or ours. The buffer's state is unknown.
		e.broken = fmt.Errorf("warc: packing a record: %w", err)
		return e.broken
	}
	m.kind = r.Type
	if r.Index != nil {
		e.appendIndex(r)
	}
	m.indexEnd = len(e.index)
	e.members = append(e.members, m)
	return nil
}

// measure gives the length of the block, in bytes, and its digest.
func (e *Encoder) measure(r *Record) (size int64, digest *[20]byte) {
	for _, part := range r.Block {
		size += int64(len(part))
	}
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

// pack writes prefix, header, block and the two empty lines after it as one member.
func (e *Encoder) pack(r *Record) (member, error) {
	p := e.p
	p.begin(r.Type != Warcinfo)
	if r.Type == Warcinfo {
		e.scratch = append(e.scratch[:0], versionLine...)
		if err := p.write(e.scratch); err != nil {
			return member{}, err
		}
	}
	if err := p.write(e.header); err != nil {
		return member{}, err
	}
	for _, part := range r.Block {
		if err := p.write(part); err != nil {
			return member{}, err
		}
	}
	e.scratch = append(e.scratch[:0], "\r\n\r\n"...)
	if err := p.write(e.scratch); err != nil {
		return member{}, err
	}
	return p.finish()
}

// appendIndex adds the part of the CDXJ line that is known now; the Writer adds length, offset and file name.
func (e *Encoder) appendIndex(r *Record) {
	e.scratch = appendURI(e.scratch[:0], r.TargetURI)
	c := indexEntry{date: r.Date, uri: e.scratch, status: r.Index.Status, mime: r.Index.MIME}
	if r.Type == Revisit {
		n := len(e.scratch)
		e.scratch = append(e.scratch, "warc/revisit"...)
		c.uri, c.mime = e.scratch[:n], e.scratch[n:]
	}
	if r.PayloadDigest != nil {
		e.header = appendDigest(e.header[:0], r.PayloadDigest)
		c.digest = e.header
	}
	e.index = c.append(e.index)
}

// Pack packs the records for the file that w writes now, while the caller holds no lock. Without a dictionary that is done already, and
// with one Append does it again if the file is another by then.
func (e *Encoder) Pack(w *Writer) {
	if id := w.id.Load(); e.p.late != nil && id != nil {
		e.Group().stamp(*id)
	}
}

// Group gives the records appended since Reset. It borrows the Encoder's memory until Reset or the next Append.
func (e *Encoder) Group() Group { return Group{e} }

// Group is the records of one attempt: they stay together, in this order, in one file.
type Group struct{ e *Encoder }

// Len is the number of records.
func (g Group) Len() int {
	if g.e == nil {
		return 0
	}
	return len(g.e.members)
}

// Size is the length in the file, in bytes.
func (g Group) Size() int64 {
	if g.e == nil {
		return 0
	}
	if l := g.e.p.late; l != nil && !l.packed {
		g.stamp(ID{})
	}
	return int64(len(g.e.p.out.b))
}

// Bytes are the group as it is stored. They name no file's warcinfo record before Append.
func (g Group) Bytes() []byte {
	g.Size() // packs it
	return g.e.p.out.b
}

// Record tells where the i-th record begins, from the first byte of the group, and its length in the file, in bytes.
func (g Group) Record(i int) (offset, length int64) {
	g.Size() // packs it
	m := &g.e.members[i]
	return int64(m.start), int64(m.end - m.start)
}

// stamp names the warcinfo record in all records of the group, and with a dictionary packs them.
func (g Group) stamp(info ID) {
	if l := g.e.p.late; l != nil {
		g.e.p.out.b = l.pack(g.e.p.out.b, g.e.members, info)
		return
	}
	b := g.e.p.out.b
	for i := range g.e.members {
		m := &g.e.members[i]
		m.setPrefix(b[m.start:m.end], g.e.p.compression, info)
	}
}

// appendInt is strconv.AppendInt in base ten.
func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }
