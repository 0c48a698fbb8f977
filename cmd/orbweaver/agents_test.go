package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/bench/invitro"
	"orbweaver/bench/simweb"
	"orbweaver/internal/vfs"
)

// gossipPort is an address of loopback that nobody listens on just now, neither there, UDP and TCP, nor on the port after it.
func gossipPort(t *testing.T) string {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", freePort(t))
		if err != nil {
			continue
		}
		at := l.Addr().(*net.TCPAddr)
		next, err := net.ListenTCP("tcp", &net.TCPAddr{IP: at.IP, Port: at.Port + 1})
		u, uerr := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port})
		_ = l.Close()
		if err == nil {
			_ = next.Close()
		}
		if uerr == nil {
			_ = u.Close()
		}
		if err == nil && uerr == nil {
			return at.String()
		}
	}
	t.Fatal("no two free ports beside each other")
	return ""
}

// once checks that the archives together have each page of the web once.
func (w *web) once(t *testing.T, dirs ...string) {
	t.Helper()
	times := map[string]int{}
	for _, dir := range dirs {
		err := invitro.Captures(vfs.Disk(), dir+"/warc", func(c simweb.Capture) {
			if c.Status == 200 && !strings.HasSuffix(c.URL, "/robots.txt") {
				times[c.URL]++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for url, n := range times {
		if n != 1 {
			t.Errorf("%s is there %d times", url, n)
		}
	}
	if int64(len(times)) != w.pages {
		t.Errorf("%d pages, the web has %d", len(times), w.pages)
	}
}

// Two processes on one machine share a web: each page is fetched once, by one of them, and both end by themselves.
func TestTwoAgentsShareAWeb(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	ports := []string{gossipPort(t), gossipPort(t)}
	one, other := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	args := func(dir, name, at string) []string {
		return w.crawl(dir, 50*time.Millisecond, "--agent", name, "--agent-plain", "--gossip", at, "--join", ports[0], "--agents", "2")
	}
	first, said1 := child(t, args(one, "a1", ports[0])...)
	second, said2 := child(t, args(other, "a2", ports[1])...)
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
	if err := second.Wait(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Fatalf("a1:\n%s\na2:\n%s", said1, said2)
	}
	w.once(t, one, other)
	for _, dir := range []string{one, other} {
		balanced(t, report(t, dir))
	}
	if os.Getenv("TELL") != "" {
		t.Log(said1, said2)
	}
}
