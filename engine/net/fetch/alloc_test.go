package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/invariants"
	"orbweaver/internal/outcome"
)

// memConn is a connection whose peer has already sent everything.
type memConn struct {
	net.Conn
	response []byte
	at       int
}

func (c *memConn) Read(b []byte) (int, error) {
	if c.at == len(c.response) {
		return 0, io.EOF
	}
	n := copy(b, c.response[c.at:])
	c.at += n
	return n, nil
}

func (c *memConn) Write(b []byte) (int, error)                                   { return len(b), nil }
func (c *memConn) Close() error                                                  { c.at = 0; return nil }
func (c *memConn) SetDeadline(time.Time) error                                   { return nil }
func (c *memConn) DialAddr(context.Context, netip.AddrPort) (net.Conn, error)    { return c, nil }
func (c *memConn) DialContext(context.Context, string, string) (net.Conn, error) { return c, nil }

// An exchange allocates only what its connection costs.
func TestFetchDoesNotAllocate(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	for _, framing := range []string{"close", "length", "chunked"} {
		conn := &memConn{response: []byte(framed(framing, string(html(16<<10))))}
		pool := NewPool(PoolOptions{Pages: 1})
		f := NewFetcher(testOptions(), conn, pool)
		target := testTarget()
		ctx := t.Context()
		n := testing.AllocsPerRun(100, func() {
			p := pool.TryGet()
			if f.Fetch(ctx, target, p) != outcome.OK || len(p.Payload()) != 16<<10 || p.Head().ContentType() != nil {
				t.Fatal(p.Outcome, p.Err)
			}
			pool.Put(p)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", framing, n)
		}
		f.Close()
		pool.Close()
	}
}

// benchResponse returns a whole response with a body of n bytes that looks like text.
func benchResponse(n int) []byte {
	body := bytes.Repeat([]byte("<p>one line of text, <a href=/x>and a link</a></p>\n"), n/51+1)[:n]
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nServer: bench/1.0\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"+
		"Content-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n"+
		"ETag: \"abc\"\r\nVary: Accept-Encoding\r\nX-Powered-By: hand\r\nConnection: close\r\n\r\n%s", n, body)
}

// BenchmarkParts is what the parts of an exchange cost without a socket: a page of 16 KiB from memory.
func BenchmarkParts(b *testing.B) {
	for _, framing := range []string{"length", "chunked"} {
		b.Run("exchange/"+framing, func(b *testing.B) {
			conn := &memConn{response: []byte(framed(framing, string(html(16<<10))))}
			pool := NewPool(PoolOptions{Pages: 1})
			f := NewFetcher(testOptions(), conn, pool)
			target := testTarget()
			ctx := b.Context()
			b.ReportAllocs()
			b.SetBytes(16 << 10)
			for b.Loop() {
				p := pool.TryGet()
				f.Fetch(ctx, target, p)
				pool.Put(p)
			}
		})
	}
	head := benchResponse(0)
	b.Run("head", func(b *testing.B) {
		var c codecs
		b.ReportAllocs()
		for b.Loop() {
			c.parseHead(head)
		}
	})
	b.Run("head/fields", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Head(head).Value("last")
		}
	})
	b.Run("head/lenient", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			parseLenient(head)
		}
	})
}

// html returns n bytes of a page.
func html(n int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<p>line %d of text %x</p>\n", b.Len(), rng.Uint32())
	}
	return b.Bytes()[:n]
}
