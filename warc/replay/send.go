package replay

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"

	"orbweaver/internal/mediatype"
	"orbweaver/warc/lookup"
)

// content is a payload on its way to a browser.
type content struct {
	media string // type/subtype in lower case
	kind  string // Content-Type as it is sent
	body  io.Reader
}

const xhtml = "application/xhtml+xml"

// send answers with a capture.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, t target, p *lookup.Page) error {
	header := w.Header()
	header.Set("Content-Security-Policy", archivedPolicy)
	header.Set("Memento-Datetime", p.Capture.Time().Format(http.TimeFormat))
	header.Set("Link", linkTo(p.Capture.URL)+`; rel="original"`)
	status := p.Head.Status
	if status < 200 || status > 599 {
		status = http.StatusOK
	}
	if to, ok := resolve(p.Capture.URL, p.Head.Get("Location")); ok && status/100 == 3 {
		if t.isPlayed {
			sayRedirect(w, status, to)
			return nil
		}
		redirect(w, t.address(to))
		return nil
	}
	if status/100 == 3 || status == http.StatusNoContent || status == http.StatusResetContent {
		status = http.StatusOK // a browser would show nothing of it
	}
	c, done, err := open(p, r)
	if err != nil {
		http.Error(w, "This capture cannot be decoded: "+err.Error(), http.StatusBadGateway)
		return nil //nolint:nilerr // the browser was told
	}
	defer done()
	write := h.form(w, r, t, p, c)
	isWhole := write == nil
	if isWhole {
		write = func() error { _, err := io.Copy(w, c.body); return err }
	}
	if c.kind != "" {
		header.Set("Content-Type", c.kind)
	}
	if size := sizeOf(p); status == http.StatusOK && size > 0 && isWhole {
		part, ok := rangeOf(r.Header.Get("Range"), size)
		header.Set("Accept-Ranges", "bytes")
		switch {
		case !ok:
			header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
			http.Error(w, "There is no such part.", http.StatusRequestedRangeNotSatisfiable)
			return nil
		case !part.isWhole:
			status = http.StatusPartialContent
			header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", part.from, part.from+part.length-1, size))
		}
		header.Set("Content-Length", strconv.FormatInt(part.length, 10))
		write = func() error { return part.copy(w, c.body) }
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	return write()
}

// linkTo names a URL in a Link field. What would end it is escaped: a browser connects to what such a field names.
func linkTo(url []byte) string {
	return "<" + strings.NewReplacer("<", "%3C", ">", "%3E", `"`, "%22", ",", "%2C", " ", "%20").Replace(string(url)) + ">"
}

// open finds out the type of a payload, and decodes it.
func open(p *lookup.Page, r *http.Request) (c *content, done func(), err error) {
	declared := p.Head.ContentType()
	// The bytes have shown the second, or it is the type of a record that is not HTTP.
	kind := cmp.Or(declared, string(mediatype.Declared(p.Source.MIME)))
	packed := &counted{in: p.Body}
	body, done, err := lookup.DecodePayload(packed, p.Encoding)
	if err != nil {
		return nil, nil, err
	}
	if p.Encoding != "" {
		body = &bounded{counted: counted{in: body}, packed: packed}
	}
	if kind == "" { // the browser would find it out, too
		start := bufio.NewReaderSize(body, sniffMost)
		text, _ := start.Peek(sniffMost) // a damaged payload has the type of its start
		if kind, body = http.DetectContentType(text), start; strings.HasPrefix(kind, "text/html") {
			kind = "text/html" // the page may say its character set
		}
	}
	if declared == "" && r.Header.Get("Sec-Fetch-Dest") == "style" {
		kind = "text/css"
	}
	media, _ := typeOf(kind)
	return &content{media: media, kind: kind, body: body}, done, nil
}

// typeOf returns a media type in lower case, and its charset.
func typeOf(contentType string) (media, label string) {
	essence, name := mediatype.Split([]byte(contentType))
	return strings.ToLower(string(essence)), string(name)
}

// Payloads may be a thousand times as long as what is stored. Pages and films are not.
const (
	expansionMost = 100
	expansionFree = 64 << 20 // bytes, however short the stored payload is
)

// counted counts the bytes that are read.
type counted struct {
	in   io.Reader
	read int64
}

// Read reads.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += int64(n)
	return n, err
}

// bounded ends a payload that is much longer than what is stored of it.
type bounded struct {
	counted

	packed *counted
}

var errExpansion = errors.New("the payload is more than 100 times as long as what is stored: the rest is left out")

