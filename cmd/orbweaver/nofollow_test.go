package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// site is a web server of a few pages that remembers what it was asked for.
type site struct {
	asked
}

// pages are paths with the links of each; header is what X-Robots-Tag says.
func (*site) page(path string) (body, header string) {
	switch path {
	case "/":
		return "<a href=/plain><a rel=nofollow href=/rel><a href=/meta><a href=/header><a href=/other>" +
			"<a href=/same/p?1><a href=/same/p?2>", ""
	case "/meta":
		return "<meta name=robots content='noindex,nofollow'><a href=/meta-link>", ""
	case "/header":
		return "<a href=/header-link>", "orbweaver: nofollow"
	case "/other":
		return "<a href=/other-link>", "otherbot: nofollow"
	case "/same/p?1":
		return "<a href=link>", "none"
	case "/same/p?2": // the same bytes, without nofollow
		return "<a href=link>", ""
	}
	return "the end of " + path, ""
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RequestURI()
	if path == "/robots.txt" {
		http.NotFound(w, r)
		return
	}
	s.note(path)
	body, header := s.page(path)
	w.Header().Set("Content-Type", "text/html")
	if header != "" {
		w.Header().Set("X-Robots-Tag", header)
	}
	fmt.Fprint(w, body)
}

func TestNoFollowLeavesLinksAloneByOption(t *testing.T) {
	const obeyed = "/ /header /meta /other /other-link /plain /same/link /same/p?1 /same/p?2"
	s := new(site)
	server := httptest.NewServer(s)
	defer server.Close()
	crawl := func(dir string, more ...string) {
		t.Helper()
		call(nearby(dir, append(more, server.URL+"/")...)...).want(t, command.ExitDone)
	}
	dir := t.TempDir()
	crawl(dir, "--nofollow")
	if got := s.take(); got != obeyed {
		t.Errorf("with --nofollow:\n%s, want\n%s", got, obeyed)
	}
	if b, err := os.ReadFile(filepath.Join(dir, settingsName)); err != nil ||
		!strings.Contains(string(b), "nofollow = true") {
		t.Errorf("the configuration beside the crawl: %v\n%s", err, b)
	}
	// The frontier rebuilt from the archive, by the same rules, has nothing more to fetch.
	if err := os.RemoveAll(filepath.Join(dir, "frontier")); err != nil {
		t.Fatal(err)
	}
	call("fsck", "--rebuild", "--quiet", dir, server.URL+"/").want(t, command.ExitDone)
	crawl(dir)
	if got := s.take(); got != "" {
		t.Errorf("after a rebuild: %s", got)
	}
	crawl(t.TempDir())
	want := "/ /header /header-link /meta /meta-link /other /other-link /plain /rel /same/link /same/p?1 /same/p?2"
	if got := s.take(); got != want {
		t.Errorf("without:\n%s, want\n%s", got, want)
	}
}
