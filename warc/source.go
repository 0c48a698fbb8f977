package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Limits of what a foreign file may ask of us, in bytes.
const (
	windowMax     = 64 << 20 // of a zstd frame
	dictionaryMax = 16 << 20 // of the dictionary a .warc.zst may begin with
	sourceBuffer  = 64 << 10
)

// gzipMagic begins a gzip member that is deflated, as all are.
const gzipMagic = "\x1f\x8b\x08"

// counter counts what has been read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// source reads a file member by member: next begins one, Read gives its content and io.EOF at its end. A plain file is
// one member.
type source struct {
	in    counter
	br    *bufio.Reader
	kind  Compression
	known bool         // kind is
	form  *Compression // what it is taken for, whatever it begins with; nil to find out

	gz    *gzip.Reader
	zs    *zstd.Decoder
	frame frameReader

	dictionary []byte // of the file, nil if it has none or it has not been met yet
	decodes    []byte // the one that zs knows

	seek    io.Seeker // the file, if it can go back
	origin  int64     // what seek calls the offset 0
	rewound int64     // bytes gone back so far

	start int64 // of the member at hand
	live  bool  // in a member
	bad   bool  // the member at hand is damaged: resync before next
}

// reset starts over with another file whose first byte is at offset base.
func (s *source) reset(r io.Reader, base int64, dictionary []byte) {
	s.dictionary = dictionary
	s.in = counter{r: r, n: base}
	if s.br == nil {
		s.br = bufio.NewReaderSize(&s.in, sourceBuffer)
	} else {
		s.br.Reset(&s.in)
	}
	s.known, s.live, s.bad, s.start = false, false, false, base
	s.seek, s.origin, s.rewound = nil, 0, 0
	if seek, ok := r.(io.Seeker); ok {
		if at, err := seek.Seek(0, io.SeekCurrent); err == nil {
			s.seek, s.origin = seek, at-base
		}
	}
}

// close lets go of the decoder's memory.
func (s *source) close() {
	if s.zs != nil {
		s.zs.Close()
		s.zs = nil
	}
}

// offset is the place in the file behind the last byte used.
func (s *source) offset() int64 { return s.in.n - int64(s.br.Buffered()) }

// detect finds out the form of the file.
func (s *source) detect() error {
	b, err := s.br.Peek(5)
	if s.form != nil && len(b) > 0 {
		s.kind, s.known = *s.form, true
		return nil
	}
	switch {
	case bytes.HasPrefix(b, []byte(gzipMagic)):
		s.kind = Gzip
	case bytes.HasPrefix(b, []byte(zstdMagic)) || isSkippable(b):
		s.kind = Zstd
	case len(b) == 0 && errors.Is(err, io.EOF):
		return io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case bytes.HasPrefix(b, []byte("WARC/")):
		s.kind = None
	default:
		return fmt.Errorf("%w: the file begins with %q", ErrNotWARC, b)
	}
	s.known = true
	return nil
}

// next begins the next member. io.EOF means that there is none and the file ended where a member may end.
func (s *source) next() (err error) {
	if !s.known {
		if err := s.detect(); err != nil {
			return err
		}
	}
	switch s.kind {
	case Gzip:
		err = s.nextGzip()
	case Zstd:
		err = s.nextZstd()
	default:
		s.start = s.offset()
		_, err = s.br.Peek(1)
	}
	s.live = err == nil
	s.bad = err != nil && err != io.EOF
	return err
}

func (s *source) nextGzip() error {
	s.start = s.offset()
	b, err := s.br.Peek(len(gzipMagic))
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
	if s.gz == nil {
		s.gz, err = gzip.NewReader(s.br)
	} else {
		err = s.gz.Reset(s.br)
	}
	if err != nil {
		if s.gz != nil && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return s.damage(err)
	}
	s.gz.Multistream(false)
	return nil
}

func (s *source) nextZstd() error {
	for {
		s.start = s.offset()
		b, err := s.br.Peek(4)
		switch {
		case len(b) == 0:
			return err
		case len(b) < 4 && errors.Is(err, io.EOF):
			return fmt.Errorf("%w: %d bytes behind the last frame", ErrTruncated, len(b))
		case err != nil:
			return err
		}
		if isSkippable(b) {
			if err := s.skippable(); err != nil {
				return err
			}
			continue
		}
		if string(b) != zstdMagic {
			return fmt.Errorf("%w: % x where a frame should begin", ErrCompression, b)
		}
		if s.zs == nil || !same(s.dictionary, s.decodes) {
			if err := s.newDecoder(); err != nil {
				return err
			}
		}
		s.frame = frameReader{br: s.br}
		if err := s.zs.Reset(&s.frame); err != nil {
			return s.damage(err)
		}
		return nil
	}
}

// same tells whether two dictionaries are the same bytes in memory: they are large, and never changed.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// newDecoder makes a decoder that knows the file's dictionary.
func (s *source) newDecoder() error {
	s.close()
	o := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowMax)}
	if s.dictionary != nil {
		o = append(o, zstd.WithDecoderDicts(s.dictionary))
	}
	zs, err := zstd.NewReader(nil, o...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCompression, err)
	}
	s.zs, s.decodes = zs, s.dictionary
	return nil
}

