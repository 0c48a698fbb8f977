package parse

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// textDecoder turns bytes of the current body into UTF-8, and the queries of links into the page's character set.
type textDecoder struct {
	charset   charsetState
	labels    charsetLabels
	guessable bool   // HTML without a declared character set, which was not guessed yet
	body      []byte // the current body, borrowed
	work      int    // bytes that all readers of this body have processed, with repetitions; FuzzScan limits it

	arena  []byte // decoded references of this body
	text   []byte // the current value in UTF-8, before its references are replaced
	wide   []byte // a body that was decoded as a whole
	asUTF8 bool   // the current value was read as UTF-8, although the page's character set is another
	repair *encoding.Decoder
	coded  [16]byte // one character in the page's character set
	minus  [4]byte  // see encodable
}

// begin forgets the previous body.
func (d *textDecoder) begin() {
	d.arena = trimScratch(d.arena)
	d.wide, d.text = trimScratch(d.wide), trimScratch(d.text)
	d.guessable, d.work = false, 0
}

// scratchMax is the most memory in bytes that a Scanner keeps between bodies, so that a large body does not occupy it
// forever.
const scratchMax = 1 << 20

func trimScratch(b []byte) []byte {
	if cap(b) > scratchMax {
		return nil
	}
	return b[:0]
}

// decodeWhole turns a body in a character set that is not a superset of ASCII into UTF-8.
func (d *textDecoder) decodeWhole(body []byte) []byte {
	d.work += len(body)
	d.wide = appendDecoded(d.wide[:0], body, d.charset.decoder)
	d.charset = charsetState{name: d.charset.name, certain: true}
	return d.wide
}

// appendDecoded appends src, decoded, to dst. Decoders of web encodings replace what they cannot read, so there is no
// error to report.
func appendDecoded(dst, src []byte, decoder *encoding.Decoder) []byte {
	decoder.Reset()
	for {
		if free := cap(dst) - len(dst); free < len(src)+16 {
			grown := make([]byte, len(dst), 2*cap(dst)+2*len(src)+64)
			copy(grown, dst)
			dst = grown
		}
		wrote, read, err := decoder.Transform(dst[len(dst):cap(dst)], src, true)
		dst, src = dst[:len(dst)+wrote], src[read:]
		switch {
		case err == transform.ErrShortDst: //nolint:errorlint // transformers return it bare, by contract
			continue
		case err != nil && len(src) > 0:
			dst, src = append(dst, "\uFFFD"...), src[1:]
		default:
			return dst
		}
	}
}

// decode turns a raw value into UTF-8 with character references replaced. It gives the value itself when there is
// nothing to do, which is nearly always, and otherwise a piece of the arena. inAttr says by which of the two rules
// references without a semicolon are read.
func (d *textDecoder) decode(v []byte, inAttr bool) []byte {
	d.asUTF8 = false
	d.work += len(v)
	high := !plain(v)
	if !high && bytes.IndexByte(v, '&') < 0 {
		return v
	}
	if high {
		v = d.toUTF8(v)
	}
	start := len(d.arena)
	d.arena = appendUnescaped(d.arena, v, inAttr)
	return d.arena[start:len(d.arena):len(d.arena)]
}

// plain says whether there is no byte in v that is zero or not ASCII. It may say false to a few values that are plain.
func plain(v []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(v) >= 8 {
		w := binary.LittleEndian.Uint64(v)
		if ((w-ones)|w)&tops != 0 {
			return false
		}
		v = v[8:]
	}
	for _, c := range v {
		if c == 0 || c >= 0x80 {
			return false
		}
	}
	return true
}

// toUTF8 turns bytes of the page's character set into UTF-8. A page that named no character set may well be UTF-8: a
// value that reads as UTF-8 is taken so, whatever the fallback.
func (d *textDecoder) toUTF8(v []byte) []byte {
	if d.charset.decoder == nil || !d.charset.certain {
		if utf8.Valid(v) {
			d.asUTF8 = true
			return v
		}
		d.guessCharset(d.body)
	}
	decoder := d.charset.decoder
	if decoder == nil {
		decoder = d.utf8Decoder()
	}
	d.text = appendDecoded(d.text[:0], v, decoder)
	return d.text
}

// encodeQuery writes the query of a reference as browsers do in a page whose character set is not UTF-8: its characters
// beyond ASCII as percent-encoded bytes of the page's character set.
func (d *textDecoder) encodeQuery(ref []byte) []byte {
	d.work += len(ref)
	from := bytes.IndexByte(ref, '?')
	if from < 0 {
		return ref
	}
	query, fragment := ref[from:], []byte(nil)
	if i := bytes.IndexByte(query, '#'); i >= 0 {
		query, fragment = query[:i], query[i:]
	}
	if plain(query) {
		return ref
	}
	const hex = "0123456789ABCDEF"
	start := len(d.arena)
	d.arena = append(d.arena, ref[:from]...)
	for len(query) > 0 {
		r, n := utf8.DecodeRune(query)
		if r < utf8.RuneSelf {
			d.arena = append(d.arena, query[0])
			query = query[1:]
			continue
		}
		d.charset.encoder.Reset()
		wrote, _, err := d.charset.encoder.Transform(d.coded[:], d.encodable(r, query[:n]), true)
		if err != nil || r == 0xE5E5 {
			d.arena = append(d.arena, "%26%23"...)
			d.arena = strconv.AppendInt(d.arena, int64(r), 10)
			d.arena = append(d.arena, "%3B"...)
		} else {
			for _, c := range d.coded[:wrote] {
				if c < 0x7F {
					d.arena = append(d.arena, c)
				} else {
					d.arena = append(d.arena, '%', hex[c>>4], hex[c&15])
				}
			}
		}
		query = query[n:]
	}
	d.arena = append(d.arena, fragment...)
	return d.arena[start:len(d.arena):len(d.arena)]
}

// encodable is the character that stands for r in the page's character set, in UTF-8; nearly always itself, c. What the
// Encoding Standard has beyond x/text: there U+E5E5, which encodeQuery leaves out, is in no character set.
func (d *textDecoder) encodable(r rune, c []byte) []byte {
	if r == 0x2212 && (d.charset.name == "shift_jis" || d.charset.name == "euc-jp") {
		return append(d.minus[:0], "\uFF0D"...)
	}
	return c
}

// utf8Decoder returns a decoder that replaces what is not UTF-8.
func (d *textDecoder) utf8Decoder() *encoding.Decoder {
	if d.repair == nil {
		d.repair = unicode.UTF8.NewDecoder()
	}
	return d.repair
}

// keep copies b into the arena.
func (d *textDecoder) keep(b []byte) []byte {
	start := len(d.arena)
	d.arena = append(d.arena, b...)
	return d.arena[start:len(d.arena):len(d.arena)]
}

// guessMax is how many bytes of a body are examined to guess its character set, from the first non-ASCII byte.
const guessMax = 16 << 10

// guessCharset examines a page without a declared character set, at the first value that is neither ASCII nor UTF-8.
func (d *textDecoder) guessCharset(body []byte) {
	if !d.guessable || d.charset.certain || d.charset.decoder == nil {
		return
	}
	d.guessable = false
	d.work += len(body)
	from := 0
	for from < len(body) && body[from] < utf8.RuneSelf {
		from++
	}
	body = body[from:]
	if c, ok := d.labels.lookup([]byte(guessCharset(body[:min(len(body), guessMax)]))); ok {
		d.charset = c
		d.charset.certain = false
	}
}
