package replay

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"orbweaver/warc/cdxserver"
	"orbweaver/warc/lookup"
)

// Archive finds and reads captures; *lookup.Archive is one.
type Archive interface {
	lookup.Lines
	Closest(ctx context.Context, url string, at time.Time) (*lookup.Capture, error)
	Read(ctx context.Context, c *lookup.Capture) (*lookup.Page, error)
	Near(ctx context.Context, url string, most int) ([]string, error)
}

// Handler answers a browser. It is safe for concurrent use.
type Handler struct {
	archive Archive
	o       Options
	pages   *template.Template
	log     *slog.Logger
	turn    chan struct{}
}

// atOnce is how many answers are made at once; each has some buffers, and the window of a decoder.
const atOnce = 16

// Options say how an archive is shown.
type Options struct {
	Name  string   // of the archive, for people
	Style string   // style sheet of our own pages
	Seeds []string // URLs that are listed first
	// Titles are the titles of some pages by URL, which need not be read then.
	Titles map[string]string

	// Player is the address of a Player of the archive, http://HOST:PORT; "" if there is none.
	Player string

	// TitleOf finds the title of a page in the first part of its body; nil for no titles. It is called by several
	// goroutines.
	TitleOf func(body, contentType []byte) string
}

// NewHandler returns the Handler of an archive.
func NewHandler(a Archive, o Options, log *slog.Logger) *Handler {
	pages := template.Must(template.ParseFS(files, "pages.html"))
	return &Handler{archive: a, o: o, pages: pages, log: log, turn: make(chan struct{}, atOnce)}
}

const (
	// archivedPolicy holds an archived page: see doc.go.
	archivedPolicy = "sandbox allow-same-origin allow-popups allow-top-navigation-by-user-activation; " +
		"default-src 'none'; img-src 'self' data:; media-src 'self' data:; font-src 'self' data:; " +
		"style-src 'self' data: 'unsafe-inline'; frame-src 'self'; object-src 'self'; base-uri 'self'; " +
		"form-action 'none'; frame-ancestors 'self'"
	ownPolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "

	answerMax = 5 * time.Minute // to send one capture
)

// admit sets what all answers have, and refuses requests that are not for this server or would change something. done
// must be called after the answer.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) (done func(), ok bool) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerMax)) // a test has no connection
	header := w.Header()
	header.Set("Content-Security-Policy", ownPolicy+"frame-ancestors 'none'")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Dns-Prefetch-Control", "off")
	if !isOwnName(r.Host) {
		http.Error(w, "this server is called by 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
		return nil, false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "the archive is only read", http.StatusMethodNotAllowed)
		return nil, false
	}
	select {
	case h.turn <- struct{}{}:
		return func() { <-h.turn }, true
	case <-r.Context().Done():
		return nil, false
	}
}

// pathOf returns the path of an address as it was sent: the URL of a capture is not to be changed.
func pathOf(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path
}

// ServeHTTP answers.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	done, ok := h.admit(w, r)
	if !ok {
		return
	}
	defer done()
	switch pathOf(r) {
	case "/":
		h.serveList(w, r)
		return
	case "/cdx":
		h.serveQuery(w, r)
		return
	case "/captures":
		h.serveCaptures(w, r)
		return
	}
	if t, ok := parseTarget(r.RequestURI); ok {
		h.serveCapture(w, r, t)
		return
	}
	if to, ok := missed(r.Referer(), r.RequestURI); ok {
		w.Header().Set("Vary", "Referer")
		redirect(w, to)
		return
	}
	h.sayMissing(w, r, "There is no such address here.", "")
}

// isOwnName says that a Host field names this machine.
func isOwnName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return name == "localhost" || name == "127.0.0.1" || name == "::1"
}

// target is what an address asks for.
type target struct {
	stamp string // as in the address; "" for the last capture
	raw   bool   // unchanged
	url   string

	isPlayed bool // ReplayWeb.page asks
}

var targetForm = regexp.MustCompile(`^/(?:(\d{4,14})([a-z]{2}_)?/)?(?i:(https?):/{1,2})(.+)$`)

// parseTarget reads an address.
func parseTarget(path string) (t target, ok bool) {
	m := targetForm.FindStringSubmatch(path)
	if m == nil {
		return t, false
	}
	return target{stamp: m[1], raw: m[2] == "id_", url: strings.ToLower(m[3]) + "://" + m[4]}, true
}

// address returns the address of a URL at the time of t.
func (t target) address(url string) string {
	switch {
	case t.stamp == "":
		return "/" + url
	case t.raw:
		return "/" + t.stamp + "id_/" + url
	}
	return "/" + t.stamp + "/" + url
}

// missed finds what a page asked for that has an address on its own server in it, such as /logo.png. It is on the
// server of the page that asks.
func missed(referer, path string) (to string, ok bool) {
	_, rest, ok := strings.Cut(referer, "://")
	slash := strings.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return "", false
	}
	page, ok := parseTarget(rest[slash:])
	if !ok {
		return "", false
	}
	url, ok := resolve([]byte(page.url), path)
	return page.address(url), ok
}

// redirect sends a browser to an address, which http.Redirect would shorten.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusFound)
}

// serveQuery answers a query of the CDX server API.
func (h *Handler) serveQuery(w http.ResponseWriter, r *http.Request) {
	q, err := cdxserver.Parse(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", q.ContentType())
	if err := q.Write(r.Context(), h.archive, w); err != nil {
		h.log.Warn("a query of the index was not answered to its end", "error", err)
		panic(http.ErrAbortHandler) // so that the client does not take it for the end
	}
}

// serveCapture shows the capture that is closest.
func (h *Handler) serveCapture(w http.ResponseWriter, r *http.Request, t target) {
	at := time.Time{}
	if t.stamp != "" {
		var err error
		if at, err = lookup.ParseTime(t.stamp[:len(t.stamp)&^1]); err != nil {
			h.sayMissing(w, r, "This is no time.", t.url)
			return
		}
	}
	c, err := h.archive.Closest(r.Context(), t.url, at)
	if t.isPlayed && errors.Is(err, lookup.ErrNoCapture) {
		sayMissingPlayed(w)
		return
	}
	if errors.Is(err, lookup.ErrNoCapture) {
		h.sayMissing(w, r, "The archive has no capture of this address. The crawl may not have reached it, or not "+
			"finished yet.", t.url)
		return
	}
	if err != nil {
		h.fail(w, err)
		return
	}
	if len(t.stamp) < len("20060102150405") && !t.isPlayed {
		t.stamp = c.Stamp[:min(len(c.Stamp), 14)]
		redirect(w, t.address(t.url))
		return
	}
	page, err := h.archive.Read(r.Context(), c)
	if err != nil {
		h.fail(w, err)
		return
	}
	err = h.send(w, r, t, page)
	if err = errors.Join(err, page.Close()); err != nil {
		h.log.Warn("a capture was not shown to its end", "url", t.url, "error", err)
		panic(http.ErrAbortHandler) // so that the browser does not take it for the end
	}
}

// fail says that the archive could not be read.
func (h *Handler) fail(w http.ResponseWriter, err error) {
	h.log.Warn("a capture could not be read", "error", err)
	http.Error(w, "The archive could not be read: "+err.Error(), http.StatusInternalServerError)
}

// formatTime formats the time of a capture for people.
func formatTime(c *lookup.Capture) string {
	if at := c.Time(); !at.IsZero() {
		return at.Format("2006-01-02 15:04:05 UTC")
	}
	return fmt.Sprintf("%.20s", c.Stamp)
}
