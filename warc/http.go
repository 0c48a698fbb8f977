package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"orbweaver/warc/member"
)

// httpHeadMax is the length in bytes of the longest head that is parsed.
const httpHeadMax = 1 << 20

// HTTPHead is the head of an HTTP message in a block.
type HTTPHead struct {
	// Raw is the stored head including the empty line at its end.
	Raw []byte
	// First is the status line or request line.
	First string
	// Status of a response, 0 if there is none.
	Status int
	// Fields in order; folded lines are joined.
	Fields []Field
}

// Get returns the value of the first field of this name, ignoring case; empty if there is none.
func (h *HTTPHead) Get(name string) string {
	for i := range h.Fields {
		if strings.EqualFold(h.Fields[i].Name, name) {
			return h.Fields[i].Value
		}
	}
	return ""
}

// Chunked reports whether the body is chunked.
func (h *HTTPHead) Chunked() bool {
	for _, f := range h.Fields {
		if strings.EqualFold(f.Name, "Transfer-Encoding") {
			codings := strings.Split(f.Value, ",")
			if strings.EqualFold(strings.TrimSpace(codings[len(codings)-1]), "chunked") {
				return true
			}
		}
	}
	return false
}

// errNoHead is returned for a block without a complete head.
var errNoHead = errors.New("no HTTP head")

// headLength returns the length of the head at the start of b, 0 if it is incomplete. Lines may end in LF only.
func headLength(b []byte) int {
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n + 1
		if rest := b[i:]; len(rest) > 0 && rest[0] == '\n' {
			return i + 1
		} else if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return i + 2
		}
	}
}

// parseHead parses a complete head in the same way as engine/fetch. So the index of a response is the same, whether it
// was made during the fetch or from the archive. Lines without a colon are ignored.
func parseHead(raw []byte) HTTPHead {
	h := HTTPHead{Raw: raw}
	first, rest := cutLine(raw)
	h.First, h.Status = string(first), statusOf(first)
	for len(rest) > 0 {
		var text []byte
		if text, rest = cutLine(rest); len(text) == 0 {
			break
		}
		line := text[:len(text):len(text)] // so that append copies it
		for len(rest) > 0 && isBlank(rest[0]) {
			text, rest = cutLine(rest)
			line = append(append(line, ' '), bytes.Trim(text, blanks)...)
		}
		if name, value, ok := strings.Cut(string(line), ":"); ok && !isBlank(line[0]) && name != "" {
			h.Fields = append(h.Fields, Field{Name: strings.Trim(name, blanks), Value: strings.Trim(value, blanks)})
		}
	}
	return h
}

// statusOf returns the status of a status line: up to three digits after the version, without a fourth.
func statusOf(line []byte) int {
	at := bytes.IndexAny(line, blanks)
	if at < 0 || !hasPrefixFold(line, "http/") && !hasPrefixFold(line, "icy ") {
		return 0
	}
	digits := 0
	number := bytes.TrimLeft(line[at:], blanks)
	for digits < len(number) && '0' <= number[digits] && number[digits] <= '9' {
		digits++
	}
	if digits > 3 {
		return 0
	}
	n, _ := strconv.Atoi(string(number[:digits])) // 0 for no digits
	return n
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

const blanks = " \t"

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// cutLine splits b after its first line and removes the line end, LF or CRLF.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// IsHTTP reports whether the block is an HTTP message.
func (r *RecordRead) IsHTTP() bool {
	t := strings.ToLower(r.Get("Content-Type"))
	if t == "" {
		return r.Type == Response || r.Type == Request || r.Type == Revisit
	}
	return strings.HasPrefix(t, "application/http")
}

// HTTP returns the head of the HTTP message in the block, and a reader of the body. The body is as stored, or without
// chunking if payload is true. The block must not have been read before, unless it is in Block.
func (r *RecordRead) HTTP(payload bool) (*HTTPHead, io.Reader, error) {
	if !r.IsHTTP() {
		return nil, nil, fmt.Errorf("warc: %s record at %d: %w: Content-Type %q", r.Type, r.Offset, errNoHead, r.Get("Content-Type"))
	}
	br := r.lines()
	var raw []byte
	for {
		line, err := br.ReadSlice('\n')
		raw = append(raw, line...)
		if len(raw) > httpHeadMax {
			return nil, nil, r.z.fault(member.ErrTooLarge, r.Offset, "HTTP head")
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF {
			if !hasPrefixFold(raw, "HTTP/") {
				return nil, nil, fmt.Errorf("warc: %s record at %d: %w", r.Type, r.Offset, errNoHead)
			}
			break // a truncated head is accepted
		}
		if err != nil {
			return nil, nil, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 && len(raw) > 2 && raw[len(raw)-len(line)-1] == '\n' {
			break
		}
	}
	h := parseHead(raw)
	if payload && h.Chunked() {
		return &h, &dechunker{br: br}, nil
	}
	return &h, br, nil
}

// lines returns a reader of the block. If the block is not in memory, it is valid until the next call of Next.
func (r *RecordRead) lines() *bufio.Reader {
	if r.Block != nil {
		return bufio.NewReaderSize(bytes.NewReader(r.Block), 4096)
	}
	if r.z.lines == nil {
		r.z.lines = bufio.NewReaderSize(nil, 4096)
	}
	r.z.lines.Reset(r)
	return r.z.lines
}

// dechunker removes chunked framing. Invalid framing ends the body; the bytes before it are valid.
type dechunker struct {
	br *bufio.Reader
	c  chunkScan
}

func (d *dechunker) Read(p []byte) (int, error) {
	for len(p) > 0 {
		b, err := d.br.Peek(1)
		if len(b) == 0 {
			return 0, err
		}
		if b, err = d.br.Peek(min(d.br.Buffered(), len(p))); err != nil {
			return 0, err
		}
		payload, used, done := d.c.next(b)
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

// chunkScan parses chunked framing in pieces of a body.
type chunkScan struct {
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

// next returns the first piece of payload in b, the number of bytes of b that it used, and whether the payload has
// ended.
func (c *chunkScan) next(b []byte) (payload []byte, used int, done bool) {
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
func (c *chunkScan) size(x byte) {
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
	case digit >= 0 && c.remaining < 1<<40:
		c.remaining = c.remaining<<4 | digit
	case c.line > 1 && (x == ';' || x == '\r' || x == ' ' || x == '\t'):
		c.state = chunkSkip
	default:
		c.state = chunkBad
	}
}
