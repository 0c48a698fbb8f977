package member

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"orbweaver/internal/inflate"
)

// Limits of a gzip member that is decompressed as a whole, in bytes. Larger members are decompressed in pieces.
const (
	wholeSourceMax  = 1 << 20 // of the buffer that must contain the member
	wholeContentMax = 4 << 20
	wholeKept       = 1 << 20  // of content whose memory is kept for the next member
	sourceGrowth    = 4        // of the buffer, if a member did not fit
	startContent    = 3 << 10  // of the start of a member whose length is known: two heads, and some of a page
	sourceLeast     = 16 << 10 // in the buffer before a member of a file is decompressed: most members have less
)

const unknownLength = -1

// wholeMember decompresses small gzip members from memory to memory, in half of the time that a stream takes. Whatever
// it cannot decompress is left to the stream, which decides what is wrong with it.
type wholeMember struct {
	inflate *inflate.Decoder
	content []byte
	unread  []byte
	isReady bool // inflate was made
	isIn    bool // the current member is in content
	isGuess bool // the next member follows damage: it is a stream, which reads no more than it needs

	lengthAt func(offset int64) int64
	start    int   // of the content, to be decompressed at first; 0 for all
	length   int   // of the member in the file if content is only its start, or unknownLength; otherwise 0
	size     int64 // of all content, as the end of the member says
}

// read decompresses the member at the position of z and moves behind it. It returns false, and moves nothing, if the
// member is large or damaged. An error is that of the file.
func (m *wholeMember) read(z *Reader) (isWhole bool, err error) {
	m.isIn, m.length = false, 0
	if m.isGuess {
		m.isGuess = false
		return false, nil
	}
	if !m.isReady {
		m.inflate, m.isReady = inflate.NewDecoder(), true
	}
	if cap(m.content) > wholeKept {
		m.content = nil
	}
	if m.readStart(z) || m.start > 0 && m.readWanted(z) {
		return true, nil
	}
	if z.br.Buffered() < sourceLeast && z.fillsAhead {
		_, _ = z.br.Peek(z.br.Size()) // an error comes again when more is needed
	}
	for {
		b, _ := z.br.Peek(z.br.Buffered()) // cannot fail
		var used int
		m.content, used, err = m.inflate.GzipMember(m.content[:0], b, wholeContentMax)
		if err == nil {
			_, _ = z.br.Discard(used)
			m.unread, m.isIn = m.content, true
			return true, nil
		}
		if !errors.Is(err, inflate.ErrTruncated) || len(b) >= wholeSourceMax {
			return false, nil //nolint:nilerr // the stream finds it again, and says where
		}
		if len(b) == z.br.Size() {
			growSource(z)
		}
		more, err := z.br.Peek(z.br.Size())
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if len(more) == len(b) {
			return false, nil
		}
	}
}

// Read returns content of the member, io.EOF at its end.
func (m *wholeMember) Read(p []byte) (int, error) {
	n := copy(p, m.unread)
	if m.unread = m.unread[n:]; len(m.unread) == 0 && m.length == 0 {
		return n, io.EOF
	}
	return n, nil
}

// readStart decompresses the start of a member whose length is known, and does not move. It returns false, and the
// member must be read whole, unless all that can be seen agrees with the length: another member or the end of the file
// follows, and none begins inside. So no record is lost if the length is wrong.
func (m *wholeMember) readStart(z *Reader) bool {
	length := m.lengthAt(z.start)
	if length <= int64(len(gzipMagic)) || length > wholeSourceMax-int64(len(gzipMagic)) {
		return false
	}
	n := int(length)
	for z.br.Size() < n+len(gzipMagic) {
		growSource(z)
	}
	b, err := z.br.Peek(n + len(gzipMagic))
	if len(b) < n || err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	next := b[n:]
	b = b[:n]
	if len(next) > 0 && string(next) != gzipMagic || bytes.Contains(b[1:], []byte(gzipMagic)) {
		return false
	}
	size := int64(binary.LittleEndian.Uint32(b[n-4:]))
	m.content, _, err = m.inflate.GzipMember(m.content[:0], b, startContent)
	if !errors.Is(err, inflate.ErrLimit) || size > wholeContentMax || size <= int64(len(m.content)) {
		return false
	}
	m.unread, m.isIn, m.length, m.size = m.content, true, n, size
	return true
}

// readWanted decompresses the start of a member, and does not move. It returns false, and the member must be read
// whole, unless what is in the buffer has that much of a longer one.
func (m *wholeMember) readWanted(z *Reader) (ok bool) {
	b, _ := z.br.Peek(z.br.Buffered()) // cannot fail
	var err error
	m.content, _, err = m.inflate.GzipMember(m.content[:0], b, m.start)
	if !errors.Is(err, inflate.ErrLimit) {
		return false
	}
	m.unread, m.isIn, m.length = m.content, true, unknownLength
	return true
}

// complete decompresses all of a member whose start was read.
func (m *wholeMember) complete(z *Reader) error {
	if m.length == unknownLength {
		m.length, m.isIn = 0, false
		if err := openStream(z); err != nil {
			return err
		}
		_, err := io.CopyN(io.Discard, z.gz, int64(len(m.content)))
		return err
	}
	b, _ := z.br.Peek(m.length) // readStart had all of it in the buffer
	read := len(m.content)
	m.length = 0
	content, used, err := m.inflate.GzipMember(m.content[:0], b, wholeContentMax)
	m.content = content
	if err == nil {
		_, _ = z.br.Discard(used)
		m.unread = content[read:]
		return nil
	}
	m.isIn = false
	if err := openStream(z); err != nil {
		return err
	}
	_, err = io.CopyN(io.Discard, z.gz, int64(read))
	return err
}

// SkipContent ends the current member without decompressing the rest of it, if its length is known and its content has
// size bytes. The checksum of the content is not verified then.
func SkipContent(z *Reader, size int64) bool {
	m := &z.whole
	if !z.live || z.kind != Gzip || !m.isIn || m.length <= 0 || m.size != size {
		return false
	}
	_, _ = z.br.Discard(m.length)
	m.unread, m.length, z.live = nil, 0, false
	return true
}

// TakeContent returns what is in memory of the rest of the current member, otherwise nil, and ends the member if that
// is all. The bytes are valid until Read, Next, Resync or Reset.
func TakeContent(z *Reader) []byte {
	m := &z.whole
	if !z.live || z.kind != Gzip || !m.isIn || len(m.unread) == 0 {
		return nil
	}
	rest := m.unread
	m.unread, z.live = nil, m.length != 0
	_ = z.Charge(len(rest)) // it is one of DEFLATE, of at most wholeContentMax
	return rest
}

// growSource makes the buffer of the file larger.
func growSource(z *Reader) {
	buffered, _ := z.br.Peek(z.br.Buffered()) // cannot fail
	file := z.in
	z.in = counter{r: bytes.NewReader(buffered), n: file.n - int64(len(buffered)), most: len(buffered)}
	z.br = bufio.NewReaderSize(&z.in, min(sourceGrowth*z.br.Size(), wholeSourceMax))
	_, _ = z.br.Peek(len(buffered)) // moves all of them into the new buffer
	z.in = file
}
