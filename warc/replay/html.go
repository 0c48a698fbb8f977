package replay

import (
	"bufio"
	"errors"
	"html/template"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"orbweaver/warc/lookup"
)

// rewriter writes a page with the addresses of what it refers to.
//
// Browsers and readers of tags differ in what is text and what is a tag: it depends on scripts, on SVG and on what is
// around. So each tag is written in one form, and no "<" is left in what is text here. Then no text is a tag to a
// browser, and what a browser takes for text can do no harm.
type rewriter struct {
	markup
	references

	out       writer
	isXML     bool
	hasBase   bool
	frames    bool // the page is a frame set
	innermost int  // how many srcdoc are around
}

// srcdocMost is how many pages lie in each other.
const srcdocMost = 3

// rewriteHTML writes a page in UTF-8. With a bar it says what it is.
func rewriteHTML(w io.Writer, body io.Reader, kind string, t target, c *lookup.Capture, b barOptions) error {
	text, err := charset.NewReader(body, kind)
	if err != nil && !isEOF(err) {
		return err
	}
	if err != nil {
		text = strings.NewReader("")
	}
	out := bufio.NewWriterSize(w, 16<<10)
	r := rewriter{
		markup:     markup{in: bufio.NewReaderSize(text, 16<<10)},
		references: references{t: t, base: c.URL}, out: out, isXML: strings.HasPrefix(kind, xhtml),
	}
	if err := r.rewritePage(); err != nil {
		return err
	}
	if b.isShown && !r.frames {
		b.URL, b.Time, b.Stamp = string(c.URL), formatTime(c), c.Stamp
		_ = bar.Execute(out, b) // the writer keeps the error
	}
	return out.Flush()
}

// barOptions are what a bar says.
type barOptions struct {
	isShown bool
	Player  string // its address; "" without

	URL, Time, Stamp string // of the capture
}

// bar says that a page is archived. Its style cannot be changed by that of the page.
var bar = template.Must(template.New("bar").Parse(
	`<div style="all:initial;position:fixed;bottom:8px;right:8px;z-index:2147483647;background:#222;color:#fff;` +
		`font:13px/1.4 system-ui,sans-serif;padding:4px 10px;border-radius:4px;opacity:.9">archived {{.Time}} ` +
		`<a style="all:unset;cursor:pointer;text-decoration:underline" href="/captures?url={{.URL}}">other times</a> ` +
		`{{if .Player}}<a style="all:unset;cursor:pointer;text-decoration:underline" ` +
		`href="{{.Player}}/?url={{.URL}}&amp;ts={{.Stamp}}">with scripts</a> ` +
		`{{end}}` +
		`<a style="all:unset;cursor:pointer;text-decoration:underline" href="/">all pages</a></div>`,
))

// rewritePage writes the page to its end.
func (r *rewriter) rewritePage() error {
	for r.err == nil {
		text, err := r.in.ReadSlice('<')
		if err == nil {
			text = text[:len(text)-1]
		}
		r.write(string(text))
		switch {
		case err == nil:
			r.markupToken()
		case !errors.Is(err, bufio.ErrBufferFull):
			r.err = err
		}
	}
	if isEOF(r.err) {
		return nil
	}
	return r.err
}

func (r *rewriter) write(text string) { _, _ = r.out.WriteString(text) } // the writer keeps the error

// markupToken writes what "<" begins.
func (r *rewriter) markupToken() {
	b, _ := r.in.Peek(2)
	var c, d byte
	if len(b) > 0 {
		c = b[0]
	}
	if len(b) > 1 {
		d = b[1]
	}
	switch {
	case isAlpha(c):
		if r.readTag(); r.err == nil {
			r.startTag()
		}
	case c == '/' && isAlpha(d):
		r.next()
		if r.readTag(); r.err == nil && isName([]byte(r.tag.name)) {
			r.write("</" + plainName(r.tag.name) + ">")
		}
	case c == '!' && r.startsWith("!--"):
		_, _ = r.in.Discard(len("!--")) // they are in the buffer
		r.skipComment()
	case c == '!' && r.startsWith("!doctype"):
		r.write("<" + harmless(r.skipTo(doctypeMost)) + ">")
	case c == '!', c == '?', c == '/' && d != 0: // to browsers, this is a comment
		r.skipTo(0)
	default:
		r.write("&lt;")
	}
}

