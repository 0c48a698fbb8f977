package parse

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"orbweaver/engine/sitemap"
)

// Scanner reads one body at a time and reuses its memory. It is not safe for concurrent use: each worker has its own.
type Scanner struct {
	o     Options
	robot nameKey // o.Robot, as attribute values are compared
	res   Result

	have  attrSet         // attributes of the tag at hand
	value [attrCount]span // their values, as offsets into the body being read

	xml      bool // read by the lenient XML rules
	based    bool // a base element with an href was read: later ones do not count
	inline   bool // reading the document of a srcdoc attribute
	linksMax int  // of this body
	feed     *sitemap.Reader
	foreign  foreignStack
	template templateDepth

	arena  []byte // decoded references of this body
	text   []byte // the current value in UTF-8, before its references are replaced
	wide   []byte // a body that was decoded as a whole
	asUTF8 bool   // the current value was read as UTF-8, although the page's character set is another
	repair *encoding.Decoder
	coded  [16]byte // one character in the page's character set
	minus  [4]byte  // see encodable

	charset charsetState
	guessed bool          // the character set was guessed
	body    []byte        // the body at hand, borrowed
	work    int           // bytes that all readers of this body have processed, with repetitions; FuzzScan limits it
	labels  [4]labelEntry // the last labels looked up
	oldest  int           // index of the entry that is replaced next
}

// span is a half-open range of the body.
type span struct{ from, to int }

// NewScanner returns a Scanner. It panics if o, after WithDefaults, is invalid.
func NewScanner(o Options) *Scanner {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	return &Scanner{o: o, robot: nameKey(o.Robot), feed: sitemap.NewReader(feedOptions(o))}
}

// Scan reads a body without content encodings. It borrows body until the next Scan, and contentType, the value of the
// header or "", for the call. The Result is valid until the next Scan. The only error is ErrCharset; the Result then
// has no links.
func (s *Scanner) Scan(body, contentType []byte) (*Result, error) {
	s.res.reset()
	s.arena = trimScratch(s.arena)
	s.wide, s.text = trimScratch(s.wide), trimScratch(s.text)
	s.foreign, s.template = foreignStack{}, templateDepth{}
	s.inline = false
	s.based, s.linksMax, s.guessed, s.work = false, s.o.LinksMax, false, 0

	media, label := splitContentType(contentType)
	format := media.format()
	if format == sniffed {
		format = sniff(body)
	}
	if format == HTML && beginsFeed(body) {
		format = XML // as in browsers
	}
	s.res.Format = format
	if format == None {
		return &s.res, nil
	}
	body = s.chooseCharset(body, label, format)
	s.res.Charset = s.charset.name
	switch {
	case s.charset.forbidden:
		return &s.res, ErrCharset
	case s.charset.whole:
		body = s.decodeWhole(body)
	}
	s.body = body
	s.xml = format == XML
	switch {
	case format == Style:
		s.scanStyle(body, false)
	case s.xml && s.scanFeed(body):
	default:
		s.scanMarkup(body)
	}
	return &s.res, nil
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
func (s *Scanner) decodeWhole(body []byte) []byte {
	s.work += len(body)
	s.wide = appendDecoded(s.wide[:0], body, s.charset.decoder)
	s.charset = charsetState{name: s.charset.name, certain: true}
	return s.wide
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
