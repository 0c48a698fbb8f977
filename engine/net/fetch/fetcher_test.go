package fetch

import (
	"context"
	"crypto/sha1"
	"io"
	"net"
	"net/netip"
	"testing"

	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
)

// scriptDialer answers every connection with a script that plays the server.
type scriptDialer func(conn net.Conn)

func (s scriptDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() {
		s(theirs)
		_ = theirs.Close()
	}()
	return ours, nil
}

// readRequest reads up to the empty line.
func readRequest(conn net.Conn) string {
	var request []byte
	one := make([]byte, 1)
	for {
		if _, err := conn.Read(one); err != nil {
			return string(request)
		}
		request = append(request, one[0])
		if n := len(request); n >= 4 && string(request[n-4:]) == "\r\n\r\n" {
			return string(request)
		}
	}
}

// answer returns a server that reads the request and sends response in pieces of n bytes, or at once if n is 0.
func answer(response string, n int) scriptDialer {
	return func(conn net.Conn) {
		readRequest(conn)
		for rest := response; len(rest) > 0; {
			m := len(rest)
			if n > 0 {
				m = min(n, m)
			}
			if _, err := io.WriteString(conn, rest[:m]); err != nil {
				return
			}
			rest = rest[m:]
		}
	}
}

func testOptions() Options { return Options{UserAgent: "orbweaver/test (+mailto:t@example.org)"} }

func testTarget() *Target {
	return &Target{
		URL: []byte("http://a.example/x?y=1"), Host: []byte("a.example"),
		Addr: netip.MustParseAddrPort("192.0.2.1:80"),
	}
}

// fetchOnce fetches the test target through d and hands the page to check before it goes home.
func fetchOnce(t *testing.T, o Options, d Dialer, target *Target, check func(*Page)) {
	t.Helper()
	pool := NewPool(PoolOptions{Pages: 1, Mids: 1, Slabs: 1, SlabBytes: o.BufferMax()})
	defer pool.Close()
	f := NewFetcher(o, d, pool)
	defer f.Close()
	p := pool.TryGet()
	defer pool.Put(p)
	if got := f.Fetch(t.Context(), target, p); got != p.Outcome {
		t.Errorf("Fetch says %v, the page %v", got, p.Outcome)
	}
	p.Sum(sha1pair.NewHasher())
	check(p)
}

func TestFetchPlain(t *testing.T) {
	const response = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello"
	fetchOnce(t, testOptions(), answer(response, 0), testTarget(), func(p *Page) {
		if p.Outcome != outcome.OK || p.Status != 200 || !p.Complete || string(p.Raw) != response {
			t.Errorf("got %v %d %v %q %s", p.Outcome, p.Status, p.Complete, p.Raw, p.Err)
		}
		if string(p.Payload()) != "hello" || p.Digest != sha1.Sum([]byte("hello")) {
			t.Errorf("payload %q, digest %x", p.Payload(), p.Digest)
		}
		want := "GET /x?y=1 HTTP/1.1\r\nHost: a.example\r\nUser-Agent: orbweaver/test (+mailto:t@example.org)\r\n" +
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
			"Accept-Encoding: gzip\r\nConnection: close\r\n\r\n"
		if string(p.Request) != want {
			t.Errorf("request %q", p.Request)
		}
	})
}