// harmless returns a document type without what may end it.
func harmless(text []byte) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == '<' || c == '>' {
			return ' '
		}
		return c
	}, string(text))
}

// plainName returns the name under which an element is written: those that make the rest of a page text are PRE.
func plainName(name string) string {
	if name == "plaintext" || name == "xmp" {
		return "pre"
	}
	return name
}

// startTag writes a start tag, and the content of elements that have text alone.
func (r *rewriter) startTag() {
	name := r.tag.name
	if !isName([]byte(name)) {
		return
	}
	r.frames = r.frames || name == "frameset"
	isEmpty := r.isXML && r.tag.isEmpty // a browser ignores the slash: the page is sent as HTML
	switch name {
	case "script":
		if !isEmpty {
			r.skipContent(name)
		}
		return
	case "link":
		r.link()
		return
	case "meta":
		r.meta()
		return
	}
	r.writeTag(nil)
	if isEmpty && !isVoid(name) {
		r.write("</" + plainName(name) + ">")
		return
	}
	switch name {
	case "style":
		s := sheet{in: bufio.NewReaderSize(r.rawText(name), 4<<10), out: r.out, references: &r.references, inPage: true}
		r.setErr(s.rewriteAll())
	case "title", "textarea", "xmp", "plaintext":
		_, err := io.Copy(escapedText{r.out}, r.rawText(name))
		r.setErr(err)
	case "iframe", "noembed", "noframes":
		r.skipContent(name)
		r.write("</" + name + ">")
		return
	default:
		return
	}
	r.readEnd()
	r.write("</" + plainName(name) + ">")
}

func (r *rewriter) rawText(name string) *rawText { return &rawText{in: r.in, end: "</" + name} }

// readEnd reads the end tag of an element that has text alone.
func (r *rewriter) readEnd() {
	if _, err := r.in.Discard(len("</")); err == nil {
		r.readTag()
	}
}

// setErr keeps an error other than the end.
func (r *rewriter) setErr(err error) {
	if err != nil && r.err == nil && !isEOF(err) {
		r.err = err
	}
}

// skipContent skips the text of an element, and its end tag.
func (r *rewriter) skipContent(name string) {
	_, err := io.Copy(io.Discard, r.rawText(name))
	r.setErr(err)
	r.readEnd()
}

// escapedText writes text that has no tags. Its character references stay.
type escapedText struct{ out writer }

// Write writes text.
func (t escapedText) Write(p []byte) (int, error) {
	for _, c := range p {
		if c == '<' {
			_, _ = t.out.WriteString("&lt;") // the writer keeps the error
		} else {
			_ = t.out.WriteByte(c)
		}
	}
	return len(p), nil
}

// isVoid reports whether an element has no end tag.
func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
		"frame", "basefont", "bgsound", "keygen":
		return true
	}
	return false
}

// link writes a link element if it is a style sheet or an icon. Others are not shown; some make a browser connect to a
// server, whatever the policy of the page says.
func (r *rewriter) link() {
	var kept []string
	isKept := false
	for _, rel := range strings.Fields(strings.ToLower(r.tag.get("rel"))) {
		switch rel {
		case "stylesheet", "icon", "apple-touch-icon":
			isKept = true
		case "alternate", "shortcut":
		default:
			continue
		}
		kept = append(kept, rel)
	}
	if isKept {
		r.writeTag(map[string]string{"rel": strings.Join(kept, " ")})
	}
}

