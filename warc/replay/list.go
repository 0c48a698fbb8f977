package replay

import (
	"encoding/hex"
	"errors"
	"html/template"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orbweaver/warc/coding"
	"orbweaver/warc/lookup"
)

const (
	listMost   = 200     // entries of a list
	searchMost = 100_000 // lines that are read for one list
	openMost   = 500     // records that are opened for one list
)

// entry is a capture in a list.
type entry struct {
	URL, Address, Time, MIME string
	Text                     string // the URL for people
	Status                   int
	Revisit                  bool
}

func entryOf(c *lookup.Capture) entry {
	return entry{
		URL: string(c.URL), Text: readable(string(c.URL)), Address: target{stamp: c.Stamp}.address(string(c.URL)),
		Time: formatTime(c),
		MIME: string(c.MIME), Status: c.Status, Revisit: c.Revisit,
	}
}

// listPage has the entries of a list.
type listPage struct {
	Name, URL string
	Entries   []entry
	Next      string // line to continue with; "" at the end
	Captures  bool   // all captures of one URL, and not the last one of each page
	Anywhere  bool   // the pages whose URL has the text
	Fault     string
}

var list = template.Must(template.New("list").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Name}}</title>` + ownStyle + `</head><body>
<h1>{{if .Captures}}{{.URL}}{{else}}Archive {{.Name}}{{end}}</h1>
<form action="/">
<input type="text" name="url" value="{{.URL}}" placeholder="https://example.org/, or a part of an address">
<button>Show</button></form>
{{if .Fault}}<p>{{.Fault}}</p>{{else if .Anywhere}}<p>Pages with this text in their address:</p>{{end}}
<table>{{range .Entries}}
<tr><td class="t">{{.Time}}</td><td><a href="{{.Address}}">{{.Text}}</a></td>
<td class="t">{{.Status}}{{if .Revisit}} unchanged{{end}}</td></tr>{{else}}
<tr><td>There is nothing here.</td></tr>{{end}}
</table>
{{if .Next}}<p><a href="?url={{.URL}}&amp;from={{.Next}}{{if .Anywhere}}&amp;anywhere=1{{end}}">More</a></p>{{end}}
{{if .Captures}}<p><a href="/">All pages of the archive</a></p>{{end}}
</body></html>
`))

func (h *Handler) show(w http.ResponseWriter, p *listPage) {
	p.Name = h.name
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := list.Execute(w, p); err != nil {
		h.log.Debug("a list was not sent", "error", err)
	}
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// serveList lists pages: all, or those whose keys begin like that of a URL. If there is a capture of the URL, that is
// shown. If no key begins like that, pages are listed whose URL has the text.
func (h *Handler) serveList(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	p := &listPage{URL: strings.TrimSpace(values.Get("url")), Anywhere: values.Get("anywhere") != ""}
	want := lookup.Range{To: []byte{0xff}}
	if p.URL != "" && !p.Anywhere {
		url := p.URL
		if !strings.Contains(url, "://") {
			url = "http://" + url
		}
		key, whole, err := lookup.KeyOf([]byte(url))
		switch {
		case err != nil:
			p.Fault, p.Anywhere = "This is no address of the web: "+err.Error(), true
		case values.Get("from") == "" && h.hasCapture(r, string(whole)):
			redirect(w, "/"+string(whole))
			return
		default:
			want = lookup.Prefix(key)
		}
	}
	err := h.find(r, p, want, values.Get("from"))
	if err == nil && len(p.Entries) == 0 && p.URL != "" && p.Next == "" && !p.Anywhere {
		p.Anywhere = true
		err = h.find(r, p, lookup.Range{To: []byte{0xff}}, "")
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	if len(p.Entries) > 0 {
		p.Fault = ""
	}
	h.show(w, p)
}

// find fills a list with pages of a range, from a line on.
func (h *Handler) find(r *http.Request, p *listPage, want lookup.Range, from string) error {
	if from > string(want.From) {
		want.From = []byte(from)
	}
	text := strings.ToLower(p.URL)
	read, opened := 0, 0
	var last entry
	err := h.archive.Scan(r.Context(), want, func(line []byte) error {
		if read++; read > searchMost || len(p.Entries) == listMost || opened == openMost {
			p.Next = string(line)
			return errEnough
		}
		c, err := lookup.ParseCapture(line)
		if err != nil || c.Status != http.StatusOK || len(c.Method) > 0 {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		e := entryOf(&c)
		if p.Anywhere && !strings.Contains(strings.ToLower(e.Text), text) && !strings.Contains(strings.ToLower(e.URL), text) {
			return nil
		}
		again := e.URL == last.URL && len(p.Entries) > 0
		switch {
		case isPage(e.MIME):
		case e.MIME != "" && !c.Revisit, hasOtherName(e.URL):
			return nil
		case c.Revisit && again:
		default:
			if opened++; !h.holdsPage(r, &c) {
				return nil
			}
		}
		if again {
			p.Entries[len(p.Entries)-1] = e
		} else {
			p.Entries, last = append(p.Entries, e), e
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// isPage says whether a person wants to see a capture of this type.
func isPage(media string) bool {
	switch strings.ToLower(media) {
	case "text/html", "application/xhtml+xml", "application/pdf":
		return true
	}
	return false
}

// hasOtherName says that a URL has the extension of something that is no page.
func hasOtherName(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	dot := strings.LastIndexByte(path, '.')
	if dot < strings.LastIndexByte(path, '/') {
		return false
	}
	switch strings.ToLower(path[dot+1:]) {
	case "css", "js", "mjs", "json", "xml", "txt", "png", "gif", "jpg", "jpeg", "webp", "avif", "svg", "ico", "woff",
		"woff2", "ttf", "mp3", "mp4", "webm", "zip", "gz":
		return true
	}
	return false
}

// holdsPage reads a capture whose index line does not say what it is: a revisit, or a response without a type.
func (h *Handler) holdsPage(r *http.Request, c *lookup.Capture) bool {
	page, err := h.archive.Read(r.Context(), c)
	if err != nil {
		return false
	}
	defer page.Close() //nolint:errcheck // it was only read
	kind := page.Head.ContentType()
	if kind == "" {
		body, done, err := coding.Decode(page.Body, page.Encoding)
		if err != nil {
			return false
		}
		defer done()
		start, _ := io.ReadAll(io.LimitReader(body, sniffMost)) // a damaged page is one, too
		kind = http.DetectContentType(start)
	}
	media, _ := typeOf(kind)
	return isPage(media)
}

// sniffMost is how many bytes http.DetectContentType looks at.
const sniffMost = 512

func (h *Handler) hasCapture(r *http.Request, url string) bool {
	_, err := h.archive.Closest(r.Context(), url, time.Time{})
	return err == nil
}

// readable returns a URL with its letters instead of their codes, as far as they are not ASCII.
func readable(url string) string {
	var out strings.Builder
	for rest := url; rest != ""; {
		n := 0 // length of a sequence of codes
		for n+2 < len(rest) && rest[n] == '%' && rest[n+1] >= '8' {
			n += 3
		}
		plain, err := hex.DecodeString(strings.ReplaceAll(rest[:n], "%", ""))
		isHidden := func(r rune) bool { return !unicode.IsGraphic(r) }
		isText := utf8.Valid(plain) && !strings.ContainsFunc(string(plain), isHidden)
		switch {
		case n == 0:
			n = 1
			out.WriteByte(rest[0])
		case err == nil && isText:
			out.Write(plain)
		default:
			out.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return out.String()
}

// serveCaptures lists the captures of one URL.
func (h *Handler) serveCaptures(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	p := &listPage{URL: values.Get("url"), Captures: true}
	key, _, err := lookup.KeyOf([]byte(p.URL))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	want := lookup.Exact(key)
	if from := values.Get("from"); from > string(want.From) {
		want.From = []byte(from)
	}
	err = h.archive.Scan(r.Context(), want, func(line []byte) error {
		if len(p.Entries) == listMost {
			p.Next = string(line)
			return errEnough
		}
		if c, err := lookup.ParseCapture(line); err == nil {
			p.Entries = append(p.Entries, entryOf(&c))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		h.fail(w, err)
		return
	}
	h.show(w, p)
}
