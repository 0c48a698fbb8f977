package member

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"orbweaver/warc/header"
)

// Limits for foreign files, in bytes.
const (
	windowMax     = 64 << 20 // of a zstd frame
	dictionaryMax = 16 << 20 // of the dictionary at the start of a .warc.zst
	sourceBuffer  = 64 << 10
)

// gzipMagic starts a gzip member with deflate, the only method in use.
const gzipMagic = "\x1f\x8b\x08"

// counter counts what has been read. It begins with reads of few bytes, each of twice as many as the one before.
type counter struct {
	r    io.Reader
	n    int64
	most int
}

func (c *counter) Read(p []byte) (int, error) {
	most := min(len(p), c.most)
	c.most = min(2*c.most, wholeSourceMax)
	n, err := c.r.Read(p[:most])
	c.n += int64(n)
	return n, err
}

// ReaderOptions say what is known of a file.
type ReaderOptions struct {
	// Base is the offset of the first byte in the file, for readers that start in the middle.
	Base int64
	// Dictionary of the file, for readers that start in its middle. Default: the one at the start of the file, if any.
	Dictionary []byte
	// Form is the compression of the file. Default nil: the first bytes decide.
	Form *Compression
	// Unbounded allows any number of bytes to be unpacked: see UnpackedFree. It is for files of this program.
	Unbounded bool
	// LengthAt returns the length in bytes of the member at an offset, as an index has it, or 0. It may be wrong. Of a
	// gzip member with a length, only the start is decompressed at first: see SkipContent. Default: none is known.
	LengthAt func(offset int64) int64
	// Start is how many bytes of the content of a gzip member are wanted: no more are decompressed until more are read,
	// and the checksum is not verified before. Default 0: all.
	Start int
	// FirstRead is how many bytes the first read takes from the file, for readers of a single member. Each further read
	// takes twice as many. Default: as many as there is room for.
	FirstRead int
}

func noLength(int64) int64 { return 0 }

// Reader reads a file by members: Next starts a member, and Read returns its content and io.EOF at its end. A plain
// file is one member. The zero Reader can be used after Reset.
type Reader struct {
	in    counter
	br    *bufio.Reader
	kind  Compression
	known bool         // whether kind is known
	form  *Compression // the given form, or nil to detect it

	gz    *gzip.Reader
	whole wholeMember
	zs    *zstd.Decoder
	frame frameReader

	dictionary []byte // of the file; nil if it has none or it was not read yet
	decodes    []byte // the dictionary of zs

	seek    io.Seeker // nil if the file cannot seek
	origin  int64     // what seek calls the offset 0
	rewound int64     // total bytes of all rewinds

	unpacked  int64 // bytes of content, and what Charge has added
	furthest  int64 // position in the file that was read
	unbounded bool
	// fillsAhead is true if more may be read than a member needs: of a file that can seek, all of whose members are read.
	fillsAhead bool

	start int64 // of the member at hand
	live  bool  // in a member
	bad   bool  // the member at hand is damaged
}

// Reset starts with another file and keeps the memory.
func (z *Reader) Reset(r io.Reader, o ReaderOptions) {
	base := o.Base
	z.dictionary, z.form = o.Dictionary, o.Form
	if z.whole.lengthAt = o.LengthAt; o.LengthAt == nil {
		z.whole.lengthAt = noLength
	}
	z.whole.start = o.Start
	z.in = counter{r: r, n: base, most: wholeSourceMax}
	if o.FirstRead > 0 {
		z.in.most = o.FirstRead
	}
	if z.br == nil {
		z.br = bufio.NewReaderSize(&z.in, sourceBuffer)
	} else {
		z.br.Reset(&z.in)
	}
	z.known, z.live, z.bad, z.start = false, false, false, base
	z.unpacked, z.furthest, z.unbounded = -base*UnpackedMost, base, o.Unbounded
	z.seek, z.origin, z.rewound = nil, 0, 0
	if seek, ok := r.(io.Seeker); ok {
		if at, err := seek.Seek(0, io.SeekCurrent); err == nil {
			z.seek, z.origin = seek, at-base
		}
	}
	z.fillsAhead = z.seek != nil && o.FirstRead == 0
}

// Close frees the decoder. The Reader may be used again.
func (z *Reader) Close() {
	if z.zs != nil {
		z.zs.Close()
		z.zs = nil
	}
}

// Offset returns the position in the file after the last used byte.
func (z *Reader) Offset() int64 { return z.in.n - int64(z.br.Buffered()) }

// Start returns the position of the current member in the file.
func (z *Reader) Start() int64 { return z.start }

// Compression returns the form of the file; ok is false until it is known.
func (z *Reader) Compression() (form Compression, ok bool) { return z.kind, z.known }

// Plain reports whether the file has no compression, so that it is one member.
func (z *Reader) Plain() bool { return z.kind == None }

// Inside reports whether the current member may have more content.
func (z *Reader) Inside() bool { return z.live }