// Read reads.
func (b *bounded) Read(p []byte) (int, error) {
	if b.read > expansionFree+expansionMost*b.packed.read {
		return 0, errExpansion
	}
	return b.counted.Read(p)
}

// form decides in which form a payload is sent, and changes the Content-Type. write is nil if the payload is sent as it
// is. What a browser shows as a document of its own has no references that are not rewritten: nothing but HTML, images,
// films, PDF and plain text.
func (h *Handler) form(
	w http.ResponseWriter, r *http.Request, t target, p *lookup.Page, c *content,
) (write func() error) {
	isDocument := isNavigation(r)
	if isDocument {
		w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	switch {
	case t.raw:
		if isDocument && !isInert(c.media) {
			c.kind = plainText
		}
	case c.media == "text/html" || c.media == xhtml:
		said := c.media
		if _, label := typeOf(c.kind); label != "" {
			said += "; charset=" + label
		}
		c.kind = "text/html; charset=utf-8" // XHTML, too: a rewritten page may not be well-formed
		return func() error {
			return rewriteHTML(w, c.body, said, t, p.Capture, barOptions{isShown: isStart(r), Player: h.o.Player})
		}
	case !isDocument:
		if c.media == "text/css" || r.Header.Get("Sec-Fetch-Dest") == "style" {
			return func() error { return rewriteSheet(w, c.body, t, p.Capture.URL) }
		}
	case c.media == "image/svg+xml":
		c.kind = "text/html; charset=utf-8"
		return func() error {
			_, err := fmt.Fprintf(w, picture, template.HTMLEscapeString(t.address(string(p.Capture.URL))))
			return err
		}
	case isInert(c.media):
	case strings.HasPrefix(c.media, "text/"), strings.HasSuffix(c.media, "xml"), strings.HasSuffix(c.media, "json"),
		strings.HasSuffix(c.media, "javascript"):
		label := "utf-8"
		if _, declared := typeOf(c.kind); isName([]byte(declared)) {
			label = declared
		}
		c.kind = "text/plain; charset=" + label
	default:
		w.Header().Set("Content-Disposition", "attachment")
	}
	return nil
}

const plainText = "text/plain; charset=utf-8"

// isInert reports whether a browser shows a type alone, and neither runs it nor loads what it names.
func isInert(media string) bool {
	kind, _, _ := strings.Cut(media, "/")
	switch kind {
	case "image":
		return media != "image/svg+xml"
	case "audio", "video":
		return !strings.Contains(media, "mpegurl")
	}
	return media == "text/plain" || media == "application/pdf"
}

// picture shows an image in SVG. As a document of its own, it could load more.
const picture = `<!DOCTYPE html><meta charset="utf-8"><title>SVG</title><body style="margin:0"><img src="%s" alt="">`

// isNavigation reports whether a browser shows the answer as a document of its own, also in a frame.
func isNavigation(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// isStart says that a browser wants a page, and not a part of one.
func isStart(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "":
		return true
	}
	return false
}

// byteRange is a part of a payload.
type byteRange struct {
	from, length int64
	isWhole      bool // no part was asked for
}

// sizeOf returns the length of the payload in bytes, 0 if it is not known before it is read. Browsers need it to play a
// part of a film.
func sizeOf(p *lookup.Page) int64 {
	if p.Encoding != "" || p.Truncated != "" || p.Head.Chunked() {
		return 0
	}
	size, err := strconv.ParseInt(p.Head.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return 0
	}
	return size
}

// rangeOf reads a Range field. Without one, and with several parts, it is the whole payload. ok is false if no byte is
// in the part.
func rangeOf(field string, size int64) (part byteRange, ok bool) {
	whole := byteRange{0, size, true}
	first, last, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(field), "bytes="), "-")
	if !strings.HasPrefix(field, "bytes=") || !found {
		return whole, true
	}
	from, err := strconv.ParseInt(first, 10, 64)
	if first == "" { // the last bytes
		n, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			return whole, true
		}
		n = min(n, size)
		return byteRange{size - n, n, false}, n > 0
	}
	to := size - 1
	if last != "" && err == nil {
		to, err = strconv.ParseInt(last, 10, 64)
	}
	if err != nil || from < 0 || to < from && last != "" {
		return whole, true
	}
	return byteRange{from, min(to, size-1) - from + 1, false}, from < size
}

// copy writes the part of a payload. What is before it is read, too.
func (part byteRange) copy(w io.Writer, payload io.Reader) error {
	if _, err := io.CopyN(io.Discard, payload, part.from); err != nil {
		return err
	}
	_, err := io.CopyN(w, payload, part.length)
	return err
}
