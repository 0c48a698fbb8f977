package replay

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"orbweaver/internal/vfs"
)

// playerOf returns a Player of the archive of a Handler.
func playerOf(t *testing.T, h http.Handler, o PlayerOptions) *Player {
	t.Helper()
	handler, ok := h.(*Handler)
	if !ok {
		t.Fatal("no Handler")
	}
	o.Address, o.List = "http://127.0.0.1:81", "http://127.0.0.1:80"
	o.UI, o.Worker = []byte("the interface"), []byte("the worker")
	return NewPlayer(handler, o)
}

// ReplayWeb.page gets payloads as they are stored, redirects as fields that its worker reads, and a short page for what
// is missing.
func TestPlayer_answers(t *testing.T) {
	p := playerOf(t, site(t), PlayerOptions{})
	for _, c := range []struct {
		path   string
		status int
		body   string
		fields string
	}{
		{"/ui.js", 200, "the interface", "Content-Type: text/javascript"},
		{"/replay/sw.js", 200, "the worker", "connect-src 'self'"},
		{"/replay/", 200, "serviceWorker.ready", ""},
		{"/?url=https://a.test/&ts=2026", 200, `url="https://a.test/" ts="2026"`, "frame-src 'self'"},
		{"/?url=%22%3E%3Cb%3E", 200, `url="%22%3e%3cb%3e"`, ""},
		{"/", 302, "", "Location: http://127.0.0.1:80/"},
		{"/20260102030405id_/https://a.test/cyrillic", 200, "\xcf\xf0\xe8", "charset=windows-1251"},
		{"/https://a.test/style.css", 200, `@import "more.css"`, "Memento-Datetime: Fri, 02 Jan 2026 03:04:06 GMT"},
		{"/2026id_/https://a.test/old", 200, "", "X-Orig-Location: https://a.test/new?x=1\nX-Redirect-Status: 301"},
		{"/20260102030405id_/https://a.test/gone", 404, "<p>gone", ""},
		{"/20260102030405id_/https://a.test/none", 404, "<h1>Not in the archive</h1>", "Content-Type: text/html"},
		{"/wacz/0/site.wacz", 404, "", ""},
		{"/captures", 404, "", ""},
	} {
		resp, body := ask(t, p, c.path)
		head := strings.Builder{}
		if err := resp.Header.Write(&head); err != nil {
			t.Fatal(err)
		}
		fields := strings.ReplaceAll(head.String(), "\r\n", "\n")
		if resp.StatusCode != c.status || !strings.Contains(body, c.body) || !strings.Contains(fields, c.fields) {
			t.Errorf("%s: %d, want %d with %q and %q\n%s\n%s", c.path, resp.StatusCode, c.status, c.fields, c.body, fields,
				body)
		}
		if c.path != "/captures" && resp.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s has no policy", c.path)
		}
	}
	if resp, _ := ask(t, p, "/ui.js", "Host", "rebound.example"); resp.StatusCode != http.StatusMisdirectedRequest {
		t.Error(resp.Status)
	}
	// As a document of its own, a payload runs no script.
	resp, _ := ask(t, p, "/20260102030405id_/https://a.test/", "Sec-Fetch-Mode", "navigate")
	if kind := resp.Header.Get("Content-Type"); kind != plainText {
		t.Error(kind)
	}
	_, body := ask(t, site(t), "/20260102030405/https://a.test/")
	if strings.Contains(body, "with scripts") {
		t.Error("a bar leads to a Player that does not exist")
	}
	p.h.o.Player = "http://127.0.0.1:81"
	_, body = ask(t, p.h, "/20260102030405/https://a.test/")
	want := `href="http://127.0.0.1:81/?url=https%3a%2f%2fa.test%2f&amp;ts=20260102030405">`
	if !strings.Contains(body, want) {
		t.Errorf("no %s in\n%s", want, body)
	}
}

