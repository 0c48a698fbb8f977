package members

import (
	"errors"
	"io"
	"net"
	"testing"
)

// far is a connection from an address.
type far struct {
	net.Conn
	from net.Addr
}

func (f far) RemoteAddr() net.Addr { return f.from }

// Of the connections of one source 32 are taken, each reads a mebibyte at most, and a place is free again when its connection is closed. All were
// taken, and 20 MiB read of each before its key was looked at.
func TestHostilePeer_P6_connectionsOfStrangersAreBounded(t *testing.T) {
	var s streams
	from := func(ip string, port int) net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		go func() {
			_, _ = io.Copy(theirs, zeros{}) // until it is closed
		}()
		return far{ours, &net.TCPAddr{IP: net.ParseIP(ip), Port: port}}
	}
	var taken []net.Conn
	for i := range 2 * streamsOfOne {
		conn, ok := s.admit(from("2001:db8::"+string(rune('a'+i%6)), i+1))
		if ok != (i < streamsOfOne) {
			t.Fatalf("connection %d of one network: %v", i, ok)
		}
		if ok {
			taken = append(taken, conn)
		}
	}
	n, err := io.Copy(io.Discard, taken[0])
	if n != streamBytes || !errors.Is(err, errStream) {
		t.Errorf("%d bytes were read: %v", n, err)
	}
	other, ok := s.admit(from("203.0.113.1", 1))
	if !ok {
		t.Fatal("there is no room for another source")
	}
	for _, conn := range append(taken, other, other) { // closing twice is closing
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if s.all != 0 || len(s.of) != 0 {
		t.Errorf("%d places are taken when all are closed", s.all)
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
