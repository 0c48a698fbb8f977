package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// descriptors counts the open files of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal("no list of open files: ", err)
	}
	return len(files)
}

// A socketConn behaves like a connection of package net: both ends have the same addresses, and deadlines expire and
// can be moved.
func TestSocketConn(t *testing.T) {
	seen := make(chan net.Addr, 1)
	addr := serve(t, func(conn *net.TCPConn) {
		seen <- conn.RemoteAddr()
		_, _ = io.Copy(conn, conn)
	})
	mapped := netip.AddrPortFrom(netip.AddrFrom16(addr.Addr().As16()), addr.Port())
	for _, to := range []netip.AddrPort{addr, mapped} {
		conn, err := connectSocket(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		if got := <-seen; conn.LocalAddr().String() != got.String() ||
			conn.RemoteAddr().String() != net.TCPAddrFromAddrPort(to).String() {
			t.Errorf("we are %v and %v, the server sees %v", conn.LocalAddr(), conn.RemoteAddr(), got)
		}
		b := make([]byte, 9)
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err = conn.Read(b)
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || err != timeout {
			t.Errorf("a deadline passed: %v", err)
		}
		_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
		if _, err = conn.Write([]byte("hello")); err != nil {
			t.Error(err)
		}
		if n, err := conn.Read(b); string(b[:n]) != "hello" || err != nil {
			t.Errorf("%q, %v", b[:n], err)
		}
		if err = conn.Close(); err != nil {
			t.Error(err)
		}
		if _, err = conn.Read(b); !errors.Is(err, os.ErrClosed) {
			t.Errorf("reading what is closed: %v", err)
		}
	}
}

func TestSocketConn6(t *testing.T) {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	defer func() { _ = listener.Close() }()
	conn, err := connectSocket(t.Context(), listener.Addr().(*net.TCPAddr).AddrPort())
	if err != nil {
		t.Fatal(err)
	}
	if conn.RemoteAddr().String() != listener.Addr().String() {
		t.Error(conn.RemoteAddr())
	}
	_ = conn.Close()
}

// Whatever becomes of an attempt, no descriptor is left behind.
func TestSocketLeaksNothing(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().(*net.TCPAddr).AddrPort()
	_ = listener.Close()
	hole := blackHole(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	before := descriptors(t)
	for range 20 {
		if _, err := connectSocket(t.Context(), nobody); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("nobody listens: %v", err)
		}
		if _, err := connectSocket(ended, hole); !errors.Is(err, context.Canceled) {
			t.Errorf("the context has ended: %v", err)
		}
		soon, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		if _, err := connectSocket(soon, hole); !isTimeout(err) {
			t.Errorf("a deadline passed: %v", err)
		}
		cancel()
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// A connection that met itself is noticed: the bytes sent would come back as the answer.
func TestSocketToItself(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "tcp")
	defer func() { _ = file.Close() }()
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	c := &socketConn{file: file, remote: localAddr(fd)}
	if c.raw, err = file.SyscallConn(); err != nil {
		t.Fatal(err)
	}
	_, name := sockaddr(c.remote)
	if err = unix.Connect(fd, name); err != nil && err != unix.EINPROGRESS {
		t.Fatal(err)
	}
	if !c.toItself(fd) {
		t.Errorf("%v to %v", c.LocalAddr(), c.RemoteAddr())
	}
}

// The local port is the system's to pick when it connects: one that is bound before is taken from all other
// connections, wherever they lead, and there are 28 thousand. So another connection must get the same port for another
// server.
func TestSocketIsNotBound(t *testing.T) {
	hold := func(conn *net.TCPConn) { _, _ = io.Copy(io.Discard, conn) }
	first, second := serve(t, hold), serve(t, hold)
	for name, connect := range map[string]func(context.Context, netip.AddrPort) (net.Conn, error){
		"by hand": connectSocket, "by package net": connectNet,
	} {
		conn, err := connect(t.Context(), first)
		if err != nil {
			t.Fatal(err)
		}
		port := conn.LocalAddr().(*net.TCPAddr).Port
		if err = connectFrom(port, second); errors.Is(err, unix.ENOPROTOOPT) {
			t.Skip("this system cannot narrow the range of ports")
		} else if err != nil {
			t.Errorf("%s: port %d to another server: %v", name, port, err)
		}
		_ = conn.Close()
	}
}

// connectFrom connects to addr where port is the only one that the system may pick, and closes.
func connectFrom(port int, addr netip.AddrPort) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, port<<16|port); err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Addr: addr.Addr().As4(), Port: int(addr.Port())})
}

func TestSocketNoDelay(t *testing.T) {
	addr := serve(t, func(conn *net.TCPConn) { _, _ = io.Copy(io.Discard, conn) })
	conn, err := openSocket(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if err := conn.SetNoDelay(want); err != nil {
			t.Fatal(err)
		}
		_ = conn.raw.Control(func(fd uintptr) { // it is open
			if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil ||
				(got != 0) != want {
				t.Errorf("%d, %v, want %v", got, err, want)
			}
		})
	}
	_ = conn.Close()
	if err := conn.SetNoDelay(true); err == nil {
		t.Error("a closed connection can be told")
	}
}
