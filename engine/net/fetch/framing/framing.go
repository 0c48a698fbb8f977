package framing

import "math"

// Kind is how the end of a body is determined.
type Kind uint8

// The ends of bodies.
const (
	None    Kind = iota // there is no body
	Length              // by Content-Length
	Chunked             // by the last chunk
	Close               // by the end of the connection
)

// End is how a body ended.
type End uint8

// How bodies ended.
const (
	NotEnded     End = iota // it has not
	Whole                   // as its framing says
	AtLimit                 // a byte was dropped because of the limit
	Bad                     // invalid chunking
	Disconnected            // the connection ended first, or the trailer did not end
)

// chunkState is the position of the next byte within the chunking.
type chunkState uint8

const (
	inSize chunkState = iota
	inExt
	inData
	afterData
	afterDataCR
	inTrailer
)

const (
	chunkDigitsMax = 15       // hexadecimal digits of a chunk size, leading zeros not counted: less than 2^60
	chunkLineMax   = 4096     // bytes of a chunk's size line without its end, as in warc/block
	excessMax      = 16 << 10 // bytes of size lines in one body, beyond what its chunks may cost: see sizeDone
	trailerMax     = 16 << 10 // bytes of trailer
)

// Limits are the limits of one body, in bytes.
type Limits struct {
	Body int64 // of payload: the limit of the fetcher
	Raw  int64 // with chunking
}

// Unlimited returns the limits of a body that is known.
func Unlimited() Limits { return Limits{Body: math.MaxInt64, Raw: math.MaxInt64} }

// Framer finds the end of a body, however it is split into reads, and tells which bytes are payload. It stores no
// bytes.
type Framer struct {
	max       Limits
	Payload   int64 // bytes of payload so far
	raw       int64 // bytes consumed so far
	remaining int64 // bytes of payload to come: in the body with Content-Length, in this chunk with chunking
	excess    int64 // of the size lines so far
	trailer   int
	line      int // bytes of the size line or trailer line so far
	digits    int
	Kind      Kind
	state     chunkState
	End       End
	seen      bool // a digit of the chunk size
}

// Init sets f to the start of a body. For Length, length must be set with SetLength.
func (f *Framer) Init(kind Kind, max Limits) {
	*f = Framer{Kind: kind, max: max}
	if kind == None {
		f.End = Whole
	}
}

// SetLength sets the length of a body that is framed by length.
func (f *Framer) SetLength(n int64) {
	f.remaining = n
	if n == 0 {
		f.End = Whole
	}
}

// Next consumes a prefix of b, at least one byte unless f ends at this very byte, and returns its length and the
// payload in it, which is one run at the end of the prefix or none. Call it while f.End is NotEnded and b is not empty.
func (f *Framer) Next(b []byte) (n int, data []byte) {
	switch {
	case f.Kind == Close:
		n = f.countPayload(int64(len(b)))
		return n, b[:n]
	case f.Kind == Length:
		n = f.countPayload(min(int64(len(b)), f.remaining))
		f.remaining -= int64(n)
		if f.remaining == 0 {
			f.End = Whole
		}
		return n, b[:n]
	case f.state == inData:
		n = f.countPayload(min(int64(len(b)), f.remaining))
		f.remaining -= int64(n)
		if f.remaining == 0 {
			f.state = afterData
		}
		return n, b[:n]
	}
	for n < len(b) && f.End == NotEnded && f.state != inData {
		if f.raw >= f.max.Raw {
			f.End = AtLimit
			break
		}
		if !f.framing(b[n]) {
			break
		}
		n++
		f.raw++
	}
	return n, nil
}

// countPayload counts up to want bytes of payload, as far as the limits allow, and ends f if that is fewer.
func (f *Framer) countPayload(want int64) int {
	n := min(want, f.max.Body-f.Payload, f.max.Raw-f.raw)
	if n < want {
		f.End = AtLimit
	}
	f.Payload += n
	f.raw += n
	return int(n)
}

// framing processes one byte of chunking. It returns false for an invalid byte, which is not consumed.
func (f *Framer) framing(c byte) bool {
	switch f.state {
	case inSize:
		return f.size(c)
	case inExt:
		if c == '\n' {
			return f.sizeDone()
		}
		if f.line++; f.line > chunkLineMax {
			return f.bad()
		}
	case afterData:
		switch c {
		case '\r':
			f.state = afterDataCR
		case '\n':
			f.startSize()
		default:
			return f.bad()
		}
	case afterDataCR:
		if c != '\n' {
			return f.bad()
		}
		f.startSize()
	case inTrailer:
		return f.trail(c)
	}
	return true
}

// size processes one byte of a chunk's size.
func (f *Framer) size(c byte) bool {
	if c == '\n' && f.seen {
		return f.sizeDone()
	}
	f.line++
	digit, isDigit := hexDigit(c)
	switch {
	case isDigit && (digit != 0 || f.remaining != 0):
		f.digits++
	case isDigit:
	case f.seen && (c == '\r' || c == ' ' || c == '\t' || c == ';'):
		f.state = inExt
		return f.line <= chunkLineMax || f.bad()
	default:
		return f.bad()
	}
	f.seen, f.remaining = true, f.remaining<<4|int64(digit)
	return f.digits <= chunkDigitsMax && f.line <= chunkLineMax || f.bad()
}

// sizeDone ends a size line. Padding, leading zeros and extensions are limited by what the chunks hold: a line may have
// 16 bytes and twice the length of its chunk, and all lines together 16 KiB beyond that. There are servers that pad the
// size of each chunk, also of the hundred thousand chunks of a large file.
func (f *Framer) sizeDone() bool {
	f.excess = max(0, f.excess+int64(f.line)-16-2*f.remaining)
	if f.excess > excessMax {
		return f.bad()
	}
	if f.remaining == 0 {
		f.state, f.line = inTrailer, 0
	} else {
		f.state = inData
	}
	return true
}

func (f *Framer) startSize() {
	f.state, f.remaining, f.digits, f.line, f.seen = inSize, 0, 0, 0, false
}

// trail processes one byte of the trailer, which ends with an empty line. A trailer over the limit counts as one that
// does not end.
func (f *Framer) trail(c byte) bool {
	if f.trailer++; f.trailer > trailerMax {
		f.End = Disconnected
		return false
	}
	switch {
	case c == '\n' && f.line == 0:
		f.End = Whole
	case c == '\n':
		f.line = 0
	case c != '\r':
		f.line++
	}
	return true
}

func (f *Framer) bad() bool {
	f.End = Bad
	return false
}

// EOF records that the connection has ended.
func (f *Framer) EOF() {
	if f.End != NotEnded {
		return
	}
	f.End = Disconnected
	if f.Kind == Close {
		f.End = Whole
	}
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
