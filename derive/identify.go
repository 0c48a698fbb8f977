package derive

import (
	"strings"

	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/page/parse"
)

// How much is read of the start of a block, in bytes.
const (
	headFirst  = 2 << 10 // of a block, to find the head; nearly all heads and startFirst are within
	startFirst = 3 << 9  // of a stored body, to identify it
	startBytes = 8 << 10 // the same, if that did not suffice
)

// starts is the memory of Record.Identify.
type starts struct {
	payload []byte
	decoder *coding.Decoder
	scanner *parse.Scanner
}

// Identify returns the media type that the first bytes of Body show, in the same way as the crawler, and for text the
// character set, as package parse names it. Both are "" without bytes. It needs at most the first 8 KiB that are
// stored, costs little, and does not depend on calls of other methods.
func (r *Record) Identify() (media, charset string) {
	if !r.state.isIdentified {
		_ = r.identify() // what it needs was read before
	}
	return r.state.media, r.state.charset
}

// identify is Identify while more of the block can be read.
func (r *Record) identify() error {
	r.state.isIdentified = true
	start, err := r.start(startFirst)
	if err != nil {
		return err
	}
	declared, scanner := []byte(r.ContentType()), r.memory.starts.scanner
	charset, isKnown := scanner.Charset(start, declared)
	if !isKnown {
		if start, err = r.start(startBytes); err != nil {
			return err
		}
	}
	media := string(parse.AppendMediaType(nil, start, declared))
	r.state.media = media
	if !strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "xml") {
		return nil
	}
	if !isKnown {
		res, _ := scanner.Scan(start, declared) // an error leaves the character set
		charset = res.Charset
	}
	r.state.charset = charset
	return nil
}

// start returns the start of Body, made of the first n bytes that are stored.
func (r *Record) start(n int) ([]byte, error) {
	switch {
	case r.Head == nil && r.IsHTTP():
		return nil, nil
	case r.Head == nil:
		if err := r.require(n); err != nil {
			return nil, err
		}
		return r.Block[:min(len(r.Block), n)], nil
	}
	if err := r.require(len(r.Head.Raw) + n); err != nil {
		return nil, err
	}
	r.stored = r.Block[len(r.Head.Raw):]
	m := &r.memory.starts
	var body []byte
	m.payload, body = r.decode(m.decoder, m.payload, r.stored[:min(len(r.stored), n)])
	return body, nil
}

// require reads the block up to its first n bytes, unless they were read. A block that was read to its end, or passed
// over, has no more.
func (r *Record) require(n int) error {
	if len(r.Block) >= n || int64(len(r.Block)) == r.ContentLength {
		return nil
	}
	return r.memory.fill(r.RecordRead, int64(n))
}
