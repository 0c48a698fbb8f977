//go:build unix

package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/internal/outcome"
)

// benchServer answers every connection on loopback with response and closes it. It ends with the listener.
func benchServer(b *testing.B, response []byte) netip.AddrPort {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	for range 4 {
		go func() {
			buf := make([]byte, 4096)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				n := 0
				for !bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
					m, err := conn.Read(buf[n:])
					if err != nil {
						break
					}
					n += m
				}
				_, _ = conn.Write(response)
				_ = conn.Close()
			}
		}()
	}
	return listener.Addr().(*net.TCPAddr).AddrPort()
}

// cpu returns the CPU time this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkExchange compares a Fetcher with the bare loop of connect, write, read to the end, close, on the same server
// in the same process: the CPU of the server is in both. "bare" is what net.Conn costs.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int{1 << 10, 16 << 10, 100 << 10} {
		response := benchResponse(size)
		addr := benchServer(b, response)
		request := []byte("GET /x HTTP/1.1\r\nHost: a.example\r\nUser-Agent: orbweaver\r\nConnection: close\r\n\r\n")
		b.Run(fmt.Sprintf("bare/%dKiB", size>>10), func(b *testing.B) {
			var dialer net.Dialer
			dialer.KeepAlive = -1
			buf := make([]byte, 256<<10)
			b.ReportAllocs()
			start := cpu()
			for b.Loop() {
				conn, err := dialer.DialTCP(context.Background(), "tcp", netip.AddrPort{}, addr)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = conn.Write(request)
				for n := 0; n < len(response); {
					m, err := conn.Read(buf)
					if err == io.EOF || m == 0 {
						break
					}
					n += m
				}
				_ = conn.Close()
			}
			b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-us/op")
		})
		b.Run(fmt.Sprintf("fetch/%dKiB", size>>10), func(b *testing.B) { benchFetch(b, addr, bandwidth.Options{}) })
		b.Run(fmt.Sprintf("limited/%dKiB", size>>10), func(b *testing.B) {
			benchFetch(b, addr, bandwidth.Options{Total: 1 << 50, PerHost: 1 << 50})
		})
	}
}

// benchFetch measures a Fetcher with limits of bandwidth that are never reached.
func benchFetch(b *testing.B, addr netip.AddrPort, limits bandwidth.Options) {
	b.Helper()
	pool, o := NewPool(PoolOptions{Pages: 1}), testOptions()
	o.Bandwidth = bandwidth.New(limits)
	f := NewFetcher(o, LoopbackOnly(), pool)
	t := &Target{URL: []byte("http://a.example/x"), Host: []byte("a.example"), Addr: addr}
	t.Limit.Host = t.Host
	ctx := b.Context()
	b.ReportAllocs()
	start := cpu()
	for b.Loop() {
		p := pool.TryGet()
		if f.Fetch(ctx, t, p) != outcome.OK {
			b.Fatalf("%v: %s", p.Outcome, p.Err)
		}
		pool.Put(p)
	}
	b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-us/op")
}
