package block

import (
	"bufio"
	"bytes"
	"io"
)

// StartMost is how many bytes of a body IsChunked needs.
const StartMost = 4 << 10

// IsChunked reports whether a body starts with the line of a chunk's size. If the line ends in LF only, the chunk must
// have a line end behind it, too, as far as start shows it. Archives have bodies without the
// chunks that their heads name (CC-NEWS before 2019, pywb).
func IsChunked(start []byte) bool {
	start = start[:min(len(start), StartMost)]
	line, _, isLine := bytes.Cut(start, []byte{'\n'})
	var c ChunkScanner
	_, used, _ := c.Next(start[:min(len(start), len(line)+1)])
	switch {
	case c.state == chunkBad:
		return false
	case !isLine: // a line that is too long is bad framing, and not a body without chunks
		return len(start) == StartMost
	case c.state == chunkTrailer || bytes.HasSuffix(line, []byte{'\r'}):
		return true
	}
	for rest := start[used:]; len(rest) > 0 && (c.state == chunkData || c.state == chunkDataEnd); rest = rest[used:] {
		_, used, _ = c.Next(rest)
	}
	return c.state != chunkBad
}

// NewPayloadReader returns a reader of a body without its chunked framing. A body that does not start with a chunk is
// read as it is. Framing that is invalid later ends the body; the bytes before it are valid.
func NewPayloadReader(br *bufio.Reader) io.Reader {
	start, _ := br.Peek(min(br.Size(), StartMost)) // its error comes again
	if !IsChunked(start) {
		return br
	}
	return &payloadReader{br: br}
}

type payloadReader struct {
	br *bufio.Reader
	c  ChunkScanner
}

// Read fills p from several chunks: each may have one byte.
func (d *payloadReader) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || d.br.Buffered() > 0) {
		b, err := d.br.Peek(1)
		if len(b) == 0 {
			return n, err
		}
		if b, err = d.br.Peek(min(d.br.Buffered(), len(p)-n)); err != nil {
			return n, err
		}
		payload, used, done := d.c.Next(b)
		n += copy(p[n:], payload)
		_, _ = d.br.Discard(used)
		if done && n == 0 {
			return 0, io.EOF
		}
		if done {
			return n, nil
		}
	}
	return n, nil
}

// ChunkScanner parses chunked framing in pieces of a body. The zero value is at its start.
type ChunkScanner struct {
	state     chunkState
	remaining int64
	line      int // bytes read of the size line
}

type chunkState uint8

const (
	chunkSize    chunkState = iota // in the digits of a size
	chunkSkip                      // in what follows the size on its line
	chunkData                      // in the data of a chunk
	chunkDataEnd                   // in the line end behind a chunk
	chunkTrailer                   // behind the last chunk
	chunkBad                       // the framing is broken
)

// chunkLineMax bounds the line of a chunk's size, in bytes.
const chunkLineMax = 4096

// Next returns the first piece of payload in b, the number of bytes of b that it used, and whether the payload has
// ended.
func (c *ChunkScanner) Next(b []byte) (payload []byte, used int, done bool) {
	for used < len(b) {
		switch x := b[used]; c.state {
		case chunkData:
			n := int(min(c.remaining, int64(len(b)-used)))
			c.remaining -= int64(n)
			if c.remaining == 0 {
				c.state = chunkDataEnd
			}
			return b[used : used+n], used + n, false
		case chunkDataEnd:
			used++
			if x == '\n' {
				c.state, c.line = chunkSize, 0
			} else if x != '\r' {
				c.state = chunkBad
			}
		case chunkSize, chunkSkip:
			used++
			c.size(x)
		default:
			return nil, len(b), true
		}
	}
	return nil, used, c.state == chunkTrailer || c.state == chunkBad
}

// size takes one byte of a size line.
func (c *ChunkScanner) size(x byte) {
	digit := int64(-1)
	switch {
	case '0' <= x && x <= '9':
		digit = int64(x - '0')
	case 'a' <= x && x <= 'f':
		digit = int64(x-'a') + 10
	case 'A' <= x && x <= 'F':
		digit = int64(x-'A') + 10
	}
	c.line++
	switch {
	case x == '\n' && c.line > 1 && c.remaining == 0:
		c.state = chunkTrailer
	case x == '\n' && c.line > 1:
		c.state = chunkData
	case c.line > chunkLineMax:
		c.state = chunkBad
	case c.state == chunkSkip:
	case digit >= 0 && c.remaining < 1<<56:
		c.remaining = c.remaining<<4 | digit
	case c.line > 1 && (x == ';' || x == '\r' || x == ' ' || x == '\t'):
		c.state = chunkSkip
	default:
		c.state = chunkBad
	}
}
