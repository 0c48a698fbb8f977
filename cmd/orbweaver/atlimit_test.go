package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"orbweaver/internal/cli/command"
)

// A crawl that has reached a limit asks the site for no page more when the same command resumes it, whether or not it
// has fetched the requisites. For five seconds it fetched pages that it did not store.
func TestCrawl_atItsLimitAsksForNoPage(t *testing.T) {
	for _, limit := range [][]string{
		{"--max-pages", "2", "--requisites", "off"}, {"--max-pages", "2"}, {"--max-disk", "2Mi"},
	} {
		t.Run(strings.Join(limit, " "), func(t *testing.T) {
			var pages atomic.Int64
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					http.NotFound(w, r)
					return
				}
				n := pages.Add(1)
				w.Header().Set("Content-Type", "text/html")
				noise := make([]byte, 200_000) // so that few pages reach --max-disk
				rand.NewChaCha8([32]byte{byte(n)}).Read(noise)
				fmt.Fprintf(w, "<p>page %d<a href=/%d>next</a><img src=/image%d><!--%x-->", n, n, n, noise)
			}))
			defer site.Close()
			args := nearby(t.TempDir(), append(limit, "--progress", "none", site.URL+"/")...)
			call(args...).want(t, command.ExitDone, strings.TrimPrefix(limit[0], "--")+" reached")
			first := pages.Load()
			call(args...).want(t, command.ExitDone, strings.TrimPrefix(limit[0], "--")+" reached")
			if more := pages.Load() - first; first == 0 || more > 0 {
				t.Errorf("%d requests, and %d when the same command resumed the crawl", first, more)
			}
		})
	}
}