func writeFile(disk vfs.FS, name, text string) error {
	return vfs.WriteAtomic(disk, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// A WACZ, and those that a list names, are served by parts. No other file is.
func TestPlayer_servesPackages(t *testing.T) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("d/below"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/all.json", "d/below/1.wacz", "d/2.wacz"} {
		if err := writeFile(disk, name, "0123456789"); err != nil {
			t.Fatal(err)
		}
	}
	p := playerOf(t, site(t), PlayerOptions{FS: disk, Packages: []string{"d/all.json", "d/below/1.wacz"}})
	_, body := ask(t, p, "/")
	if want := `source="/wacz/20/all.json"`; !strings.Contains(body, want) {
		t.Errorf("no %s in\n%s", want, body)
	}
	for path, want := range map[string]string{
		"/wacz/20/all.json": "345", "/wacz/20/below/1.wacz": "345", "/wacz/20/2.wacz": "404",
		"/wacz/20/../20/all.json": "404",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:80"+path, http.NoBody)
		r.Header.Set("Range", "bytes=3-5")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		got := fmt.Sprint(w.Code)
		if w.Code == http.StatusPartialContent {
			got = w.Body.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A directory without ReplayWeb.page is refused, with the command that gets it.
func TestLoadPlayer(t *testing.T) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"d/ui.js", "d/sw.js"} {
		if _, _, err := LoadPlayer(disk, "d"); err == nil || !strings.Contains(err.Error(), "npm install") ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		if err := writeFile(disk, name, name); err != nil {
			t.Fatal(err)
		}
	}
	ui, worker, err := LoadPlayer(disk, "d")
	if string(ui) != "d/ui.js" || string(worker) != "d/sw.js" || err != nil {
		t.Errorf("%q %q %v", ui, worker, err)
	}
}

// asked notes which of the tempting pages were asked for.
type asked struct {
	http.Handler

	mu    sync.Mutex
	pages map[string]bool // guarded by mu
}

// ServeHTTP answers.
func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, page, ok := strings.Cut(r.RequestURI, "/http://site.test/"); ok {
		a.mu.Lock()
		a.pages[page] = true
		a.mu.Unlock()
	}
	a.Handler.ServeHTTP(w, r)
}

// has reports whether all these pages were asked for.
func (a *asked) has(pages []int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.ContainsFunc(pages, func(i int) bool { return !a.pages[fmt.Sprint(i)] })
}

// ReplayWeb.page shows the same pages, and lets their scripts run. None makes the browser contact a foreign server,
// except by preconnect, which no policy forbids.
func TestBrowser_playerContactsNoForeignServer(t *testing.T) {
	dir := os.Getenv("VIEW_REPLAYWEB")
	if dir == "" || os.Getenv("VIEW_OUTSIDE") == "" {
		t.Skip("VIEW_REPLAYWEB, VIEW_OUTSIDE: see make accept NAME=view")
	}
	all, _, h := tempting(t)
	ui, worker, err := LoadPlayer(vfs.Disk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := &asked{pages: map[string]bool{}}
	server := httptest.NewServer(pages)
	defer server.Close()
	handler, ok := h.(*Handler)
	if !ok {
		t.Fatal("no Handler")
	}
	handler.log = slog.New(slog.DiscardHandler)
	pages.Handler = NewPlayer(handler, PlayerOptions{Address: server.URL, List: server.URL, UI: ui, Worker: worker})
	foreign := openOutside(t)
	var tried []int
	for i, a := range all {
		text := strings.ReplaceAll(strings.ToLower(a.head+a.body), "\x00", "") // UTF-16
		if !strings.Contains(text, "preconnect") {
			tried = append(tried, i)
		}
	}
	const atOnce = 6
	for part := range slices.Chunk(tried, atOnce) {
		var addresses []string
		for _, i := range part {
			addresses = append(addresses, fmt.Sprintf("%s/?url=http://site.test/%d&ts=20260102030405", server.URL, i))
		}
		look(t, addresses, func() bool { return pages.has(part) })
		for _, name := range foreign.names() {
			var i int
			_, _ = fmt.Sscanf(name, "k%d", &i) // it is one of ours
			t.Errorf("%s contacts a foreign server: %q %.300s", os.Getenv("VIEW_BROWSER"), all[i].kind, all[i].body)
		}
		if !pages.has(part) {
			t.Errorf("not all of the pages %v were opened", part)
		}
	}
}
