package replay

import (
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"orbweaver/warc/lookup"
)

const (
	listMost   = 200     // entries of a list
	searchMost = 100_000 // lines that are read for one list
)

// entry is a capture in a list.
type entry struct {
	URL, Address, Time, MIME string
	Status                   int
	Revisit                  bool
}

func entryOf(c *lookup.Capture) entry {
	return entry{
		URL: string(c.URL), Address: target{stamp: c.Stamp}.address(string(c.URL)), Time: formatTime(c),
		MIME: string(c.MIME), Status: c.Status, Revisit: c.Revisit,
	}
}

// listPage has the entries of a list.
type listPage struct {
	Name, URL string
	Entries   []entry
	Next      string // line to continue with; "" at the end
	Captures  bool   // all captures of one URL, and not the last one of each page
	Fault     string
}

var list = template.Must(template.New("list").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Name}}</title>` + ownStyle + `</head><body>
<h1>{{if .Captures}}{{.URL}}{{else}}Archive {{.Name}}{{end}}</h1>
<form action="/"><input type="text" name="url" value="{{.URL}}" placeholder="https://example.org/">
<button>Show</button></form>
{{if .Fault}}<p>{{.Fault}}</p>{{end}}
<table>{{range .Entries}}
<tr><td class="t">{{.Time}}</td><td><a href="{{.Address}}">{{.URL}}</a></td>
<td class="t">{{.Status}}{{if .Revisit}} unchanged{{end}}</td></tr>{{else}}
<tr><td>There is nothing here.</td></tr>{{end}}
</table>
{{if .Next}}<p><a href="?url={{.URL}}&amp;from={{.Next}}">More</a></p>{{end}}
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
// shown.
func (h *Handler) serveList(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	p := &listPage{URL: strings.TrimSpace(values.Get("url"))}
	want := lookup.Range{To: []byte{0xff}}
	if p.URL != "" {
		url := p.URL
		if !strings.Contains(url, "://") {
			url = "http://" + url
		}
		key, whole, err := lookup.KeyOf([]byte(url))
		if err != nil {
			p.Fault = "This is no address of the web: " + err.Error()
			h.show(w, p)
			return
		}
		if want = lookup.Prefix(key); values.Get("from") == "" && h.hasCapture(r, string(whole)) {
			redirect(w, "/"+string(whole))
			return
		}
	}
	if from := values.Get("from"); from > string(want.From) {
		want.From = []byte(from)
	}
	read := 0
	var last entry
	err := h.archive.Scan(r.Context(), want, func(line []byte) error {
		if read++; read > searchMost || len(p.Entries) == listMost {
			p.Next = string(line)
			return errEnough
		}
		c, err := lookup.ParseCapture(line)
		if err != nil || !isPage(&c) {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		if e := entryOf(&c); e.URL == last.URL && len(p.Entries) > 0 {
			p.Entries[len(p.Entries)-1] = e
		} else {
			p.Entries, last = append(p.Entries, e), e
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		h.fail(w, err)
		return
	}
	h.show(w, p)
}

// isPage says whether a capture is one that a person wants to see.
func isPage(c *lookup.Capture) bool {
	switch string(c.MIME) {
	case "text/html", "application/xhtml+xml":
		return c.Status == http.StatusOK
	}
	return false
}

func (h *Handler) hasCapture(r *http.Request, url string) bool {
	_, err := h.archive.Closest(r.Context(), url, time.Time{})
	return err == nil
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