// meta writes a meta element if it does not forbid what the archive serves, and says nothing that the page has no more.
func (r *rewriter) meta() {
	if r.tag.get("charset") != "" {
		return
	}
	switch equiv := strings.ToLower(r.tag.get("http-equiv")); equiv {
	case "", "default-style":
		r.writeTag(nil)
	case "refresh":
		if content, ok := r.refresh(r.tag.get("content")); ok {
			r.writeTag(map[string]string{"content": content})
		}
	}
}

// writeTag writes a start tag. Attributes in other have other values.
func (r *rewriter) writeTag(other map[string]string) {
	t := &r.tag
	r.write("<" + plainName(t.name))
	source := t.get("src")
	for _, a := range t.attributes {
		name := string(a.name)
		value, isOther := other[name]
		if isOther {
			r.attribute(name, value)
			continue
		}
		switch value := unescape(a.value); {
		case strings.HasPrefix(name, "on"), name == "integrity", name == "ping", name == "nonce", name == "manifest",
			name == "attributionsrc", name == "http-equiv" && t.name != "meta":
		case name == "srcset" || name == "imagesrcset":
			r.begin(name)
			r.writeSet(quoted{r.out}, value)
			r.write(`"`)
		case name == "style":
			r.begin(name)
			s := sheet{
				in: bufio.NewReaderSize(strings.NewReader(value), sheetPeek), out: quoted{r.out}, references: &r.references,
			}
			r.setErr(s.rewriteAll())
			r.write(`"`)
		case name == "srcdoc":
			r.srcdoc(value)
		case isReference(name, t.name):
			r.reference(name, value)
		case name == "data-src" && (source == "" || isData(source)) && (t.name == "img" || t.name == "iframe"):
			r.reference("src", value) // a script would have done that
		default:
			r.attribute(name, value)
		}
	}
	if t.isEmpty {
		r.write("/")
	}
	r.write(">")
}

// begin begins an attribute, whose value and quote follow.
func (r *rewriter) begin(name string) { r.write(" " + name + `="`) }

func (r *rewriter) attribute(name, value string) {
	r.begin(name)
	_, _ = quoted{r.out}.WriteString(value) // the writer keeps the error
	r.write(`"`)
}

// reference writes an attribute that has a URL. One without an address is left out, unless it stays within the page.
func (r *rewriter) reference(name, ref string) {
	element := r.tag.name
	if element == "base" && name == "href" {
		url, ok := resolve(r.base, ref)
		if !ok || r.hasBase {
			return
		}
		r.base, r.hasBase = []byte(url), true
	}
	address, ok := r.address(ref)
	switch {
	case ok:
		ref = address
	case isData(ref) && hasData(element), isOwn(ref):
	default:
		return
	}
	r.attribute(name, ref)
}

// hasData reports whether an element may show content that is in its reference. It is no page of its own.
func hasData(element string) bool {
	switch element {
	case "a", "area", "form", "button", "iframe", "frame", "object", "embed", "base":
		return false
	}
	return true
}

// srcdoc writes a page that is within an attribute.
func (r *rewriter) srcdoc(page string) {
	if r.innermost == srcdocMost {
		return
	}
	inner := rewriter{
		markup:     markup{in: bufio.NewReaderSize(strings.NewReader(page), sheetPeek)},
		references: r.references, out: quoted{r.out}, innermost: r.innermost + 1,
	}
	r.begin("srcdoc")
	r.setErr(inner.rewritePage())
	r.used = inner.used
	r.write(`"`)
}

// isReference says whether an attribute has a URL.
func isReference(name, element string) bool {
	switch name {
	case "href", "src", "action", "formaction", "poster", "background", "xlink:href", "longdesc", "cite", "lowsrc",
		"dynsrc", "classid", "codebase", "archive", "code", "profile", "icon":
		return true
	case "data":
		return element == "object"
	}
	return false
}
