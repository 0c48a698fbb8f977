package fetch

import (
	"bytes"
	"io"
)

// DecodeFault says what is wrong with an encoded body. None of them is fatal: there are always bytes to parse.
type DecodeFault uint8

// The faults.
const (
	DecodeOK        DecodeFault = iota
	DecodeLie                   // the body is not what Content-Encoding says; it was sniffed, or is returned as it is
	DecodeTruncated             // the encoded bytes end too early; what decodes is returned
	DecodeCorrupt               // bad bytes or a bad checksum; what decoded before is returned
	DecodeTrailing              // bytes after the end of the encoded data; they are ignored
	DecodeBomb                  // the ratio limit was reached; what decoded so far is returned
	DecodeTooLarge              // the size limit was reached; the same
	DecodeLayers                // too many encodings, one inside the other; the payload is returned as it is
	DecodeUnknown               // an encoding that we do not know; the same
	DecodeWork                  // the body would cost more CPU than its size allows; what decoded so far is returned
)

// String returns the fault in a word.
func (f DecodeFault) String() string {
	switch f {
	case DecodeOK:
		return "ok"
	case DecodeLie:
		return "lie"
	case DecodeTruncated:
		return "truncated"
	case DecodeCorrupt:
		return "corrupt"
	case DecodeTrailing:
		return "trailing"
	case DecodeBomb:
		return "bomb"
	case DecodeTooLarge:
		return "too-large"
	case DecodeLayers:
		return "layers"
	case DecodeWork:
		return "work"
	default:
		return "unknown-encoding"
	}
}

// DecoderOptions are the limits of a Decoder. Zero fields have defaults.
type DecoderOptions struct {
	SizeMax   int // bytes a body may decode to; default 16 MiB
	RatioMax  int // times its encoded size a body may decode to, default 200,
	RatioFree int // once it is larger than this; default 1 MiB
	LayersMax int // encodings that are removed, one inside the other; default 1. Each one multiplies what a byte of the wire can cost
	WindowMax int // bytes of history a zstd body may ask for; default 8 MiB
	OpaqueMax int // encoded bytes of a brotli or zstd body that are decoded: see decodeOpaque; default 4 MiB
}

// WithDefaults returns a copy of o in which every field that is zero has its default.
func (o DecoderOptions) WithDefaults() DecoderOptions {
	setDefault(&o.SizeMax, 16<<20)
	setDefault(&o.RatioMax, 200)
	setDefault(&o.RatioFree, 1<<20)
	setDefault(&o.LayersMax, 1)
	setDefault(&o.WindowMax, 8<<20)
	setDefault(&o.OpaqueMax, 4<<20)
	return o
}

// Decoder removes content encodings. It holds the memory for that, so each parse worker has its own.
type Decoder struct {
	o      DecoderOptions
	in     bytes.Reader
	source inflaters
	out    [2][]byte // layers decode from one into the other
	stack  [8]encoding
}

// NewDecoder makes a Decoder. It allocates nothing large until there is something to decode.
func NewDecoder(o DecoderOptions) *Decoder {
	return &Decoder{o: o.WithDefaults()}
}

// decodedMin is the size of the first buffer of decoded bytes.
const decodedMin = 256 << 10

// Decoded returns the payload of p without its encodings, for parsing; the archive keeps the encoded bytes. The result
// aliases p if nothing was to be removed, and d if something was; then the next call overwrites it.
func (p *Page) Decoded(d *Decoder) ([]byte, DecodeFault) {
	payload := p.Payload()
	if len(payload) == 0 {
		return payload, DecodeOK
	}
	n, fault := d.layers(p)
	if n == 0 || fault != DecodeOK {
		return payload, fault
	}
	body := payload
	limit := max(d.o.RatioFree, d.o.RatioMax*len(payload))
	for i := n - 1; i >= 0; i-- {
		if n-i > d.o.LayersMax {
			return leave(payload, body)
		}
		next, f := d.remove(body, d.stack[i], limit)
		if fault == DecodeOK {
			fault = f
		}
		body = next
		if f == DecodeBomb || f == DecodeTooLarge || f == DecodeWork {
			break
		}
		d.out[0], d.out[1] = d.out[1], d.out[0]
	}
	return body, fault
}

