package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/httphead"
	"orbweaver/warc/block"
	"orbweaver/warc/member"
)

// errNoHead is returned for a block without a complete head.
var errNoHead = errors.New("no HTTP head")

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
func (r *RecordRead) HTTP(payload bool) (*block.Head, io.Reader, error) {
	if !r.IsHTTP() {
		return nil, nil, fmt.Errorf(
			"warc: %s record at %d: %w: Content-Type %q", r.Type, r.Offset, errNoHead, r.Get("Content-Type"),
		)
	}
	br := r.lines()
	var raw []byte
	for {
		line, err := br.ReadSlice('\n')
		raw = append(raw, line...)
		if len(raw) > block.HeadMax {
			return nil, nil, r.z.fault(member.ErrTooLarge, r.Offset, "HTTP head")
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF {
			if httphead.Start(raw) < 0 {
				return nil, nil, fmt.Errorf("warc: %s record at %d: %w", r.Type, r.Offset, errNoHead)
			}
			break // a truncated head is accepted
		}
		if err != nil {
			return nil, nil, err
		}
		if httphead.IsEmptyLine(line) && httphead.Length(raw) == len(raw) {
			break
		}
	}
	h := block.ParseHead(raw)
	if payload && h.Chunked() {
		return &h, block.NewPayloadReader(br), nil
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

// HTTPMessage returns the head of the HTTP message in Block, and the stored body. ok is false if Block has no HTTP
// message with a complete head. The results are parts of Block.
func (r *RecordRead) HTTPMessage() (head block.Head, body []byte, ok bool) {
	n := httphead.Length(r.Block)
	if n == 0 || !r.IsHTTP() {
		return block.Head{}, nil, false
	}
	return block.ParseHead(r.Block[:n]), r.Block[n:], true
}
