package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"orbweaver/internal/cli/command"
)

// guardedSite is a server that wants a password and has a robots.txt that forbids all. It notes the heads of requests.
type guardedSite struct {
	*httptest.Server
	mu    sync.Mutex
	heads []http.Header
}

func newGuardedSite(t *testing.T) *guardedSite {
	t.Helper()
	s := new(guardedSite)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.heads = append(s.heads, r.Header.Clone())
		s.mu.Unlock()
		name, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/robots.txt":
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
		case name != "me" || password != "s3cret":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write([]byte("a page"))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// archived prints all records of a crawl.
func archived(t *testing.T, dir string, args ...string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return call(append(append([]string{"warc", "cat"}, args...), files...)...).want(t, command.ExitDone).out
}

// A password, further lines of the head, a user agent, and a robots.txt that a rule ignores with its reason: requests
// have them, and the archive tells all but the password.
func TestCrawl_asksAsItsOperatorWants(t *testing.T) {
	site, base := newGuardedSite(t), t.TempDir()
	dir, netrc, rules := filepath.Join(base, "c"), filepath.Join(base, "netrc"), filepath.Join(base, "rules")
	writeFile(t, netrc, "machine 127.0.0.1 login me password s3cret\n")
	writeFile(t, rules, `127.0.0.1 user-agent="Mozilla/5.0 (own bot)" robots=ignore reason="legal deposit"`+"\n")
	call(nearby(dir, "--netrc", netrc, "--host-rules", rules, "--header", "Accept-Language: de", "--warc-prefix", "mine",
		"--warc-info", "audience: researchers", "--description", "A test", "--is-part-of", "tests", site.URL+"/")...).want(
		t, command.ExitDone, "robots.txt is ignored", "legal deposit",
	)
	if r := readReport(t, dir); number(t, r, "pages_stored") != 1 {
		t.Errorf("%v", r["outcomes"])
	}
	site.mu.Lock()
	defer site.mu.Unlock()
	for _, head := range site.heads {
		if head.Get("User-Agent") != "Mozilla/5.0 (own bot)" || head.Get("Accept-Language") != "de" {
			t.Errorf("a request with %v", head)
		}
	}
	text := archived(t, dir)
	for _, line := range []string{
		"WARC-Filename: mine-", "audience: researchers\r\n", "description: A test\r\n", "isPartOf: tests\r\n",
		"robots-ignored: 127.0.0.1/32: legal deposit\r\n", "Accept-Language: de\r\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in the archive", line)
		}
	}
	if strings.Contains(text, "Authorization") {
		t.Error("the password is in the archive")
	}
	b, err := os.ReadFile(filepath.Join(dir, "crawl.toml"))
	if err != nil || strings.Contains(string(b), "s3cret") {
		t.Errorf("%s, %v", b, err)
	}
}

// A link leads from a site with a password to another port of its host, which does not get the password.
func TestCrawl_keepsAPasswordToTheSiteOfItsSeed(t *testing.T) {
	other, base := newGuardedSite(t), t.TempDir()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, _, _ := r.BasicAuth(); name != "me" {
			t.Errorf("a request for %s without a password", r.URL)
		}
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(site.Close)
	netrc, rules := filepath.Join(base, "netrc"), filepath.Join(base, "rules")
	writeFile(t, netrc, "machine 127.0.0.1 login me password s3cret\n")
	writeFile(t, rules, "127.0.0.1 robots=ignore reason=test\n")
	call(nearby(filepath.Join(base, "c"), "--netrc", netrc, "--host-rules", rules, site.URL+"/")...).want(
		t, command.ExitFailed, "1 of 2 client-error",
	)
	other.mu.Lock()
	defer other.mu.Unlock()
	for _, head := range other.heads {
		if head.Get("Authorization") != "" {
			t.Errorf("another port gets the password: %v", head)
		}
	}
	if len(other.heads) == 0 {
		t.Error("the redirect was not followed")
	}
}

// Without the rule and the password nothing is stored: robots.txt forbids it.
func TestCrawl_obeysRobotsUnlessARuleSaysOtherwise(t *testing.T) {
	site, dir := newGuardedSite(t), t.TempDir()
	call(nearby(dir, site.URL+"/")...).want(t, command.ExitFailed, "robots.txt of the sites forbids")
	if r := readReport(t, dir); number(t, r, "robots_denied") != 1 {
		t.Errorf("%v", r["outcomes"])
	}
	call(nearby(filepath.Join(dir, "x"), "--netrc", filepath.Join(dir, "none"), site.URL+"/")...).want(
		t, command.ExitUsage, "--netrc: ",
	)
}

// A site begins with the cookies of a file that are for it.
func TestCrawl_beginsWithCookies(t *testing.T) {
	site, base := newGuardedSite(t), t.TempDir()
	file := filepath.Join(base, "cookies.txt")
	writeFile(t, file, "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tabc\n"+
		"other.test\tTRUE\t/\tFALSE\t0\tother\txyz\n#HttpOnly_127.0.0.1\tFALSE\t/none/\tFALSE\t0\tdeep\tx\n")
	rules := filepath.Join(base, "rules")
	writeFile(t, rules, "127.0.0.1 robots=ignore reason=test\n")
	dir := filepath.Join(base, "c")
	call(nearby(dir, "--load-cookies", file, "--host-rules", rules, site.URL+"/")...).want(
		t, command.ExitUsage, "--load-cookies: give --cookies site",
	)
	call(nearby(dir, "--load-cookies", file, "--cookies", "site", "--host-rules", rules, site.URL+"/")...).want(
		t, command.ExitFailed, "1 of 1 client-error", // the site wants a password, too
	)
	site.mu.Lock()
	defer site.mu.Unlock()
	var cookies []string
	for _, head := range site.heads {
		cookies = append(cookies, head.Get("Cookie"))
	}
	if got := strings.Join(cookies, "|"); got != "|session=abc" { // none for robots.txt
		t.Errorf("cookies %q", got)
	}
}