// skippable passes a frame without content. The first frame of a .warc.zst may be one with the dictionary of all others.
func (s *source) skippable() error {
	b, err := s.br.Peek(8)
	if err != nil {
		return s.damage(io.ErrUnexpectedEOF)
	}
	isDictionary := string(b[:4]) == dictionaryMagic && s.offset() == 0
	size := int64(b[4]) | int64(b[5])<<8 | int64(b[6])<<16 | int64(b[7])<<24
	_, _ = s.br.Discard(8)
	if !isDictionary {
		if _, err := io.CopyN(io.Discard, s.br, size); err != nil {
			return s.damage(err)
		}
		return nil
	}
	if size > dictionaryMax {
		return fmt.Errorf("%w: dictionary of %d bytes", ErrTooLarge, size)
	}
	dictionary, err := io.ReadAll(io.LimitReader(s.br, size))
	if err != nil || int64(len(dictionary)) < size {
		return s.damage(io.ErrUnexpectedEOF)
	}
	s.dictionary, err = unpackDictionary(dictionary)
	return err
}

// isSkippable tells whether b begins a zstd frame without content.
func isSkippable(b []byte) bool {
	return len(b) >= 4 && b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18
}

// Read gives content of the member at hand, io.EOF at its end.
func (s *source) Read(p []byte) (n int, err error) {
	if !s.live {
		return 0, io.EOF
	}
	var r io.Reader = s.br
	switch s.kind {
	case Gzip:
		r = s.gz
	case Zstd:
		r = s.zs
	}
	n, err = r.Read(p)
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, s.damage(err)
	case s.kind == Zstd && (s.frame.state < 2 || s.frame.left > 0):
		return n, s.damage(io.ErrUnexpectedEOF) // the decoder takes some torn headers for an end
	}
	s.live = false
	return n, io.EOF
}

// damage sorts an error of a decoder: the file's end, the disk's fault, or bad bytes.
func (s *source) damage(err error) error {
	s.live, s.bad = false, true
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the file ends in a member", ErrTruncated)
	case s.kind == None:
		return err
	}
	if _, peek := s.br.Peek(1); peek != nil && !errors.Is(peek, io.EOF) {
		return peek // the disk, not the bytes
	}
	return fmt.Errorf("%w: %w", ErrCompression, err)
}

// suspect marks the zstd frame that begins at start as damaged, though the decoder took it for sound: it has no checksum, and may have swallowed
// the frames behind it. The next search begins inside it. It does nothing, and says so, where the search cannot go back, or need not.
func (s *source) suspect(start int64) bool {
	if s.kind != Zstd || s.seek == nil {
		return false
	}
	s.start, s.live, s.bad = start, false, true
	return true
}

// resync goes forward from a damaged member to the next place where one may begin. io.EOF if there is no such place.
func (s *source) resync() error {
	magic := gzipMagic
	if s.kind == Zstd {
		magic = zstdMagic
	}
	s.live, s.bad = false, false
	s.rewind()
	if s.offset() == s.start {
		_, _ = s.br.Discard(1) // not the same place again
	}
	for {
		b, err := s.br.Peek(sourceBuffer)
		if i := bytes.Index(b, []byte(magic)); i >= 0 {
			_, _ = s.br.Discard(i)
			return nil
		}
		if err != nil {
			_, _ = s.br.Discard(len(b))
			return err
		}
		_, _ = s.br.Discard(len(b) - len(magic) + 1)
	}
}

// rewindFree is how many bytes a reader may go back in any case; beyond that, as many as it has read.
const rewindFree = 16 << 20

// rewind goes back to right behind the beginning of the damaged member, since what the decoder took for the member's rest may be
// others that are sound. The budget keeps the work linear in the file, whatever is in it.
func (s *source) rewind() {
	back := s.offset() - s.start - 1
	cost := back + sourceBuffer
	if s.seek == nil || back <= 0 || s.rewound+cost > rewindFree+s.offset() {
		return
	}
	if _, err := s.seek.Seek(s.origin+s.start+1, io.SeekStart); err != nil {
		return // then the search goes on from here
	}
	s.rewound += cost
	s.in.n = s.start + 1
	s.br.Reset(&s.in)
}

// frameReader gives exactly one zstd frame and then io.EOF, so that the place where it ends is known.
type frameReader struct {
	br      *bufio.Reader
	left    int64 // of the part at hand
	state   uint8 // 0: at the header, 1: at a block, 2: done
	trailer bool  // a checksum follows the last block
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.left == 0 {
		if err := f.part(); err != nil {
			return 0, err
		}
	}
	n, err := f.br.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// part finds out how long the next part of the frame is.
func (f *frameReader) part() error {
	switch f.state {
	case 0:
		b, err := f.br.Peek(5)
		if err != nil {
			return noEOF(err)
		}
		d := b[4]
		f.left = 5 + [4]int64{0, 1, 2, 4}[d&3] + [4]int64{0, 2, 4, 8}[d>>6]
		if single := d&0x20 != 0; !single {
			f.left++ // the window
		} else if d>>6 == 0 {
			f.left++ // a content size of one byte
		}
		f.trailer = d&4 != 0
		f.state = 1
	case 1:
		b, err := f.br.Peek(3)
		if err != nil {
			return noEOF(err)
		}
		h := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		f.left = 3 + h>>3
		if h>>1&3 == 1 { // one byte, repeated
			f.left = 4
		}
		if h&1 != 0 {
			f.state = 2
			if f.trailer {
				f.left += 4
			}
		}
	default:
		return io.EOF
	}
	return nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
