package pdflinks

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// file writes the objects of a PDF file.
type file struct{ bytes.Buffer }

func newFile() *file {
	f := &file{}
	f.WriteString("%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")
	return f
}

// object writes an object.
func (f *file) object(number int, text string) *file {
	fmt.Fprintf(f, "%d 0 obj\n%s\nendobj\n", number, text)
	return f
}

// stream writes an object with a stream. entries are those of its dictionary, without /Length.
func (f *file) stream(number int, entries string, data []byte) *file {
	fmt.Fprintf(f, "%d 0 obj\n<<%s/Length %d>>stream\n%s\nendstream\nendobj\n", number, entries, len(data), data)
	return f
}

// objects writes an object stream of objects with numbers from one on.
func (f *file) objects(number, from int, texts ...string) *file {
	header, body := "", ""
	for i, text := range texts {
		header += fmt.Sprintf("%d %d ", from+i, len(body))
		body += text + " "
	}
	entries := fmt.Sprintf("/Type/ObjStm/N %d/First %d/Filter/FlateDecode", len(texts), len(header))
	return f.stream(number, entries, deflate(header+body))
}

// end writes the trailer. A reader that looks for objects needs no table.
func (f *file) end() []byte {
	f.WriteString("xref\n0 1\n0000000000 65535 f \ntrailer\n<</Root 1 0 R/Size 9>>\nstartxref\n9\n%%EOF\n")
	return f.Bytes()
}

