package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"orbweaver/engine/operate/feed"
	"orbweaver/internal/cli/command"
)

// magazine is a site whose second issue has news, a new page, and no archive any more.
type magazine struct{ issue atomic.Int64 }

func (m *magazine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	issue := m.issue.Load()
	text := ""
	switch r.URL.Path {
	case "/":
		text = `<a href="/news"></a><a href="/old"></a><a href="/logo"></a>`
	case "/news":
		text = fmt.Sprintf(`issue %d <a href="/story/%d">`, issue, issue)
	case "/logo":
		text = strings.Repeat("logo", 1000)
	case fmt.Sprintf("/story/%d", issue):
		text = fmt.Sprintf("story %d", issue)
	}
	if text == "" && (r.URL.Path != "/old" || issue > 1) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, text+" ")
}

// changesOf runs the command and returns its lines as "kind path", with the last cursor.
func changesOf(t *testing.T, site string, args ...string) (lines, cursor string) {
	t.Helper()
	r := call(append([]string{"feed"}, args...)...).want(t, command.ExitDone)
	var all []string
	for line := range strings.Lines(r.out) {
		var c feed.Change
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		cursor = c.Cursor
		if path := strings.TrimPrefix(c.URL, site); path != "/robots.txt" {
			all = append(all, strings.TrimSpace(string(c.Kind)+" "+path))
		}
	}
	return strings.Join(all, ", "), cursor
}

// The operator of a search engine asks a crawl what is new, crawls again, and asks on with the cursor. A second crawl
// in another directory stores only what the first has not.
func TestFeed_afterACrawlAndItsRefresh(t *testing.T) {
	m := &magazine{}
	m.issue.Store(1)
	site := httptest.NewServer(m)
	defer site.Close()
	dir := t.TempDir()
	// The feed has the order of the archive: with a longer delay, that of the requests.
	call(nearby(dir, site.URL+"/", "--host-delay", "100ms")...).want(t, command.ExitDone)
	said, cursor := changesOf(t, site.URL, dir)
	if said != "new /, new /news, new /old, new /logo, new /story/1, end" {
		t.Errorf("first: %s", said)
	}
	if said, next := changesOf(t, site.URL, "--dir", dir, "--since", cursor, "--follow"); said != "end" || next != cursor {
		t.Errorf("nothing has changed: %s", said)
	}
	m.issue.Store(2)
	call(nearby(dir, "--refresh")...).want(t, command.ExitDone)
	if said, _ := changesOf(t, site.URL, dir, "--since", cursor); said != "changed /news, gone /old, new /story/2, end" {
		t.Errorf("then: %s", said)
	}
	if said, _ := changesOf(t, site.URL, dir, "--since", cursor, "--all"); !strings.Contains(said, "unchanged /logo") {
		t.Errorf("all: %s", said)
	}
	if said, _ := changesOf(t, site.URL, dir, "--limit", "2"); said != "new /, end" && said != "new /, new /news, end" {
		t.Errorf("two at most: %s", said)
	}
	if said, _ := changesOf(t, site.URL, dir, "--since", "2099"); said != "end" {
		t.Errorf("since the future: %s", said)
	}
	for _, wrong := range [][]string{
		{dir, "--since", "1-2"}, {dir, "--since", "soon"}, {filepath.Join(dir, "nowhere")}, {dir, "--follow", "--limit", "3"},
	} {
		call(append([]string{"feed"}, wrong...)...).want(t, command.ExitUsage)
	}

	second := t.TempDir()
	call(nearby(second, site.URL+"/", "--dedup-from", dir)...).want(t, command.ExitDone)
	report := readReport(t, second)
	if stored, known := number(t, report, "pages_stored"), number(t, report, "revisits_stored"); stored != 0 || known < 4 {
		t.Errorf("%d pages stored, %d revisits", stored, known)
	}
	r := call("fsck", second).want(t, command.ExitDone)
	if !strings.Contains(r.out, "refer to records of other archives") {
		t.Error(r.out)
	}
	call("warc", "get", "--dir", second, site.URL+"/logo").want(t, command.ExitFailed, "--with")
	r = call("warc", "get", "--dir", second, "--with", dir, site.URL+"/logo").want(t, command.ExitDone)
	if !strings.HasPrefix(r.out, "logologo") {
		t.Error(r.out)
	}
}