// Damaged reports whether the current member is damaged, so that Resync must be called before Next.
func (z *Reader) Damaged() bool { return z.bad }

// CanSeek reports whether Resync can go back in the file.
func (z *Reader) CanSeek() bool { return z.seek != nil }

// detect detects the form of the file.
func (z *Reader) detect() error {
	b, err := z.br.Peek(5)
	if z.form != nil && len(b) > 0 {
		z.kind, z.known = *z.form, true
		return nil
	}
	switch {
	case bytes.HasPrefix(b, []byte(gzipMagic)):
		z.kind = Gzip
	case bytes.HasPrefix(b, []byte(zstdMagic)) || isSkippable(b):
		z.kind = Zstd
	case len(b) == 0 && errors.Is(err, io.EOF):
		return io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case strings.EqualFold(string(b), "WARC/"), isARC(z.br):
		z.kind = None
	default:
		return fmt.Errorf("%w: the file begins with %q", ErrNotWARC, b)
	}
	z.known = true
	return nil
}

// headerMost is how long the first line of a record of an ARC file may be, in bytes.
const headerMost = 4 << 10

// isARC reports whether a record of an ARC file begins here.
func isARC(r *bufio.Reader) bool {
	b, _ := r.Peek(headerMost)
	line, _, _ := bytes.Cut(b, []byte("\n"))
	_, ok := header.ParseARC(bytes.TrimSuffix(line, []byte("\r")))
	return ok || bytes.HasPrefix(b, []byte(header.ARCMagic))
}

// Next starts the next member. io.EOF means that the file ended after a complete member.
func (z *Reader) Next() (err error) {
	if !z.known {
		if err := z.detect(); err != nil {
			return err
		}
	}
	switch z.kind {
	case Gzip:
		err = z.nextGzip()
	case Zstd:
		err = z.nextZstd()
	default:
		z.start = z.Offset()
		_, err = z.br.Peek(1)
	}
	z.live = err == nil
	z.bad = err != nil && err != io.EOF
	return err
}

func (z *Reader) nextGzip() error {
	z.start = z.Offset()
	b, err := z.br.Peek(len(gzipMagic))
	switch {
	case len(b) == 0:
		return err
	case len(b) < len(gzipMagic) && errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %d bytes behind the last member", ErrTruncated, len(b))
	case err != nil:
		return err
	case string(b) != gzipMagic:
		return fmt.Errorf("%w: % x where a member should begin", ErrCompression, b)
	}
	if isWhole, err := z.whole.read(z); isWhole || err != nil {
		return err
	}
	return openStream(z)
}

// openStream decompresses the member at the position of z in pieces.
func openStream(z *Reader) (err error) {
	if z.gz == nil {
		z.gz, err = gzip.NewReader(z.br)
	} else {
		err = z.gz.Reset(z.br)
	}
	if err != nil {
		if z.gz != nil && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return z.damage(err)
	}
	z.gz.Multistream(false)
	return nil
}

func (z *Reader) nextZstd() error {
	for {
		z.start = z.Offset()
		b, err := z.br.Peek(4)
		switch {
		case len(b) == 0:
			return err
		case len(b) < 4 && errors.Is(err, io.EOF):
			return fmt.Errorf("%w: %d bytes behind the last frame", ErrTruncated, len(b))
		case err != nil:
			return err
		}
		if isSkippable(b) {
			if err := z.skippable(); err != nil {
				return err
			}
			continue
		}
		if string(b) != zstdMagic {
			return fmt.Errorf("%w: % x where a frame should begin", ErrCompression, b)
		}
		if z.zs == nil || !same(z.dictionary, z.decodes) {
			if err := z.newDecoder(); err != nil {
				return err
			}
		}
		z.frame = frameReader{br: z.br}
		if err := z.zs.Reset(&z.frame); err != nil {
			return z.damage(err)
		}
		return nil
	}
}

// same reports whether two dictionaries are the same slice. They are large and never change, so their bytes are not
// compared.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// newDecoder makes a decoder with the dictionary of the file.
func (z *Reader) newDecoder() error {
	z.Close()
	o := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowMax),
	}
	if z.dictionary != nil {
		o = append(o, zstd.WithDecoderDicts(z.dictionary))
	}
	zs, err := zstd.NewReader(nil, o...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCompression, err)
	}
	z.zs, z.decodes = zs, z.dictionary
	return nil
}

// skippable skips a frame without content. The first frame of a .warc.zst may contain the dictionary of all others.
func (z *Reader) skippable() error {
	b, err := z.br.Peek(8)
	if err != nil {
		return z.damage(io.ErrUnexpectedEOF)
	}
	isDictionary := string(b[:4]) == dictionaryMagic && z.Offset() == 0
	size := int64(b[4]) | int64(b[5])<<8 | int64(b[6])<<16 | int64(b[7])<<24
	_, _ = z.br.Discard(8)
	if !isDictionary {
		if _, err := io.CopyN(io.Discard, z.br, size); err != nil {
			return z.damage(err)
		}
		return nil
	}
	if size > dictionaryMax {
		return fmt.Errorf("%w: dictionary of %d bytes", ErrTooLarge, size)
	}
	dictionary, err := io.ReadAll(io.LimitReader(z.br, size))
	if err != nil || int64(len(dictionary)) < size {
		return z.damage(io.ErrUnexpectedEOF)
	}
	z.dictionary, err = unpackDictionary(dictionary)
	return err
}

