package transport

import (
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"
)

// A machine that is lost answers nothing: the kernel ends the connection, not the keep-alive of gRPC.
func TestDial_aLostMachineIsNoticedByTheKernel(t *testing.T) {
	l, err := tcp{}.Listen(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // of a test
	conn, err := tcp{}.Dial(t.Context(), netip.MustParseAddrPort(l.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // of a test
	limited, ok := conn.(watchedConn)
	if !ok {
		t.Fatalf("%T", conn)
	}
	file, err := limited.Conn.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // of a test
	ms, err := syscall.GetsockoptInt(int(file.Fd()), syscall.IPPROTO_TCP, tcpUserTimeout)
	if limit := time.Duration(ms) * time.Millisecond; err != nil || limit != lostAfter {
		t.Errorf("got %v, want %v: %v", limit, lostAfter, err)
	}
}
