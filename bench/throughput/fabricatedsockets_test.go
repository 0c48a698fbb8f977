package throughput

import (
	"bytes"
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// Over a real socket the same URL has a large page with one new link.
func TestSockets(t *testing.T) {
	w := &web{hosts: 1000, seed: 7}
	w.makeText()
	var pages atomic.Int64
	s, err := openSockets(t.Context(), w, func() { pages.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	get := func(url []byte) []byte {
		conn, err := s.dialer.DialAddr(t.Context(), s.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(append(append([]byte("GET "), url...), " HTTP/1.1\r\nHost: x\r\n\r\n"...)); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(conn)
		if err != nil || conn.Close() != nil {
			t.Fatal(err)
		}
		return b
	}
	page := get(w.appendURL(nil, 77))
	if !bytes.HasPrefix(page, []byte("HTTP/1.1 200 OK")) || len(page) < wholeText ||
		!bytes.Contains(page, w.appendURL(nil, 771)) ||
		bytes.Contains(page, w.appendURL(nil, 772)) || bytes.Count(page, []byte("<a href")) != children+known {
		t.Errorf("%d bytes: %.300s", len(page), page)
	}
	if robots := get([]byte("http://h1.frontier.test/robots.txt")); !bytes.HasPrefix(robots, []byte("HTTP/1.1 404")) {
		t.Errorf("%s", robots)
	}
	if err := s.close(); err != nil || pages.Load() != 1 {
		t.Errorf("%d pages, %v", pages.Load(), err)
	}
}

// The pauses have the mean that was set. A URL has the same pause each time.
func TestThink(t *testing.T) {
	w := &web{hosts: 1000, seed: 7}
	const n, mean = 20_000, 50 * time.Millisecond
	sum := time.Duration(0)
	for i := range uint64(n) {
		url := w.appendURL(nil, i)
		d := w.think(url, mean)
		if d < 0 || d > thinkMost*mean || d != w.think(url, mean) {
			t.Fatalf("%v for %s", d, url)
		}
		sum += d
	}
	if got := sum / n; got < 48*time.Millisecond || got > 52*time.Millisecond {
		t.Errorf("mean %v", got)
	}
	if w.think(nil, 0) != 0 {
		t.Error("a pause without a mean")
	}
}

// If each page draws a host of its own, there are nearly as many hosts as pages.
func TestAlone(t *testing.T) {
	w := &web{hosts: 1 << 40, seed: 7, alone: true}
	hosts := map[uint64]bool{}
	for n := range uint64(1000) {
		hosts[w.host(n)] = true
	}
	if len(hosts) != 1000 {
		t.Errorf("1000 pages on %d hosts of a million millions", len(hosts))
	}
}