// isSkippable reports whether b starts a zstd frame without content.
func isSkippable(b []byte) bool {
	return len(b) >= 4 && b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18
}

// Read returns content of the current member, io.EOF at its end.
func (z *Reader) Read(p []byte) (n int, err error) {
	if !z.live {
		return 0, io.EOF
	}
	var r io.Reader = z.br
	if z.kind == Gzip && z.whole.isIn && len(z.whole.unread) == 0 && z.whole.length != 0 {
		if err := z.whole.complete(z); err != nil {
			return 0, z.damage(err)
		}
	}
	switch {
	case z.kind == Gzip && z.whole.isIn:
		r = &z.whole
	case z.kind == Gzip:
		r = z.gz
	case z.kind == Zstd:
		r = z.zs
	}
	n, err = r.Read(p)
	if charged := z.Charge(n); charged != nil && !z.Plain() {
		z.live, z.bad = false, true
		return n, charged
	}
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, z.damage(err)
	case z.kind == Zstd && (z.frame.state < 2 || z.frame.remaining > 0):
		return n, z.damage(io.ErrUnexpectedEOF) // the decoder treats some torn headers as an end
	}
	z.live = false
	return n, io.EOF
}

// damage classifies an error of a decoder: end of file, error of the disk, or bad bytes.
func (z *Reader) damage(err error) error {
	z.live, z.bad = false, true
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file ends in a member", ErrTruncated)
	case z.kind == None:
		return err
	}
	if _, peek := z.br.Peek(1); peek != nil && !errors.Is(peek, io.EOF) {
		return peek // the disk, not the bytes
	}
	return fmt.Errorf("%w: %w", ErrCompression, err)
}

// Suspect marks the zstd frame at start as damaged, although the decoder accepted it: without a checksum it may have
// included later frames. The next search starts inside it. It returns false and does nothing if the search cannot go
// back or need not.
func (z *Reader) Suspect(start int64) bool {
	if z.kind != Zstd || z.seek == nil {
		return false
	}
	z.start, z.live, z.bad = start, false, true
	return true
}

// Resync searches forward from a damaged member to the next possible start of one. It returns io.EOF if there is none.
func (z *Reader) Resync() error {
	magic := gzipMagic
	if z.kind == Zstd {
		magic = zstdMagic
	}
	z.live, z.bad = false, false
	z.whole.isGuess = true
	z.rewind()
	if z.Offset() == z.start {
		_, _ = z.br.Discard(1) // not the same position again
	}
	for {
		b, err := z.br.Peek(sourceBuffer)
		if i := bytes.Index(b, []byte(magic)); i >= 0 {
			_, _ = z.br.Discard(i)
			return nil
		}
		if err != nil {
			_, _ = z.br.Discard(len(b))
			return err
		}
		_, _ = z.br.Discard(len(b) - len(magic) + 1)
	}
}

// GoBack reports whether so many bytes may be searched, and read again: whether they are in the budget of rewind.
func GoBack(z *Reader, cost int64) bool {
	if z.rewound+cost > rewindFree+z.Offset() {
		return false
	}
	z.rewound += cost
	return true
}

// Search returns the plain file of z and what it calls the offset 0. ok is false if the file cannot be read at any
// place.
func Search(z *Reader) (file io.ReaderAt, origin int64, ok bool) {
	file, ok = z.in.r.(io.ReaderAt)
	return file, z.origin, ok && z.Plain() && z.seek != nil
}

// MoveTo goes to a place of a plain file that can seek.
func MoveTo(z *Reader, offset int64) bool {
	if _, err := z.seek.Seek(z.origin+offset, io.SeekStart); err != nil {
		return false
	}
	z.in.n, z.live = offset, true
	z.br.Reset(&z.in)
	return true
}

// rewindFree is the number of bytes that a reader may go back in any case; beyond it, as many as it has read.
const rewindFree = 16 << 20

// rewind goes back to the position after the start of the damaged member, because the bytes after it may contain valid
// members. The budget keeps the work linear in the size of the file.
func (z *Reader) rewind() {
	back := z.Offset() - z.start - 1
	cost := back + sourceBuffer
	if z.seek == nil || back <= 0 || !GoBack(z, cost) {
		return
	}
	if _, err := z.seek.Seek(z.origin+z.start+1, io.SeekStart); err != nil {
		return // then the search continues from here
	}
	z.in.n = z.start + 1
	if z.br.Size() > sourceBuffer {
		z.br = bufio.NewReaderSize(&z.in, sourceBuffer) // another rewind reads again what is in the buffer
	} else {
		z.br.Reset(&z.in)
	}
}
