package block

import (
	"bufio"
	"io"
)

// NewPayloadReader returns a reader of a chunked body without its framing. Invalid framing ends the body; the bytes
// before it are valid.
func NewPayloadReader(br *bufio.Reader) io.Reader { return &payloadReader{br: br} }

type payloadReader struct {
	br *bufio.Reader
	c  ChunkScanner
}

func (d *payloadReader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		b, err := d.br.Peek(1)
		if len(b) == 0 {
			return 0, err
		}
		if b, err = d.br.Peek(min(d.br.Buffered(), len(p))); err != nil {
			return 0, err
		}
		payload, used, done := d.c.Next(b)
		n := copy(p, payload)
		_, _ = d.br.Discard(used)
		if n > 0 {
			return n, nil
		}
		if done {
			return 0, io.EOF
		}
	}
	return 0, nil
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
