package rebuild

import (
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/records/capture"
	"orbweaver/internal/outcome"
)

// captureTo is a capture of url that redirects to location; without one it is a page.
func captureTo(t *testing.T, url, location string, isRobots bool) *storedCapture {
	t.Helper()
	head := "HTTP/1.1 200 OK\r\n\r\n"
	if location != "" {
		head = "HTTP/1.1 301 Moved\r\nLocation: " + location + "\r\n\r\n"
	}
	page, ok := fetch.Stored([]byte(url), []byte(head))
	if !ok {
		t.Fatal(head)
	}
	c := &storedCapture{url: []byte(url), Capture: capture.Capture{Robots: isRobots, Page: page}}
	if location != "" {
		c.Outcome = outcome.Redirect
	}
	return c
}

// A robots.txt redirects to a page, and that to another: both answers belong to the robots.txt once. The next answer of
// the same URL is a page of the crawl.
func TestRobotsChains_followRedirectsOnce(t *testing.T) {
	var chains robotsChains
	for i, c := range []struct {
		url, location  string
		isRobots, want bool
	}{
		{"http://a.test/x", "", false, false},
		{"http://a.test/robots.txt", "/x", true, true},
		{"http://a.test/y", "", false, false},
		{"http://a.test/x", "http://b.test/z", false, true},
		{"http://b.test/z", "", false, true},
		{"http://b.test/z", "", false, false},
		{"http://a.test/x", "http://b.test/z", false, false},
		{"http://b.test/z", "", false, false},
		// A redirect from one robots.txt to another needs no memory: its URL says what it is.
		{"http://a.test/robots.txt", "http://b.test/robots.txt", true, true},
		{"http://b.test/robots.txt", "", true, true},
	} {
		if got := chains.isRobots(captureTo(t, c.url, c.location, c.isRobots)); got != c.want {
			t.Errorf("capture %d, %s: %v", i, c.url, got)
		}
	}
	if _, ok := chains.Find([]byte("http://b.test/z")); ok {
		t.Error("an answer is still expected")
	}
}
