package parse

import (
	"orbweaver/engine/page/parse/script"
	"orbweaver/engine/page/pdflinks"
	"orbweaver/engine/page/sitemap"
)

// Scanner reads one body at a time and reuses its memory. It is not safe for concurrent use: each worker has its own.
type Scanner struct {
	o      *Options
	markup markupReader
	feed   *sitemap.Reader
	pdf    *pdflinks.Scanner
}

// NewScanner returns a Scanner. It panics if o, after WithDefaults, is invalid.
func NewScanner(o Options) *Scanner {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	s := &Scanner{
		o: &o, feed: sitemap.NewReader(feedOptions(o)),
		pdf: pdflinks.NewScanner(pdflinks.Options{LinksMax: o.LinksMax, RefMax: o.RefMax}),
	}
	s.markup.elements.o, s.markup.elements.links.o = s.o, s.o
	s.markup.elements.links.res.decoder = &s.markup.elements.links.text
	s.markup.elements.robot = nameKey(o.Robot)
	return s
}

// Scan reads a body without content encodings. It borrows body until the next Scan, and contentType, the value of the
// header or "", for the call. The Result is valid until the next Scan. The only error is ErrCharset; the Result then
// has no links.
func (s *Scanner) Scan(body, contentType []byte) (*Result, error) {
	elements := &s.markup.elements
	links := &elements.links
	links.res.reset()
	links.text.begin()
	links.scripts.Begin()
	links.linksMax, links.speculative = s.o.LinksMax, 0
	s.markup.foreign, s.markup.template, s.markup.inline = foreignStack{}, templateDepth{}, false
	elements.based = false
	s.markup.words.begin(s.o.Text || s.o.Details)
	s.markup.words.linksOnly = !s.o.Text
	s.markup.details.begin(s.o.Details)
	s.markup.render = renderSigns{}

	format, label := s.formatOf(body, contentType)
	links.res.Format = format
	switch format {
	case None:
		return &links.res, nil
	case PDFFile:
		s.scanPDF(body)
		return &links.res, nil
	}
	body = links.text.chooseCharset(body, label, format, &elements.attributes)
	switch {
	case links.text.charset.forbidden:
		links.res.Charset = links.text.charset.name
		return &links.res, ErrCharset
	case links.text.charset.whole:
		body = links.text.decodeWhole(body)
	}
	links.text.body = body
	elements.xml = format == XML
	switch {
	case format == Style:
		links.scanStyle(body, false)
	case format == ScriptFile:
		links.scanScript(body, script.File)
	case format == PlaylistFile:
		s.scanM3U(body)
	case format == DataFile:
		media, _ := splitContentType(contentType)
		s.scanData(body, media)
	case elements.xml && (s.scanFeed(body) || s.scanDASH(body)):
	default:
		s.markup.scanMarkup(body)
		if elements.xml && s.o.Speculative {
			links.text.work += len(body)
			script.XML(body, links.address)
		}
		if format == HTML {
			links.res.Render = s.markup.render.score(body, &links.res)
		}
		s.markup.words.endLine()
		if s.o.Text {
			links.res.Text = s.markup.words.text
		}
		s.markup.details.setTexts(links.res.Elements, s.markup.words.text)
	}
	if !format.isData() {
		links.res.Charset = links.text.charset.name
	}
	return &links.res, nil
}

// formatOf returns the format of a body, and the label of its character set in contentType.
func (s *Scanner) formatOf(body, contentType []byte) (format Format, label []byte) {
	media, label := splitContentType(contentType)
	format = media.format()
	if format == sniffed {
		format = sniff(body)
	}
	if format == None {
		format = s.dataFormat(body, media)
	}
	if format == HTML && beginsFeed(body) {
		format = XML // as in browsers
	}
	return format, label
}

// StartMin is how many bytes of a body Charset needs.
const StartMin = prescanMax

// Charset returns the character set that Scan finds, of the start of a body, if the rest of the body cannot change it:
// the header or the start declares it, or the format has a default. isKnown is false if the start has fewer than
// StartMin bytes, or if Scan must read on.
func (s *Scanner) Charset(start, contentType []byte) (name string, isKnown bool) {
	if len(start) < StartMin {
		return "", false
	}
	format, label := s.formatOf(start, contentType)
	if format == None || format.isData() {
		return "", true
	}
	text := &s.markup.elements.links.text
	text.begin()
	if rest := text.chooseCharset(start, label, format, &s.markup.elements.attributes); format == HTML {
		// A feed may begin behind a comment, and a meta element may follow.
		for len(rest) > 0 && class[rest[0]]&isSpace != 0 {
			rest = rest[1:]
		}
		isKnown = text.charset.certain && !foldPrefix(rest, "<!--") && !foldPrefix(rest, "<?")
	} else {
		media, _ := splitContentType(contentType)
		isKnown = media.format() == format
	}
	return text.charset.name, isKnown
}
