package member

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"orbweaver/internal/inflate"
)

// Limits of a gzip member that is decompressed as a whole, in bytes. Larger members are decompressed in pieces.
const (
	wholeSourceMax  = 1 << 20 // of the buffer that must contain the member
	wholeContentMax = 4 << 20
	wholeKept       = 1 << 20 // of content whose memory is kept for the next member
	sourceGrowth    = 4       // of the buffer, if a member did not fit
)

// wholeMember decompresses small gzip members from memory to memory, in half of the time that a stream takes. Whatever
// it cannot decompress is left to the stream, which decides what is wrong with it.
type wholeMember struct {
	inflate *inflate.Decoder
	content []byte
	unread  []byte
	isReady bool // inflate was made
	isIn    bool // the current member is in content
	isGuess bool // the next member follows damage: it is a stream, which reads no more than it needs
}

// read decompresses the member at the position of z and moves behind it. It returns false, and moves nothing, if the
// member is large or damaged. An error is that of the file.
func (m *wholeMember) read(z *Reader) (isWhole bool, err error) {
	m.isIn = false
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
	if m.unread = m.unread[n:]; len(m.unread) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// TakeContent returns the rest of the current member if it is in memory, and ends the member; otherwise nil. The bytes
// are valid until Next, Resync or Reset.
func TakeContent(z *Reader) []byte {
	if !z.live || z.kind != Gzip || !z.whole.isIn || len(z.whole.unread) == 0 {
		return nil
	}
	rest := z.whole.unread
	z.whole.unread, z.live = nil, false
	return rest
}

// growSource makes the buffer of the file larger.
func growSource(z *Reader) {
	buffered, _ := z.br.Peek(z.br.Buffered()) // cannot fail
	file := z.in.r
	z.in.r, z.in.n = bytes.NewReader(buffered), z.in.n-int64(len(buffered))
	z.br = bufio.NewReaderSize(&z.in, min(sourceGrowth*z.br.Size(), wholeSourceMax))
	_, _ = z.br.Peek(len(buffered)) // moves all of them into the new buffer
	z.in.r = file
}
