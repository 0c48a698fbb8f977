package coding

import (
	"bytes"
	"cmp"
	"io"
)

// Fault says what is wrong with an encoded body. No fault is fatal: there are always bytes to parse.
type Fault uint8

// The faults.
const (
	OK Fault = iota
	// the body is not what Content-Encoding says; it was detected by its bytes, or is returned undecoded
	Lie
	Truncated // the encoded bytes end too early; the decoded part is returned
	Corrupt   // bad bytes or a bad checksum; the decoded part is returned
	Trailing  // bytes after the end of the encoded data, which are ignored
	Bomb      // the ratio limit was reached; the decoded part is returned
	TooLarge  // the size limit was reached; the decoded part is returned
	Layers    // too many nested encodings; the payload is returned undecoded
	Unknown   // unknown encoding; the payload is returned undecoded
	Work      // the body would cost more CPU time than its size allows; the decoded part is returned
)

// String returns the fault in one word, as in crawl.log.
func (f Fault) String() string {
	switch f {
	case OK:
		return "ok"
	case Lie:
		return "lie"
	case Truncated:
		return "truncated"
	case Corrupt:
		return "corrupt"
	case Trailing:
		return "trailing"
	case Bomb:
		return "bomb"
	case TooLarge:
		return "too-large"
	case Layers:
		return "layers"
	case Work:
		return "work"
	default:
		return "unknown-encoding"
	}
}

// Options are the limits of a Decoder. Zero fields have defaults.
type Options struct {
	SizeMax   int // bytes a body may decode to; default 16 MiB
	RatioMax  int // times its encoded size a body may decode to, default 200,
	RatioFree int // once it is larger than this; default 1 MiB
	// encodings that are removed, one inside the other; default 1. Each one multiplies what a byte of the wire can cost
	LayersMax int
	WindowMax int // bytes of history a zstd body may ask for; default 8 MiB
	OpaqueMax int // encoded bytes of a brotli or zstd body that are decoded: see decodeOpaque; default 4 MiB
}

// WithDefaults returns a copy of o in which every field that is zero has its default.
func (o Options) WithDefaults() Options {
	o.SizeMax = cmp.Or(o.SizeMax, 16<<20)
	o.RatioMax = cmp.Or(o.RatioMax, 200)
	o.RatioFree = cmp.Or(o.RatioFree, 1<<20)
	o.LayersMax = cmp.Or(o.LayersMax, 1)
	o.WindowMax = cmp.Or(o.WindowMax, 8<<20)
	o.OpaqueMax = cmp.Or(o.OpaqueMax, 4<<20)
	return o
}

// Decoder removes content encodings (RFC 9110, section 8.4). It holds the memory for this, so each parse worker has its
// own. It is not safe for concurrent use.
type Decoder struct {
	o      Options
	in     bytes.Reader
	source inflaters
	out    [2][]byte   // nested encodings are decoded from one into the other
	stack  [8]encoding // of the body, the innermost first
	depth  int         // of stack
}

// New makes a Decoder. It allocates nothing large until there is something to decode.
func New(o Options) *Decoder {
	return &Decoder{o: o.WithDefaults(), source: inflaters{deflate: lazyInflater()}}
}

// decodedMin is the size of the first buffer of decoded bytes.
const decodedMin = 256 << 10

// Reset forgets the encodings of the last body.
func (d *Decoder) Reset() { d.depth = 0 }

// Add adds the value of a header field with encodings, the innermost first. Transfer-Encoding comes after
// Content-Encoding. A fault means that the body cannot be decoded.
func (d *Decoder) Add(value []byte) Fault {
	for len(value) > 0 {
		var token []byte
		token, value, _ = bytes.Cut(value, []byte{','})
		token = bytes.Trim(token, " \t")
		e := encodingOf(token)
		switch {
		case len(token) == 0 || e == plain:
			continue
		case e == unknown:
			return Unknown
		case d.depth == len(d.stack):
			return Layers
		}
		d.stack[d.depth] = e
		d.depth++
	}
	return OK
}

// Decode removes the encodings that were added. The result aliases payload if there was nothing to remove. Otherwise it
// aliases d, and the next call overwrites it.
func (d *Decoder) Decode(payload []byte) (body []byte, fault Fault) {
	body = payload
	limit := max(d.o.RatioFree, d.o.RatioMax*len(payload))
	for i := d.depth - 1; i >= 0; i-- {
		if d.depth-i > d.o.LayersMax {
			return leave(payload, body)
		}
		next, f := d.remove(body, d.stack[i], limit)
		if fault == OK {
			fault = f
		}
		body = next
		if f == Bomb || f == TooLarge || f == Work {
			break
		}
		d.out[0], d.out[1] = d.out[1], d.out[0]
	}
	return body, fault
}

// leave handles a body with more encodings in its header than are removed. Some servers name one encoding twice: if the
// result is text, it is the page.
func leave(payload, body []byte) ([]byte, Fault) {
	if _, sure := sniff(body); sure || !looksLikeText(body) {
		return payload, Layers
	}
	return body, Lie
}

