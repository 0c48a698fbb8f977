package replay

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/plural"
	"orbweaver/warc/lookup"
)

//go:embed pages.html
var files embed.FS

// entry is a capture in a list.
type entry struct {
	URL, Address, MIME string
	Text               string // the URL for people
	Title              string // "" if the page has none
	Time, Day, Clock   string
	Length             string // of the record
	Status             int
	Revisit            bool
	Captures           int // with status 200

	capture lookup.Capture
}

// revisitType is what indexes have in place of the type of a repetition.
const revisitType = "warc/revisit"

func entryOf(c *lookup.Capture) entry {
	e := entry{
		URL: string(c.URL), Text: readable(string(c.URL)), Address: target{stamp: c.Stamp}.address(string(c.URL)),
		Time: c.Time().Format(time.RFC3339), Day: c.Stamp, MIME: string(c.MIME), Status: c.Status, Revisit: c.Revisit,
		Captures: 1, capture: *c,
	}
	if at := c.Time(); !at.IsZero() {
		e.Day, e.Clock = at.Format("2 Jan 2006"), at.Format("15:04:05")
	}
	if e.MIME == revisitType {
		e.MIME = ""
	}
	if c.Length > 1 { // shorter ones are not known
		e.Length = plural.Number(c.Length)
	}
	return e
}

// fact is a value with its name.
type fact struct{ Name, Value string }

// day has the captures of a day.
type day struct {
	Name    string
	Entries []entry
}

// page is what the templates show.
type page struct {
	Style         template.CSS
	Name, Heading string
	IsList        bool
	URL           string // that is asked for, or text
	Fault         string
	Home, Player  string // where the lists and ReplayWeb.page are: http://HOST:PORT, or "" for this server

	Source, Config, Collection, Stamp string // for ReplayWeb.page

	Entries, Seeds, Near []entry
	Days                 []day
	Figures, Kinds       []fact
	Next                 string // line to continue with; "" at the end
	Anywhere             bool   // the pages whose URL or title has the text
}

// show sends a page of ours.
func (h *Handler) show(w http.ResponseWriter, name string, status int, p *page) {
	p.Name, p.Player, p.Style = h.o.Name, h.o.Player, template.CSS(h.o.Style) //nolint:gosec // it is ours
	var b bytes.Buffer
	if err := h.pages.ExecuteTemplate(&b, name, p); err != nil {
		panic("BUG: " + err.Error())
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w) // the browser may be gone
}

// titleMost is how much of a page is searched for its title, in bytes.
const titleMost = 64 << 10

// titleOf reads the title of a page; "" if there is none.
func (h *Handler) titleOf(ctx context.Context, e *entry) string {
	if title := h.o.Titles[e.URL]; title != "" {
		return cleanTitle(title)
	}
	if h.o.TitleOf == nil || strings.HasSuffix(e.MIME, "/pdf") {
		return ""
	}
	p, err := h.archive.Read(ctx, &e.capture)
	if err != nil {
		return ""
	}
	defer p.Close() //nolint:errcheck // it was only read
	body, done, err := lookup.DecodePayload(p.Body, p.Encoding)
	if err != nil {
		return ""
	}
	defer done()
	text, _ := io.ReadAll(io.LimitReader(body, titleMost)) // a damaged page may have its title
	return cleanTitle(h.o.TitleOf(text, []byte(p.Head.ContentType())))
}

// cleanTitle returns a title in one line of 200 bytes at most.
func cleanTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	return strings.ToValidUTF8(title[:min(len(title), 200)], "")
}

// addTitles reads the titles of pages that have none yet.
func (h *Handler) addTitles(ctx context.Context, entries []entry) {
	for i := range entries {
		if e := &entries[i]; e.Title == "" {
			e.Title = h.titleOf(ctx, e)
		}
	}
}

const (
	seedsShown = 20  // on the first page
	seedsTried = 200 // each is a search
)

