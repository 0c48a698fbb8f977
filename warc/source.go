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

// Limits for foreign files, in bytes.
const (
	windowMax     = 64 << 20 // of a zstd frame
	dictionaryMax = 16 << 20 // of the dictionary at the start of a .warc.zst
	sourceBuffer  = 64 << 10
)

// gzipMagic starts a gzip member with deflate, the only method in use.
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

// source reads a file by members: next starts a member, and Read returns its content and io.EOF at its end. A plain
// file is one member.
type source struct {
	in    counter
	br    *bufio.Reader
	kind  Compression
	known bool         // kind is
	form  *Compression // the given form, or nil to detect it

	gz    *gzip.Reader
	zs    *zstd.Decoder
	frame frameReader

	dictionary []byte // of the file; nil if it has none or it was not read yet
	decodes    []byte // the dictionary of zs

	seek    io.Seeker // nil if the file cannot seek
	origin  int64     // what seek calls the offset 0
	rewound int64     // total bytes of all rewinds

	start int64 // of the member at hand
	live  bool  // in a member
	bad   bool  // the member at hand is damaged: resync before next
}

// reset starts with another file, whose first byte is at offset base.
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

// close frees the decoder.
func (s *source) close() {
	if s.zs != nil {
		s.zs.Close()
		s.zs = nil
	}
}

// offset returns the position in the file after the last used byte.
func (s *source) offset() int64 { return s.in.n - int64(s.br.Buffered()) }

// detect detects the form of the file.
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

// next starts the next member. io.EOF means that the file ended after a complete member.
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

// same reports whether two dictionaries are the same slice. They are large and never change, so their bytes are not
// compared.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// newDecoder makes a decoder with the dictionary of the file.
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

// skippable skips a frame without content. The first frame of a .warc.zst may contain the dictionary of all others.
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

// isSkippable reports whether b starts a zstd frame without content.
func isSkippable(b []byte) bool {
	return len(b) >= 4 && b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18
}

// Read returns content of the current member, io.EOF at its end.
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
	case s.kind == Zstd && (s.frame.state < 2 || s.frame.remaining > 0):
		return n, s.damage(io.ErrUnexpectedEOF) // the decoder treats some torn headers as an end
	}
	s.live = false
	return n, io.EOF
}

// damage classifies an error of a decoder: end of file, error of the disk, or bad bytes.
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

// suspect marks the zstd frame at start as damaged, although the decoder accepted it: without a checksum it may have
// included later frames. The next search starts inside it. It returns false and does nothing if the search cannot go
// back or need not.
func (s *source) suspect(start int64) bool {
	if s.kind != Zstd || s.seek == nil {
		return false
	}
	s.start, s.live, s.bad = start, false, true
	return true
}

// resync searches forward from a damaged member to the next possible start of one. It returns io.EOF if there is none.
func (s *source) resync() error {
	magic := gzipMagic
	if s.kind == Zstd {
		magic = zstdMagic
	}
	s.live, s.bad = false, false
	s.rewind()
	if s.offset() == s.start {
		_, _ = s.br.Discard(1) // not the same position again
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

// rewindFree is the number of bytes that a reader may go back in any case; beyond it, as many as it has read.
const rewindFree = 16 << 20

// rewind goes back to the position after the start of the damaged member, because the bytes after it may contain valid
// members. The budget keeps the work linear in the size of the file.
func (s *source) rewind() {
	back := s.offset() - s.start - 1
	cost := back + sourceBuffer
	if s.seek == nil || back <= 0 || s.rewound+cost > rewindFree+s.offset() {
		return
	}
	if _, err := s.seek.Seek(s.origin+s.start+1, io.SeekStart); err != nil {
		return // then the search continues from here
	}
	s.rewound += cost
	s.in.n = s.start + 1
	s.br.Reset(&s.in)
}

// frameReader returns exactly one zstd frame and then io.EOF, so that its end is known.
type frameReader struct {
	br        *bufio.Reader
	remaining int64 // of the current part
	state     uint8 // 0: at the header, 1: at a block, 2: done
	trailer   bool  // a checksum follows the last block
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.remaining == 0 {
		if err := f.part(); err != nil {
			return 0, err
		}
	}
	n, err := f.br.Read(p[:min(int64(len(p)), f.remaining)])
	f.remaining -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// part computes the length of the next part of the frame.
func (f *frameReader) part() error {
	switch f.state {
	case 0:
		b, err := f.br.Peek(5)
		if err != nil {
			return noEOF(err)
		}
		d := b[4]
		f.remaining = 5 + [4]int64{0, 1, 2, 4}[d&3] + [4]int64{0, 2, 4, 8}[d>>6]
		if single := d&0x20 != 0; !single {
			f.remaining++ // the window
		} else if d>>6 == 0 {
			f.remaining++ // a content size of one byte
		}
		f.trailer = d&4 != 0
		f.state = 1
	case 1:
		b, err := f.br.Peek(3)
		if err != nil {
			return noEOF(err)
		}
		h := int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16
		f.remaining = 3 + h>>3
		if h>>1&3 == 1 { // one byte, repeated
			f.remaining = 4
		}
		if h&1 != 0 {
			f.state = 2
			if f.trailer {
				f.remaining += 4
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
