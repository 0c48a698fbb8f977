package derive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/httphead"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
)

// Record is a record with the parts of its block that products read. Nothing in it may be used after FileWriter.Add.
type Record struct {
	*warc.RecordRead
	// Entry is the index entry, if IsIndexed: responses, revisits and resources, except answers of name servers.
	Entry     cdxj.Entry
	IsIndexed bool
	// Head of the HTTP message; nil if there is none, or it is incomplete.
	Head *block.Head
	// IsWhole is true if Block is the whole block.
	IsWhole bool

	memory *memory
	stored []byte // of Block: what follows Head
	state  recordState
}

// recordState says what of a record was computed.
type recordState struct {
	isDecoded, isScanned  bool
	isDetected, isDivided bool
	body                  []byte
	result                *parse.Result
	language              Language
	languages             string
	isIdentified          bool
	media, charset        string
}

// memory is what a worker reuses for each record.
type memory struct {
	current  Record
	block    []byte
	payload  []byte
	head     block.Head
	decoder  *coding.Decoder
	scanner  *parse.Scanner
	detector LanguageDetector
	starts   starts
	needs    Needs
	turn     *sync.Mutex // of large pages
	hasTurn  bool
}

func newMemory(needs Needs, detector LanguageDetector, turn *sync.Mutex) *memory {
	m := &memory{
		detector: detector,
		starts:   starts{decoder: coding.New(decoding()), scanner: parse.NewScanner(parse.Options{})},
		needs:    needs, turn: turn,
	}
	m.reset()
	return m
}

// reset gives memory back.
func (m *memory) reset() {
	m.block, m.payload, m.decoder = make([]byte, 0, 64<<10), nil, coding.New(decoding())
	m.scanner = parse.NewScanner(parse.Options{Text: m.needs.Text, Details: m.needs.Details})
}

// largeMost is the length of a body that needs no turn, in bytes. One worker at a time has a larger page: its text and
// what is made of it may take ten times as much.
const largeMost = 2 << 20

// doneWith ends the use of the record at hand.
func (m *memory) doneWith() {
	if !m.hasTurn {
		return
	}
	m.reset()
	m.current, m.hasTurn = Record{}, false
	m.turn.Unlock()
}

// blockKept is how much memory for blocks is kept from record to record, in bytes.
const blockKept = 4 << 20

// fill reads a block up to its first n bytes.
func (m *memory) fill(rec *warc.RecordRead, n int64) error {
	n = min(rec.ContentLength, n)
	for int64(len(m.block)) < n {
		if len(m.block) == cap(m.block) {
			// Content-Length may be wrong: memory grows with the bytes that are read.
			grown := make([]byte, len(m.block), min(n, max(64<<10, 2*int64(cap(m.block)))))
			copy(grown, m.block)
			m.block = grown
		}
		read, err := rec.Read(m.block[len(m.block):min(int64(cap(m.block)), n)])
		m.block = m.block[:len(m.block)+read]
		if err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return err
		}
	}
	rec.Block = m.block
	return nil
}

// read reads the first most bytes of a block, and passes over the rest, so that the length of the record is known. If
// most is 0, it reads the head of an HTTP message, and what Identify needs.
func (m *memory) read(rec *warc.RecordRead, most int64) (*Record, error) {
	if cap(m.block) > blockKept {
		m.block = make([]byte, 0, 64<<10)
	}
	m.block = m.block[:0]
	if err := m.fill(rec, cmp.Or(most, headFirst)); err != nil {
		return nil, err
	}
	if most == 0 && httphead.Length(m.block) == 0 && rec.IsHTTP() {
		if err := m.fill(rec, block.HeadMax); err != nil {
			return nil, err
		}
	}
	r, err := m.record(rec)
	if err != nil {
		return nil, err
	}
	if most == 0 && r.IsIndexed && r.Type != warc.Revisit {
		if err := r.identify(); err != nil {
			return nil, err
		}
	}
	if err := rec.Skip(); err != nil {
		return nil, err
	}
	r.IsWhole = int64(len(m.block)) == rec.ContentLength
	return r, nil
}

// record returns the record whose block was read.
func (m *memory) record(rec *warc.RecordRead) (*Record, error) {
	m.current = Record{RecordRead: rec, memory: m}
	r := &m.current
	head, body, ok := rec.HTTPMessage()
	if ok {
		m.head = head
		r.Head, r.stored = &m.head, body
		r.Entry, r.IsIndexed = rec.IndexEntryOf(r.Head)
		return r, nil
	}
	var err error
	if r.Entry, r.IsIndexed, err = rec.IndexEntry(); err != nil {
		return nil, fmt.Errorf("derive: %w", err)
	}
	return r, nil
}

// decoding are the limits for bodies. Encodings in each other are removed as lookup.DecodePayload does.
func decoding() coding.Options { return coding.Options{LayersMax: 5} }

// Body returns the body of an HTTP message without chunking and content encodings, as far as it is in Block. For other
// records it is the block.
func (r *Record) Body() []byte {
	if r.state.isDecoded {
		return r.state.body
	}
	r.state.isDecoded = true
	if r.Head == nil {
		if !r.IsHTTP() {
			r.state.body = r.Block
		}
		return r.state.body
	}
	r.memory.payload, r.state.body = r.decode(r.memory.decoder, r.memory.payload, r.stored)
	return r.state.body
}

// decode removes chunking and content encodings from the start of a body. payload is memory for the body without
// chunking.
func (r *Record) decode(d *coding.Decoder, payload, stored []byte) (memory, body []byte) {
	body = stored
	if r.Head.Chunked() && block.IsChunked(stored) {
		payload = unchunk(payload[:0], stored)
		body = payload
	}
	d.Reset()
	for i := range r.Head.Fields {
		f := &r.Head.Fields[i]
		if strings.EqualFold(f.Name, "Content-Encoding") {
			d.Add([]byte(f.Value))
		}
	}
	body, _ = d.Decode(body)
	return payload, body
}

// unchunk appends a body without its chunked framing to dst.
func unchunk(dst, stored []byte) []byte {
	var c block.ChunkScanner
	for len(stored) > 0 {
		piece, used, done := c.Next(stored)
		dst = append(dst, piece...)
		if done || used == 0 {
			break
		}
		stored = stored[used:]
	}
	return dst
}

// Page returns what the parser finds in Body. The Result is never nil.
func (r *Record) Page() *parse.Result {
	if r.state.isScanned {
		return r.state.result
	}
	r.state.isScanned = true
	if len(r.Body()) > largeMost {
		r.memory.turn.Lock()
		r.memory.hasTurn = true
	}
	// The only error is a character set that must not be decoded: then there are no links.
	r.state.result, _ = r.memory.scanner.Scan(r.Body(), []byte(r.ContentType()))
	return r.state.result
}

// ContentType returns what the head declares as the type of Body: the values of all fields Content-Type.
func (r *Record) ContentType() string {
	switch {
	case r.Head != nil:
		return r.Head.List("Content-Type")
	case r.IsHTTP():
		return ""
	}
	return r.Get("Content-Type")
}

// TextPage returns what the parser finds in a page that has text: a response with a status from 200 to 299, of HTML or
// XHTML. It is nil for other records.
func (r *Record) TextPage() *parse.Result {
	if r.Type != warc.Response || !r.IsIndexed || r.Entry.Status < 200 || r.Entry.Status > 299 {
		return nil
	}
	res := r.Page()
	if res.Format != parse.HTML && res.Format != parse.XML || len(res.Text) == 0 {
		return nil
	}
	return res
}
