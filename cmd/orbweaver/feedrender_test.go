package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// storefront is a site whose pages below /app/ are one client-rendered shell. The server draws others.
func storefront(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	const script = `<script src="/static/main.3f2a1b9c.js"></script>`
	switch {
	case r.URL.Path == "/":
		fmt.Fprint(w, `<a href=/app/?p=1></a><a href=/app/?p=2></a><a href=/app/?p=3></a><a href=/login></a>`+
			`<a href=/old></a><a href=/gone></a>`, strings.Repeat("text ", 100), script)
	case strings.HasPrefix(r.URL.Path, "/app/"):
		fmt.Fprint(w, `<title>Shop</title><noscript>You need to enable JavaScript to run this app.</noscript>`+
			`<div id="root"></div>`, script)
	case r.URL.Path == "/login":
		fmt.Fprint(w, `<noscript>Please enable JavaScript.</noscript><form><input name=user></form>`, script)
	case r.URL.Path == "/old":
		fmt.Fprint(w, `<h1>Old</h1>`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `<noscript>Please enable JavaScript.</noscript><div id="root"></div>`)
	}
}

// The list for a browser has the client-rendered pages and no others, also those whose payload was read before. It is
// the same when the indexes are made again from the archive.
func TestFeed_renderListsClientRenderedPages(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(storefront))
	defer site.Close()
	dir := t.TempDir()
	call(nearby(dir, site.URL+"/", "--stat", "browser=needs_render")...).want(t, command.ExitDone)
	list := func(args ...string) []string {
		r := call(append([]string{"feed", dir, "--render"}, args...)...).want(t, command.ExitDone)
		lines := strings.Fields(strings.ReplaceAll(r.out, site.URL, ""))
		slices.Sort(lines)
		return lines
	}
	if got := list(); !slices.Equal(got, []string{"/app/?p=1", "/app/?p=2", "/app/?p=3"}) {
		t.Errorf("%q", got)
	}
	if got := list("--render-most", "2"); len(got) != 2 {
		t.Errorf("two of a site: %q", got)
	}
	if got := list("--since", "2099"); len(got) != 0 {
		t.Errorf("since the future: %q", got)
	}
	if stats, _ := readReport(t, dir)["stats"].(map[string]any); stats["browser"] != 3.0 {
		t.Errorf("%v", stats)
	}
	call("fsck", dir).want(t, command.ExitDone)

	site.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // one is drawn by the server now
		switch r.URL.RawQuery {
		case "p=1":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<title>Shop</title>`, strings.Repeat("text ", 100))
		case "p=2":
			w.WriteHeader(http.StatusNotFound)
		default:
			storefront(w, r)
		}
	})
	call("crawl", "--dir", dir, "--refresh").want(t, command.ExitDone)
	if got := list(); !slices.Equal(got, []string{"/app/?p=3"}) {
		t.Errorf("after a refresh: %q", got)
	}
	if got := list("--all", "--render-most", "1"); !slices.Equal(got, []string{"/app/?p=3"}) {
		t.Errorf("one of a site, after a refresh: %q", got)
	}
	site.Config.Handler = http.HandlerFunc(storefront)
	call("feed", dir, "--render", "--limit", "3").want(t, command.ExitUsage, "--render-most")

	other := t.TempDir()
	call(nearby(other, site.URL+"/app/?p=1", "--store", "not needs_render")...).want(t, command.ExitDone)
	if n := number(t, readReport(t, other), "pages_not_stored"); n != 1 {
		t.Errorf("%d pages are not stored", n)
	}
}