// encoding is a known encoding.
type encoding uint8

const (
	unknown encoding = iota
	plain
	gzipped
	deflated
	rawDeflated // deflate without the zlib header that the standard requires
	brotlied
	zstded
)

// equalFold compares in ASCII, without regard to case: a letter outside ASCII that folds to one has another length.
func equalFold(b []byte, s string) bool { return len(b) == len(s) && bytes.EqualFold(b, []byte(s)) }

func encodingOf(token []byte) encoding {
	switch {
	case equalFold(token, "gzip"), equalFold(token, "x-gzip"):
		return gzipped
	case equalFold(token, "br"):
		return brotlied
	case equalFold(token, "zstd"):
		return zstded
	case equalFold(token, "deflate"):
		return deflated
	case equalFold(token, "identity"), equalFold(token, "chunked"), equalFold(token, "none"):
		return plain
	default:
		return unknown
	}
}

// remove removes one encoding from body. The header is only believed if the first bytes agree.
func (d *Decoder) remove(body []byte, e encoding, limit int) ([]byte, Fault) {
	seen, sure := sniff(body)
	if e != brotlied && e != deflated {
		if seen == plain {
			return body, Lie
		}
		out, fault := d.run(body, seen, limit)
		if seen != e && fault == OK {
			fault = Lie
		}
		return out, fault
	}
	// Brotli and raw deflate have no magic number: decode, and check the result.
	out, fault := d.run(body, e, limit)
	if e == deflated && fault == Corrupt && len(out) == 0 {
		out, fault = d.run(body, rawDeflated, limit)
	}
	if fault != Corrupt && (fault != Truncated || len(out) > 0) {
		return out, fault
	}
	if sure {
		out, fault = d.run(body, seen, limit)
		if fault == OK {
			fault = Lie
		}
		return out, fault
	}
	if len(out) == 0 || looksLikeText(body) {
		return body, Lie
	}
	return out, fault
}

// IsPacked reports whether a body begins like gzip or zstd.
func IsPacked(body []byte) bool {
	_, sure := sniff(body)
	return sure
}

// sniff tells an encoding by its magic number.
func sniff(b []byte) (e encoding, sure bool) {
	switch {
	case len(b) >= 2 && b[0] == 0x1f && b[1] == 0x8b:
		return gzipped, true
	case len(b) >= 4 && b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd,
		len(b) >= 4 && b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18:
		return zstded, true
	default:
		return plain, false
	}
}

// looksLikeText reports whether b starts like text: without unusual control bytes.
func looksLikeText(b []byte) bool {
	for _, c := range b[:min(len(b), 512)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return false
		}
	}
	return true
}

// run decodes body into d.out[0].
func (d *Decoder) run(body []byte, e encoding, limit int) ([]byte, Fault) {
	if e == brotlied || e == zstded {
		return d.decodeOpaque(body, e, limit)
	}
	if cap(d.out[0]) == 0 {
		d.out[0] = make([]byte, 0, decodedMin)
	}
	out, fault := d.source.unpack(d.out[0][:0], e, body, min(d.o.SizeMax, limit))
	d.out[0] = out[:0]
	return d.within(out, fault, limit)
}

// decodeOpaque decodes brotli or zstd, whose decompressors do not report their cost. Brotli takes at most about 100 ns
// for each encoded byte, and so does zstd once its tables are limited (BenchmarkHostileBodies). So only the first
// OpaqueMax encoded bytes are decoded. A page with that many has about SizeMax bytes of text.
func (d *Decoder) decodeOpaque(body []byte, e encoding, limit int) ([]byte, Fault) {
	whole := len(body)
	body = body[:min(whole, d.o.OpaqueMax)]
	if e == zstded {
		body = body[:affordable(body)]
	}
	d.in.Reset(body)
	r, err := d.source.open(e, &d.in, d.o.WindowMax)
	if err != nil {
		return nil, Corrupt
	}
	out := d.out[0][:0]
	defer func() { d.out[0] = out[:0] }()
	for {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), min(max(2*cap(out), decodedMin), d.o.SizeMax+1))
			copy(grown, out)
			out = grown
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > d.o.SizeMax || len(out) > limit:
			return d.within(out, OK, limit)
		case err != nil && len(body) < whole && d.in.Len() == 0:
			return out, Work
		case err == io.EOF:
			if d.in.Len() > 0 {
				return out, Trailing
			}
			return out, OK
		case err != nil:
			return out, decodeFault(err)
		}
	}
}

// within truncates what exceeds the limits.
func (d *Decoder) within(out []byte, fault Fault, limit int) ([]byte, Fault) {
	switch {
	case len(out) > d.o.SizeMax:
		return out[:d.o.SizeMax], TooLarge
	case len(out) > limit:
		return out[:limit], Bomb
	default:
		return out, fault
	}
}
