package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// A finished crawl that is started again says that there is nothing to do, and how it is crawled again.
func TestCrawl_thatIsFinishedSaysThatThereIsNothingToDo(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("a page"))
	}))
	defer site.Close()
	dir := t.TempDir()
	said := "nothing to do: the crawl in " + dir + " is finished; --refresh crawls it again"
	if r := call(nearby(dir, site.URL+"/")...).want(t, command.ExitDone); strings.Contains(r.err, said) {
		t.Error(r.err)
	}
	call(nearby(dir, site.URL+"/")...).want(t, command.ExitDone, said)
	limited := nearby(t.TempDir(), "--max-pages", "1", site.URL+"/")
	call(limited...).want(t, command.ExitDone)
	call(limited...).want(t, command.ExitDone, "has ended at its limit (max-pages reached); --refresh crawls it again")
	for _, more := range []string{site.URL + "/new", "--refresh"} {
		if r := call(nearby(dir, more)...).want(t, command.ExitDone); strings.Contains(r.err, said) {
			t.Errorf("%s: %s", more, r.err)
		}
	}
}

// A failure is told once, with its remedy: by the summary, or by the last line if there is none.
func TestCrawl_saysItsFailureOnce(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
	}))
	defer site.Close()
	for _, flag := range []string{"--log-level=error", "--quiet", "--json"} {
		r := call(nearby(t.TempDir(), flag, site.URL+"/")...).want(t, command.ExitFailed, "the same command tries again")
		if n := strings.Count(r.err, "forbids these URLs"); flag != "--quiet" && flag != "--json" && n != 1 {
			t.Errorf("%s: told %d times:\n%s", flag, n, r.err)
		}
	}
}
