package replay

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"orbweaver/warc/lookup"
)

const (
	listMost   = 50      // entries of a list, whose titles are read
	daysMost   = 500     // captures of one URL in a list
	searchMost = 100_000 // lines that are read for one list
	countMost  = 100_000 // lines that are counted for the first page
	openMost   = 500     // records that are opened for one list
)

// placeOf returns key and time of a line, where a list continues. Lines of open files lack their end when they are
// found.
func placeOf(line []byte) string {
	place, _, _ := bytes.Cut(line, []byte{'{'})
	return string(place)
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// serveList lists pages: all, or those whose keys begin like that of a URL. If there is a capture of the URL, that is
// shown. If no key begins like that, pages are listed whose URL has the text.
func (h *Handler) serveList(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	p := &page{
		Heading: "Archive " + h.o.Name, IsList: true, URL: strings.TrimSpace(values.Get("url")),
		Anywhere: values.Get("anywhere") != "",
	}
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
	if p.URL == "" && values.Get("from") == "" {
		p.Seeds = h.seeds(r.Context())
		if err := h.count(r.Context(), p); err != nil {
			h.fail(w, err)
			return
		}
	}
	h.addTitles(r.Context(), p.Entries)
	h.show(w, "list", http.StatusOK, p)
}

// find fills a list with pages of a range, from a line on.
func (h *Handler) find(r *http.Request, p *page, want lookup.Range, from string) error {
	if from > string(want.From) {
		want.From = []byte(from)
	}
	text := strings.ToLower(p.URL)
	read, opened := 0, 0
	var last entry
	err := h.archive.Scan(r.Context(), want, func(line []byte) error {
		if read++; read > searchMost || opened >= openMost {
			p.Next = placeOf(line)
			return errEnough
		}
		c, err := lookup.ParseCapture(line)
		if err != nil || c.Status != http.StatusOK || len(c.Method) > 0 {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		e := entryOf(&c)
		if len(p.Entries) == listMost && e.URL != last.URL {
			p.Next = placeOf(line)
			return errEnough
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
			before := &p.Entries[len(p.Entries)-1]
			e.Captures, e.Title, e.MIME = before.Captures+1, before.Title, cmp.Or(e.MIME, before.MIME)
			*before = e
			return nil
		}
		if p.Anywhere && !hasText(e.Text, text) && !hasText(e.URL, text) {
			if h.o.Titles[e.URL] == "" {
				opened++
			}
			if e.Title = h.titleOf(r.Context(), &e); !hasText(e.Title, text) {
				return nil
			}
		}
		p.Entries, last = append(p.Entries, e), e
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func hasText(in, text string) bool { return strings.Contains(strings.ToLower(in), text) }

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
		body, done, err := lookup.DecodePayload(page.Body, page.Encoding)
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
	p := &page{URL: values.Get("url")}
	p.Heading = readable(p.URL)
	key, _, err := lookup.KeyOf([]byte(p.URL))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	want, listed := lookup.Exact(key), 0
	if from := values.Get("from"); from > string(want.From) {
		want.From = []byte(from)
	}
	err = h.archive.Scan(r.Context(), want, func(line []byte) error {
		if listed == daysMost {
			p.Next = placeOf(line)
			return errEnough
		}
		c, err := lookup.ParseCapture(line)
		if err != nil {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		listed++
		e := entryOf(&c)
		if n := len(p.Days); n == 0 || p.Days[n-1].Name != e.Day {
			p.Days = append(p.Days, day{Name: e.Day})
		}
		of := &p.Days[len(p.Days)-1]
		of.Entries = append(of.Entries, e)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		h.fail(w, err)
		return
	}
	h.show(w, "captures", http.StatusOK, p)
}
