package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orbweaver/engine/operate/report"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// paper is a site whose pages have an entity tag each, which changes with them.
type paper struct {
	news atomic.Int64

	asked // path and condition
}

func (p *paper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	condition, news := r.Header.Get("If-None-Match"), p.news.Load()
	p.note(strings.TrimSpace(r.URL.Path + " " + condition))
	tag, text := `"front"`, `<a href="/news"></a><a href="/archive"></a>`
	switch r.URL.Path {
	case "/":
	case "/news":
		tag, text = fmt.Sprintf(`"news-%d"`, news), fmt.Sprintf(`<p>%d<a href="/news/%d"></a>`, news, news)
	case "/archive", "/news/0", "/news/1":
		tag, text = `"`+r.URL.Path+`"`, "old: "+r.URL.Path
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "text/html")
	if condition == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprint(w, text)
}

func TestAFinishedCrawlIsRefreshedByOption(t *testing.T) {
	p := &paper{}
	site := httptest.NewServer(p)
	defer site.Close()
	dir := t.TempDir()
	crawl := func(more ...string) (report.Report, result) {
		t.Helper()
		r := call(nearby(dir, more...)...).want(t, command.ExitDone)
		report, err := report.Read(vfs.Disk(), dir)
		if err != nil {
			t.Fatal(err)
		}
		call("fsck", dir).want(t, command.ExitDone)
		return report, r
	}
	report, _ := crawl(site.URL+"/", "--refresh") // there is nothing yet
	if report.PagesStored != 4 || report.Pass != 1 || strings.Contains(p.takeAsItCame(), `"`) {
		t.Fatalf("pass %d: %d pages", report.Pass, report.PagesStored)
	}
	if crawl(); p.takeAsItCame() != "" {
		t.Error("a finished crawl asks without being told to")
	}
	p.news.Store(1)
	report, said := crawl("--refresh")
	if report.PagesUnchanged != 2 || report.PagesStored != 2 || report.RevisitsStored != 0 || report.Pass != 2 {
		t.Errorf(
			"pass %d: %d unchanged, %d stored, %d revisits", report.Pass, report.PagesUnchanged, report.PagesStored,
			report.RevisitsStored,
		)
	}
	if want := `/robots.txt, / "front", /news "news-0", /archive "/archive", /news/1`; p.takeAsItCame() != want {
		t.Errorf("asked for otherwise than: %s", want)
	}
	if !strings.Contains(said.err, "begins again") || !strings.Contains(said.err, "2 pages unchanged") {
		t.Errorf("said: %s", said.err)
	}
	if crawl(); p.takeAsItCame() != "" {
		t.Error("--refresh was kept for the next run")
	}
	files, err := filepath.Glob(dir + "/warc/*.warc.gz")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	call(append([]string{"warc", "verify"}, files...)...).want(t, command.ExitDone)
}
