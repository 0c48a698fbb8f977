package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orbweaver/internal/cli/command"
)

// shop is a web server whose pages are found in sitemaps only. It remembers what it was asked for.
type shop struct {
	t     *testing.T
	clone func(path string) // called before a page is served

	asked
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, home := r.URL.RequestURI(), "http://"+r.Host
	if s.clone != nil {
		s.clone(path)
	}
	if path != "/robots.txt" {
		s.note(path)
	}
	kind, body := "text/html", "the end of "+path
	switch path {
	case "/robots.txt":
		kind, body = "text/plain", "User-agent: *\nDisallow: /secret\nSitemap: /index.xml\nSitemap: "+home+"/packed.xml.gz\n"
	case "/":
		body = "<form action=/search></form>"
	case "/index.xml":
		kind, body = "text/xml", "<sitemapindex><sitemap><loc>"+home+"/moved</loc></sitemap><sitemap><loc>"+home+
			"/nested.xml</loc></sitemap></sitemapindex>"
	case "/moved":
		http.Redirect(w, r, "/list.txt", http.StatusFound)
		return
	case "/list.txt":
		kind, body = "text/plain", home+"/1\r\n"+home+"/2\n"+home+"/secret\n"
	case "/nested.xml":
		kind, body = "text/xml", "<sitemapindex><sitemap><loc>"+home+"/never.xml</loc></sitemap></sitemapindex>"
	case "/packed.xml.gz":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		fmt.Fprintf(z, "<urlset><url><loc>%s/3?a&amp;b</loc></url></urlset>", home)
		if err := z.Close(); err != nil {
			s.t.Error(err)
		}
		kind, body = "application/x-gzip", b.String()
	}
	w.Header().Set("Content-Type", kind)
	fmt.Fprint(w, body)
}

func shopCrawl(t *testing.T, dir, seed string, more ...string) {
	t.Helper()
	call(
		append(
			[]string{
				"crawl", "--dir", dir, "--allow-net", "127.0.0.0/8", "--host-delay", "20ms", "--ip-delay", "0", "--fetchers", "2",
				"--stall-wait", "1m", "--workbench-memory", "4Mi", "--cache-memory", "1Mi", "--sieve-memory", "1Mi", "--scope",
				"host", seed,
			},
			more...)...).want(t, command.ExitDone)
}

func TestSitemapsAreFollowedByOption(t *testing.T) {
	s := &shop{t: t}
	server := httptest.NewServer(s)
	defer server.Close()
	const all = "/ /1 /2 /3?a&b /index.xml /list.txt /moved /nested.xml /packed.xml.gz"
	dir := t.TempDir()
	// Sitemaps are no links on the way: their pages are one link from the seed, whose robots.txt names them.
	shopCrawl(t, dir, server.URL+"/", "--sitemaps", "--max-depth", "1")
	if got := s.take(); got != all {
		t.Errorf("with --sitemaps:\n%s, want\n%s", got, all)
	}
	if err := os.RemoveAll(filepath.Join(dir, "frontier")); err != nil {
		t.Fatal(err)
	}
	call("fsck", "--rebuild", "--quiet", dir, server.URL+"/").want(t, command.ExitDone)
	shopCrawl(t, dir, server.URL+"/")
	if got := s.take(); got != "" {
		t.Errorf("after a rebuild: %s", got)
	}
	shopCrawl(t, t.TempDir(), server.URL+"/", "--sitemaps", "--max-depth", "0")
	if got, want := s.take(), "/ /index.xml /list.txt /moved /nested.xml /packed.xml.gz"; got != want {
		t.Errorf("at depth 0:\n%s, want\n%s", got, want)
	}
	shopCrawl(t, t.TempDir(), server.URL+"/", "--forms")
	if got, want := s.take(), "/ /search"; got != want {
		t.Errorf("without --sitemaps, with --forms: %s, want %s", got, want)
	}
}

// The scope of a folder is about pages: sitemaps of the host name them, wherever they are, also behind a redirect.
func TestSitemaps_ofTheHostArePartOfAFolder(t *testing.T) {
	w := new(asked)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.note(r.URL.Path)
		home := "http://" + r.Host
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprintf(out, "User-agent: *\nSitemap: %s/sitemap.xml\n", home)
		case "/sitemap.xml":
			http.Redirect(out, r, "/maps/index.xml", http.StatusMovedPermanently)
		case "/maps/index.xml":
			fmt.Fprintf(out, "<?xml version='1.0'?><sitemapindex><sitemap><loc>%s/maps/1.xml</loc></sitemap></sitemapindex>",
				home)
		case "/maps/1.xml":
			fmt.Fprintf(out, "<?xml version='1.0'?><urlset><url><loc>%s/docs/deep</loc></url>"+
				"<url><loc>%[1]s/news</loc></url></urlset>", home)
		case "/docs/moved":
			http.Redirect(out, r, "/news", http.StatusMovedPermanently)
		default:
			_, _ = out.Write([]byte("<a href=/docs/moved></a><a href=/news></a>"))
		}
	}))
	defer server.Close()
	for _, scope := range []string{"prefix", `in_host && path startsWith "/docs/"`} {
		for _, more := range [][]string{nil, {"--sitemaps"}} {
			call(nearby(t.TempDir(), append([]string{"--scope", scope, server.URL + "/docs/"}, more...)...)...).
				want(t, command.ExitDone)
			want := "/docs/ /docs/moved /robots.txt"
			if len(more) > 0 {
				want = "/docs/ /docs/deep /docs/moved /maps/1.xml /maps/index.xml /robots.txt /sitemap.xml"
			}
			if got := w.take(); got != want {
				t.Errorf("%s %v: %s, want %s", scope, more, got, want)
			}
		}
	}
}

// copyFiles copies the files below a directory as they are at the moment, and no sockets.
func copyFiles(to, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type().Type()&^fs.ModeDir != 0 {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if d.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(at, b, 0o600)
	})
}

// TestAKillForgetsNoSitemap copies the crawl directory in the middle of the crawl, as a kill would leave it, when no
// page that a sitemap names has been fetched. A crawl that goes on from there fetches them all, and no sitemap again.
func TestAKillForgetsNoSitemap(t *testing.T) {
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	var once sync.Once
	s := &shop{t: t, clone: func(path string) {
		if path != "/1" {
			return
		}
		once.Do(func() {
			if err := copyFiles(copied, dir); err != nil {
				t.Error(err)
			}
		})
	}}
	server := httptest.NewServer(s)
	defer server.Close()
	shopCrawl(t, dir, server.URL+"/", "--sitemaps", "--fetchers", "1")
	first := s.take()
	shopCrawl(t, copied, server.URL+"/")
	again := strings.Fields(s.take())
	for _, path := range again {
		if strings.HasSuffix(path, "never.xml") || path == "/index.xml" || path == "/list.txt" {
			t.Errorf("%s was asked for after the kill: %v", path, again)
		}
	}
	if !slices.Contains(again, "/1") || !slices.Contains(again, "/2") {
		t.Errorf("asked for before the kill or after the copy: %s\nafter the kill: %v", first, again)
	}
}