func deflate(text string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// link returns a link annotation to a reference that needs no escapes.
func link(ref string) string {
	return "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(" + ref + ")>>>>"
}

// linksOf returns the links of a file.
func linksOf(pdf []byte) string {
	var refs []string
	for _, ref := range NewScanner(Options{}).Scan(pdf).Links {
		refs = append(refs, string(ref))
	}
	return strings.Join(refs, " ")
}

// Writers put a link into an annotation, or the action or its string into an object of its own. They put blanks,
// comments and line ends anywhere, and escape names.
func TestScan_findsALinkHoweverItIsWritten(t *testing.T) {
	const want = "http://a.test/b"
	for name, objects := range map[string]string{
		"pdfTeX":       "5 0 obj\n<<\n/Type /Annot\n/Subtype /Link\n/A << /S /URI /URI (http://a.test/b) >>\n>>\nendobj",
		"type":         "5 0 obj<</Type/Annot/Subtype/Link/A<</Type/Action/S/URI/URI(http://a.test/b)>>>>endobj",
		"URI first":    "5 0 obj<</A<</URI(http://a.test/b)/S/URI>>>>endobj",
		"own object":   "5 0 obj<</A 6 0 R>>endobj 6 0 obj<</S/URI/URI(http://a.test/b)>>endobj",
		"own string":   "5 0 obj<</S/URI/URI 6 0 R>>endobj 6 0 obj(http://a.test/b)endobj",
		"string first": "6 0 obj(http://a.test/b)endobj 5 0 obj<</S/URI/URI 6 0 R>>endobj",
		"hexadecimal":  "5 0 obj<</S/URI/URI<687474703A2F2F612E746573742F62>>>endobj",
		"hex, blanks":  "5 0 obj<</S/URI/URI< 6874 74703a2f2f\n612e746573742f6 2 >>>endobj",
		"UTF-16":       "5 0 obj<</S/URI/URI<FEFF0068007400740070003A002F002F0061002E0074006500730074002F0062>>>endobj",
		"UTF-16LE":     "5 0 obj<</S/URI/URI<FFFE680074007400700" + "03A002F002F0061002E0074006500730074002F006200>>>endobj",
		"octal":        `5 0 obj<</S/URI/URI(http:\057\57a.test\57b)>>endobj`,
		"line break":   "5 0 obj<</S/URI/URI(http://a.te\\\nst/b)>>endobj",
		"blanks":       "5 0 obj<</S/URI/URI(  http://a.test/b\x00)>>endobj",
		"comments":     "5 0 obj % (\n<< % >>\n/S%x\n/URI/URI % (no)\n(http://a.test/b)>>endobj",
		"name escape":  "5 0 obj<</S/#55RI/U#52#49(http://a.test/b)>>endobj",
		"bookmark":     "5 0 obj<</Title(x)/Parent 4 0 R/A<</S/URI/URI(http://a.test/b)>>>>endobj",
		"no endobj":    "5 0 obj<</S/URI/URI(http://a.test/b)>> 6 0 obj null endobj",
		"no brackets":  "5 0 obj<</A<</S/URI/URI(http://a.test/b)endobj",
		"no spaces":    "5 0 obj<</S/URI/URI(http://a.test/b)>>endobj6 0 obj[]endobj",
		"generation":   "5 65535 obj<</S/URI/URI(http://a.test/b)>>endobj",
		"in an array":  "5 0 obj[[<</A<</S/URI/URI(http://a.test/b)>>>>]]endobj",
		"open string":  "4 0 obj<</T(abc\nendobj\n5 0 obj<</S/URI/URI(http://a.test/b)>>endobj",
	} {
		if got := linksOf([]byte("%PDF-1.4\n" + objects)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What looks like a link in a stream, in a comment, or outside of an object is none. Neither is the target of a form,
// and what has another type.
func TestScan_takesNoOtherStrings(t *testing.T) {
	f := newFile()
	f.WriteString("<</S/URI/URI(http://no.test/outside)>>\n% <</S/URI/URI(http://no.test/comment)>>\n")
	f.stream(3, "", []byte("4 0 obj "+link("http://no.test/stream")+" endobj"))
	f.object(5, "<</S/SubmitForm/F<</FS/URL/F(http://no.test/form)>>>>")
	f.object(6, "<</S/JavaScript/JS(app.launchURL\\('http://no.test/'\\))>>")
	f.object(7, "<</Type/Catalog/URI<<>>/S/GoTo/D(http://no.test/name)>>")
	f.object(8, "(http://no.test/string)")
	if got := linksOf(f.end()); got != "" {
		t.Errorf("found %q", got)
	}
}

// A text may have characters beyond ASCII, as UTF-8, as ISO 8859-1 or as UTF-16.
func TestScan_readsCharactersBeyondASCII(t *testing.T) {
	f := newFile().object(2, link("http://a.test/\xC3\xBC")).object(3, link("http://a.test/\xFC"))
	f.object(4, "<</S/URI/URI<FEFF002F00FCD83DDE00>>>").object(5, link("\xEF\xBB\xBF/\xC3\xBC"))
	if got, want := linksOf(f.end()), "http://a.test/ü http://a.test/ü /ü😀 /ü"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// As in browsers, a host with www. needs no scheme. Links to other files are references, also by a file specification.
func TestScan_readsHostsWithoutSchemeAndFiles(t *testing.T) {
	f := newFile().object(2, link("www.a.test/b")).object(3, link("www.html"))
	f.object(4, "<</S/GoToR/D[0/Fit]/F(papers/1.pdf)>>")
	f.object(5, "<</S/Launch/F<</Type/Filespec/F(2.pdf)/UF(\xFE\xFF\x002\x00.pdf)>>>>")
	f.object(6, "<</S/GoToR/F 7 0 R>>").object(7, "<</Type/Filespec/F(3.pdf)>>")
	pdf := bytes.Replace(f.end(), []byte("\x00.pdf"), []byte("\x00.\x00p"), 1)
	if got, want := linksOf(pdf), "http://www.a.test/b www.html papers/1.pdf 2.p 3.pdf"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Files since PDF 1.5 have most objects in compressed streams, and a stream in place of the trailer.
func TestScan_readsObjectStreams(t *testing.T) {
	f := newFile().objects(3, 10, link("http://a.test/1"), "[1 2]", link("http://a.test/2"))
	f.objects(4, 20, link("http://a.test/3"), "(http://a.test/4)", "<</S/URI/URI 21 0 R>>")
	header := "30 0 31 40 "
	body := "<</S/URI/URI(http://a.test/5)>>         <</S/URI/URI(http://a.test/6)>>"
	f.stream(5, fmt.Sprintf("/Type/ObjStm/N 2/First %d", len(header)), []byte(header+body))
	f.stream(6, "/Type/XRef/W[1 2 1]/Root 1 0 R/Size 31", []byte("\x01\x00\x00\x00"))
	want := "http://a.test/1 http://a.test/2 http://a.test/3 http://a.test/4 http://a.test/5 http://a.test/6"
	if got := linksOf(f.Bytes()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The length of a stream may be wrong, unknown, or an object of its own.
func TestScan_readsStreamsWithAWrongLength(t *testing.T) {
	packed := deflate("10 0 " + link("http://a.test/1"))
	for _, length := range []string{"/Length 3", "/Length 999999", "", "/Length 9 0 R", "/Length -1", "/Length 1.5"} {
		f := newFile()
		fmt.Fprintf(f, "3 0 obj<</Type/ObjStm/N 1/First 5/Filter[/FlateDecode]%s>>stream\r\n%s\r\nendstream endobj\n",
			length, packed)
		f.object(4, link("http://a.test/2"))
		if got := linksOf(f.end()); got != "http://a.test/1 http://a.test/2" {
			t.Errorf("%s: %q", length, got)
		}
	}
	// A stream that has the keyword in it is skipped by its length.
	f := newFile().stream(3, "/Type/EmbeddedFile", []byte("endstream endobj 4 0 obj"+link("http://no.test/")+"endobj"))
	if got := linksOf(f.end()); got != "" {
		t.Errorf("the links of an attachment are taken: %q", got)
	}
}

// An update is appended to the file. The last definition of an object counts, in a stream or not.
func TestScan_theLastDefinitionOfAnObjectCounts(t *testing.T) {
	f := newFile().object(5, link("http://old.test/1")).objects(6, 10, link("http://old.test/2"), link("http://a.test/3"))
	f.object(7, "<</S/URI/URI 8 0 R>>").object(8, "(http://old.test/4)")
	f.end()
	f.object(5, "null").objects(9, 10, link("http://a.test/2")).object(8, "(http://a.test/4)")
	if got, want := linksOf(f.end()), "http://a.test/3 http://a.test/4 http://a.test/2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A linearised file begins with the first page, its table and a trailer.
func TestScan_readsLinearisedFiles(t *testing.T) {
	f := newFile().object(40, "<</Linearized 1/L 9999/H[500 30]/O 43/E 900/N 2/T 9000>>")
	f.end()
	f.object(43, link("http://a.test/first")).object(1, "<</Type/Pages>>").object(2, link("http://a.test/second"))
	if got, want := linksOf(f.end()), "http://a.test/first http://a.test/second"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// References are relative to the base that the catalogue names.
func TestScan_reportsTheBase(t *testing.T) {
	for _, catalogue := range []string{
		"1 0 obj<</Type/Catalog/URI<</Base(http://base.test/)>>/Pages 2 0 R>>endobj",
		"1 0 obj<</Type/Catalog/URI 3 0 R>>endobj 3 0 obj<</Base(http://base.test/)>>endobj",
		"1 0 obj<</Type/Catalog/URI<</Base 3 0 R>>>>endobj 3 0 obj(http://base.test/)endobj",
	} {
		r := NewScanner(Options{}).Scan([]byte("%PDF-1.7\n" + catalogue))
		if string(r.Base) != "http://base.test/" || len(r.Links) > 0 {
			t.Errorf("%s: base %q, links %q", catalogue, r.Base, r.Links)
		}
	}
	if r := NewScanner(Options{}).Scan(newFile().object(2, link("a")).end()); r.Base != nil {
		t.Errorf("base %q", r.Base)
	}
}

// Of a long file only the start is searched. It may be encrypted, too: what is not ASCII is noise.
func TestScan_takesTheStartOfAFile(t *testing.T) {
	f := newFile().object(2, link("x\x93!")).object(3, link("http://a.test/"))
	if got := linksOf(f.Bytes()); got != "http://a.test/" {
		t.Errorf("the start of a file: %q", got)
	}
}

// Limits hold for the number of links and their length, and are counted.
func TestScan_countsLinksBeyondTheLimits(t *testing.T) {
	f := newFile()
	for i := range 7 {
		f.object(i+2, link("/"+strings.Repeat("a", i*5)))
	}
	r := NewScanner(Options{LinksMax: 3, RefMax: 20}).Scan(f.end())
	if len(r.Links) != 3 || r.Dropped != 4 {
		t.Errorf("%d links, %d dropped", len(r.Links), r.Dropped)
	}
	r = NewScanner(Options{RefMax: 20}).Scan(f.Bytes())
	if len(r.Links) != 4 || r.Long != 3 {
		t.Errorf("%d links, %d too long", len(r.Links), r.Long)
	}
}

// A Scanner that was used before reads a file as a new one does.
func TestScan_forgetsTheLastFile(t *testing.T) {
	first := newFile().object(2, "<</URI<</Base(http://base.test/)>>>>").objects(3, 10, link("/a"), link("/b")).end()
	second := newFile().object(10, link("/c")).end()
	s := NewScanner(Options{})
	for range 2 {
		if r := s.Scan(first); len(r.Links) != 2 || r.Base == nil {
			t.Errorf("first: %q %q", r.Links, r.Base)
		}
		if r := s.Scan(second); len(r.Links) != 1 || string(r.Links[0]) != "/c" || r.Base != nil {
			t.Errorf("second: %q %q", r.Links, r.Base)
		}
	}
}

// A file without links, as most are, costs no memory.
func TestScan_allocatesNothingWithoutLinks(t *testing.T) {
	pdf := newFile().object(1, "<</Type/Catalog/Pages 2 0 R>>").stream(3, "/Filter/FlateDecode", deflate("x")).end()
	s := NewScanner(Options{})
	s.Scan(pdf)
	if n := testing.AllocsPerRun(10, func() { s.Scan(pdf) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestText_escapesAndOctalNumbersAreReadByTheStandard(t *testing.T) {
	for raw, want := range map[string]string{
		`a\nb\rc\td\be\ff`: "a\nb\rc\td\be\ff", `\(\)\\`: `()\`, `\x`: "x", `\0053`: "\x053", `\53\053`: "++",
		`\377`: "\xFF", `\777`: "\xFF", `\18`: "\x018", "a\\\r\nb\\\rc\\\nd": "abcd", "a\r\nb\rc": "a\nb\nc", `a\`: `a\`,
	} {
		if got := string(appendLiteral(nil, []byte(raw))); got != want {
			t.Errorf("%q is read as %q, want %q", raw, got, want)
		}
	}
	if got := string(appendHex(nil, []byte("4 1\n4x2 5"))); got != "ABP" {
		t.Errorf("hexadecimal: %q", got)
	}
	if !slices.Equal(unescapeName([]byte("A#42#4#zz#")), []byte("AB#4#zz#")) {
		t.Errorf("name: %q", unescapeName([]byte("A#42#4#zz#")))
	}
}