// leave gives what is to be parsed of a body that has more layers by its header than are removed. Some servers name one encoding twice: if what
// came out is text, it is the page.
func leave(payload, body []byte) ([]byte, DecodeFault) {
	if _, sure := sniff(body); sure || !looksLikeText(body) {
		return payload, DecodeLayers
	}
	return body, DecodeLie
}

// layers collects the encodings of p, outermost last: a transfer encoding is around what the content encodings made.
func (d *Decoder) layers(p *Page) (int, DecodeFault) {
	n := 0
	for _, name := range [...]string{"content-encoding", "transfer-encoding"} {
		for value := range p.HeaderValues(name) {
			for len(value) > 0 {
				var token []byte
				token, value, _ = bytes.Cut(value, []byte{','})
				token = trimSpace(token)
				e := encodingOf(token)
				switch {
				case len(token) == 0 || e == plain:
					continue
				case e == unknown:
					return 0, DecodeUnknown
				case n == len(d.stack):
					return 0, DecodeLayers
				}
				d.stack[n] = e
				n++
			}
		}
	}
	return n, DecodeOK
}

// encoding is one that we know.
type encoding uint8

const (
	unknown encoding = iota
	plain
	gzipped
	deflated
	rawDeflated // deflated without the zlib header that the standard asks for
	brotlied
	zstded
)

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

// remove takes one layer off body. Encodings are taken at their word only if the first bytes bear them out.
func (d *Decoder) remove(body []byte, e encoding, limit int) ([]byte, DecodeFault) {
	seen, sure := sniff(body)
	if e != brotlied && e != deflated {
		if seen == plain {
			return body, DecodeLie
		}
		out, fault := d.run(body, seen, limit)
		if seen != e && fault == DecodeOK {
			fault = DecodeLie
		}
		return out, fault
	}
	// Neither brotli nor raw deflate can be told by its first bytes: try, and doubt afterwards.
	out, fault := d.run(body, e, limit)
	if e == deflated && fault == DecodeCorrupt && len(out) == 0 {
		out, fault = d.run(body, rawDeflated, limit)
	}
	if fault != DecodeCorrupt && (fault != DecodeTruncated || len(out) > 0) {
		return out, fault
	}
	if sure {
		out, fault = d.run(body, seen, limit)
		if fault == DecodeOK {
			fault = DecodeLie
		}
		return out, fault
	}
	if len(out) == 0 || looksLikeText(body) {
		return body, DecodeLie
	}
	return out, fault
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

// looksLikeText says whether b starts as text does: no control bytes that text has no use for.
func looksLikeText(b []byte) bool {
	for _, c := range b[:min(len(b), 512)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return false
		}
	}
	return true
}

// run decodes body into d.out[0].
func (d *Decoder) run(body []byte, e encoding, limit int) ([]byte, DecodeFault) {
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

// decodeOpaque decodes brotli or zstd, whose decompressors do not tell what a body costs them. Brotli takes at most some 100 ns for each
// encoded byte, whatever comes out, and so does zstd once its tables are bounded (BenchmarkHostileBodies). So the encoded bytes are bounded
// too: those beyond OpaqueMax are not decoded. A page of that many has about SizeMax bytes of text.
func (d *Decoder) decodeOpaque(body []byte, e encoding, limit int) ([]byte, DecodeFault) {
	whole := len(body)
	body = body[:min(whole, d.o.OpaqueMax)]
	if e == zstded {
		body = body[:affordable(body)]
	}
	d.in.Reset(body)
	r, err := d.source.open(e, &d.in, d.o.WindowMax)
	if err != nil {
		return nil, DecodeCorrupt
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
			return d.within(out, DecodeOK, limit)
		case err != nil && len(body) < whole && d.in.Len() == 0:
			return out, DecodeWork
		case err == io.EOF:
			if d.in.Len() > 0 {
				return out, DecodeTrailing
			}
			return out, DecodeOK
		case err != nil:
			return out, decodeFault(err)
		}
	}
}

// within cuts what is more than the limits allow.
func (d *Decoder) within(out []byte, fault DecodeFault, limit int) ([]byte, DecodeFault) {
	switch {
	case len(out) > d.o.SizeMax:
		return out[:d.o.SizeMax], DecodeTooLarge
	case len(out) > limit:
		return out[:limit], DecodeBomb
	default:
		return out, fault
	}
}
