package main

import (
	"crypto/tls"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// pickySite answers HTTP/1.1 with a status, and HTTP/2 with a page. It counts requests for pages.
func pickySite(t *testing.T, status int, protocols ...string) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt" && status < 500:
			http.NotFound(w, r)
			return
		case r.URL.Path != "/robots.txt":
			asked.Add(1)
		}
		if r.ProtoMajor < 2 {
			w.WriteHeader(status)
		}
		_, _ = w.Write([]byte("<a href=/next>a page</a>"))
	}))
	site.EnableHTTP2, site.TLS = true, &tls.Config{NextProtos: protocols}
	site.StartTLS()
	t.Cleanup(site.Close)
	return site.URL + "/", asked
}

// logOf is crawl.log, and the probes of the report.
func logOf(t *testing.T, dir string) (lines string, probes map[string]int64) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, "logs", "crawl.log"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	var report struct {
		Probes map[string]int64 `json:"h2_probes"`
	}
	if err != nil || json.Unmarshal(text, &report) != nil {
		t.Fatal(err, string(text))
	}
	return string(log), report.Probes
}

// A site that refuses HTTP/1.1 is asked once more over HTTP/2, and the report says whether that helped. No other URL of
// the site is asked so.
func TestCrawl_probesHTTP2(t *testing.T) {
	for _, c := range []struct {
		status    int
		protocols []string
		want      map[string]int64
		pages     int64
		line      string
	}{
		{403, nil, map[string]int64{"403-lifted": 1}, 3, ",h2-probe:403-lifted"},
		{426, nil, map[string]int64{"426-lifted": 1}, 3, ",h2-probe:426-lifted"},
		{403, []string{"http/1.1"}, map[string]int64{"403": 1}, 2, ",h2-probe:403"},
		{404, nil, nil, 1, ""},
		{200, nil, nil, 2, ""},
	} {
		url, asked := pickySite(t, c.status, c.protocols...)
		dir := t.TempDir()
		call(nearby(dir, "--probe-h2", url)...)
		lines, probes := logOf(t, dir)
		if !maps.Equal(probes, c.want) || asked.Load() != c.pages || !strings.Contains(lines, c.line) {
			t.Errorf("%d %v: %v, %d requests for pages\n%s", c.status, c.protocols, probes, asked.Load(), lines)
		}
	}
}

// Without the option nothing is asked twice; with --http2 the first request succeeds.
func TestCrawl_speaksHTTP2(t *testing.T) {
	for flag, pages := range map[string]int64{"--quiet": 1, "--http2": 2} {
		url, asked := pickySite(t, 403)
		dir := t.TempDir()
		call(nearby(dir, flag, url)...)
		if lines, probes := logOf(t, dir); probes != nil || asked.Load() != pages {
			t.Errorf("%s: %v, %d requests for pages\n%s", flag, probes, asked.Load(), lines)
		}
	}
}

// What fails over HTTP/2 is tried over HTTP/1.1. The site is known for it from then on, also after a resume: no other
// page has two requests.
func TestCrawl_fallsBackFromHTTP2(t *testing.T) {
	var failed atomic.Int64
	var answered sync.Map // paths, in the run at hand
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 {
			failed.Add(1)
			panic(http.ErrAbortHandler)
		}
		if _, again := answered.Swap(r.URL.Path, true); again {
			t.Errorf("%s is asked for twice in one run", r.URL.Path)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a> <a href=/4>4</a>"))
	}))
	site.EnableHTTP2 = true
	site.StartTLS()
	defer site.Close()
	dir := t.TempDir()
	call(nearby(dir, "--http2", "--max-pages", "2", site.URL+"/")...)
	answered.Clear() // a page that was under way at the limit is asked for again
	call(nearby(dir, "--http2", "--max-pages", "0")...)
	lines, _ := logOf(t, dir)
	if failed.Load() != 1 || !strings.Contains(lines, "cause:h2:-stream-reset-(2)") || strings.Count(lines, " 200 ") != 6 {
		t.Errorf("%d requests over HTTP/2\n%s", failed.Load(), lines)
	}
}