// seeds finds the seeds that are in the archive.
func (h *Handler) seeds(ctx context.Context) (seeds []entry) {
	for _, url := range h.o.Seeds[:min(seedsTried, len(h.o.Seeds))] {
		if len(seeds) == seedsShown {
			break
		}
		c, err := h.archive.Closest(ctx, url, time.Time{})
		if err != nil {
			continue
		}
		e := entryOf(c)
		e.Captures = 0
		key, _, _ := lookup.KeyOf(c.URL) // it was found by it
		_ = h.archive.Scan(ctx, lookup.Exact(key), func(line []byte) error {
			if d, err := lookup.ParseCapture(line); err == nil && d.Status == http.StatusOK && e.Captures < searchMost {
				e.Captures++
			}
			return nil
		})
		seeds = append(seeds, e)
	}
	h.addTitles(ctx, seeds)
	return seeds
}

// kindsShown is how many media types the first page names.
const kindsShown = 8

// count counts the captures at the start of the index, and their types.
func (h *Handler) count(ctx context.Context, p *page) error {
	captures, first, last := int64(0), "", ""
	urls, lastKey := int64(0), ""
	kinds := map[string]int64{}
	err := h.archive.Scan(ctx, lookup.Range{To: []byte{0xff}}, func(line []byte) error {
		if captures == countMost {
			return errEnough
		}
		c, err := lookup.ParseCapture(line)
		if err != nil {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		captures++
		if c.Key != lastKey {
			urls, lastKey = urls+1, c.Key
		}
		if first == "" || c.Stamp < first {
			first = c.Stamp
		}
		last = max(last, c.Stamp)
		kind := string(c.MIME)
		if kind == revisitType {
			kind = "unchanged"
		}
		if kind != "" && (len(kinds) < 1000 || kinds[kind] > 0) {
			kinds[kind]++
		}
		return nil
	})
	more := ""
	if errors.Is(err, errEnough) {
		more, err = "over ", nil
	}
	if err != nil || captures == 0 {
		return err
	}
	on := func(stamp string) string {
		at, err := time.Parse("20060102", stamp[:min(len(stamp), 8)])
		if err != nil {
			return stamp
		}
		return at.Format("2 Jan 2006")
	}
	p.Figures = []fact{{"Captures", more + plural.Number(captures)}, {"Addresses", more + plural.Number(urls)}}
	if more == "" {
		p.Figures = append(p.Figures, fact{"First capture", on(first)}, fact{"Last capture", on(last)})
	}
	for kind, n := range kinds {
		p.Kinds = append(p.Kinds, fact{kind, plural.Number(n)})
	}
	slices.SortFunc(p.Kinds, func(a, b fact) int {
		if d := kinds[b.Name] - kinds[a.Name]; d != 0 {
			return int(d)
		}
		return strings.Compare(a.Name, b.Name)
	})
	p.Kinds = p.Kinds[:min(len(p.Kinds), kindsShown)]
	return nil
}

// nearMost is how many pages are named instead of one that is missing.
const nearMost = 10

// sayMissing answers that something is not in the archive: with a page, or with an image where one is missing.
func (h *Handler) sayMissing(w http.ResponseWriter, r *http.Request, text, url string) {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "image":
		if !h.isFromSheet(r) { // where it would be repeated
			w.Header().Set("Content-Type", "image/svg+xml")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, missingImage) // the browser may be gone
			return
		}
		fallthrough
	case "style", "script", "font", "audio", "video", "track":
		http.Error(w, "not in the archive", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", ownPolicy+"frame-ancestors 'self'")
	p := &page{Heading: "Not in the archive", Fault: text, URL: url}
	urls, err := h.archive.Near(r.Context(), url, nearMost)
	if err != nil {
		urls = nil // it is no address
	}
	for _, near := range urls {
		p.Near = append(p.Near, entry{Address: "/" + near, Text: readable(near)})
	}
	h.show(w, "missing", http.StatusNotFound, p)
}

// isFromSheet reports whether a style sheet asks.
func (h *Handler) isFromSheet(r *http.Request) bool {
	_, path, _ := strings.Cut(r.Referer(), "://")
	t, ok := parseTarget(path[max(0, strings.IndexByte(path, '/')):])
	if !ok {
		return false
	}
	c, err := h.archive.Closest(r.Context(), t.url, time.Time{})
	return err == nil && string(c.MIME) == "text/css"
}

const missingImage = `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="80">
<rect x=".5" y=".5" width="99.5%" height="98.5%" fill="#8881" stroke="#888" stroke-dasharray="5 4"/>
<text x="50%" y="50%" font-size="12" fill="#888" font-family="system-ui,sans-serif" text-anchor="middle"
dominant-baseline="middle">not in the archive</text></svg>`
