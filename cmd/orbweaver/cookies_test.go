package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/operate/report"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// lounge is a site that sets a cookie and shows its links to requests that have it.
type lounge struct {
	links string

	asked // path and cookies
}

func (l *lounge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.note(strings.TrimSpace(r.URL.Path + " " + r.Header.Get("Cookie")))
	w.Header().Set("Content-Type", "text/html")
	switch r.URL.Path {
	case "/robots.txt":
		http.SetCookie(w, &http.Cookie{Name: "robots", Value: "1", Path: "/"})
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	case "/":
		http.SetCookie(w, &http.Cookie{Name: "guest", Value: "7", Path: "/"})
		http.Redirect(w, r, "/hall", http.StatusFound)
	case "/hall":
		if c, err := r.Cookie("guest"); err == nil && c.Value == "7" {
			fmt.Fprint(w, "<a href=/bar>"+l.links)
			return
		}
		http.Error(w, "who are you?", http.StatusForbidden)
	case "/bar":
		http.SetCookie(w, &http.Cookie{Name: "guest", Path: "/", MaxAge: -1}) // good night
		fmt.Fprint(w, "<a href=/street>")
	default:
		fmt.Fprint(w, "outside")
	}
}

func TestCookiesGoBackToTheirSiteByOption(t *testing.T) {
	other := &lounge{}
	second := httptest.NewServer(other)
	defer second.Close()
	l := &lounge{links: "<a href=" + second.URL + "/elsewhere>"} // the same host, another port
	first := httptest.NewServer(l)
	defer first.Close()
	crawl := func(code int, dir string, more ...string) report.Report {
		t.Helper()
		call(nearby(dir, append(more, first.URL+"/")...)...).want(t, code)
		r, err := report.Read(vfs.Disk(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}

	crawl(command.ExitFailed, t.TempDir()) // it gets a redirect and a 403, and no page
	if got := l.takeAsItCame(); got != "/robots.txt, /, /hall" {
		t.Errorf("without: %s", got)
	}

	dir := t.TempDir()
	r := crawl(command.ExitDone, dir, "--cookies", "site")
	if got := l.takeAsItCame(); got != "/robots.txt, /, /hall guest=7, /bar guest=7, /street" {
		t.Errorf("with --cookies site: %s", got)
	}
	if got := other.takeAsItCame(); got != "/robots.txt, /elsewhere" {
		t.Errorf("the other site heard %s", got)
	}
	if r.Cookies != 0 || r.CookiesLost != 0 {
		t.Errorf("%d cookies are kept, %d were refused", r.Cookies, r.CookiesLost)
	}
	if b, err := os.ReadFile(filepath.Join(dir, settingsName)); err != nil ||
		!strings.Contains(string(b), "cookies = 'site'") {
		t.Errorf("the configuration beside the crawl: %v\n%s", err, b)
	}
	if got, want := cookiesSent(t, dir), []string{"/bar guest=7", "/hall guest=7"}; !slices.Equal(got, want) {
		t.Errorf("the archive says %q, want %q", got, want)
	}
}

// cookiesSent lists path and cookies of the requests in an archive that had any, in order of the alphabet.
func cookiesSent(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archive: %v", err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z := warc.NewReader(f, warc.ReaderOptions{Name: name})
		defer z.Close()
		for {
			rec, err := z.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				_, err = rec.ReadBlock(1 << 20)
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, cookies, found := strings.Cut(string(rec.Block), "\r\nCookie: "); found && rec.Type == warc.Request {
				value, _, _ := strings.Cut(cookies, "\r\n")
				list = append(list, strings.Fields(string(rec.Block))[1]+" "+value)
			}
		}
	}
	slices.Sort(list)
	return list
}
