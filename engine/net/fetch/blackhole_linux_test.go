package fetch

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orbweaver/internal/outcome"
)

// blackHole returns a loopback address where connections are neither accepted nor refused: its queue is full.
func blackHole(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, 0)
	}
	name, err2 := unix.Getsockname(fd)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(name.(*unix.SockaddrInet4).Port))
	for range 10 {
		conn, err := net.DialTimeout("tcp", addr.String(), 100*time.Millisecond)
		if err != nil {
			return addr
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	// A kernel that is not Linux itself (gVisor) takes more connections than a queue has places. The same in virtual
	// time, on any system, is in faults_test.go.
	t.Skip("the queue of a listener does not fill up here")
	return addr
}

// The deadline of the dial and the end of the context work on real sockets too, for connections of socketConn and of
// package net.
func TestHostile_N01_aBlackHoleOnARealSocket(t *testing.T) {
	addr := blackHole(t)
	o := testOptions()
	o.DialTimeout = 150 * time.Millisecond
	byNet := newNetDialer(LoopbackOnly().(*netDialer).check)
	byNet.connect = connectNet
	for _, d := range []Dialer{LoopbackOnly(), byNet} {
		fetchOnce(t, o, d, targetAt(addr), func(p *Page) {
			if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != outcome.ConnectTimeout || took < 100*time.Millisecond ||
				took > 2*time.Second {
				t.Errorf("%v after %v: %s", p.Outcome, took, p.Err)
			}
		})
		pool := NewPool(PoolOptions{Pages: 1})
		f := NewFetcher(testOptions(), d, pool)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		p := pool.TryGet()
		if got, took := f.Fetch(ctx, targetAt(addr), p), p.Times.Ended.Sub(p.Times.Started); got != outcome.Cancelled ||
			took > 2*time.Second {
			t.Errorf("%v after %v", got, took)
		}
		cancel()
		pool.Put(p)
		pool.Close()
	}
}
