package membership

import (
	"errors"
	"io"
	"net"
	"testing"

	"orbweaver/engine/peering"
)

// connFrom is a connection with a chosen remote address.
type connFrom struct {
	net.Conn
	from net.Addr
}

func (c connFrom) RemoteAddr() net.Addr { return c.from }

// Memberlist itself would accept any number of streams, and would read 20 MiB of each before it checks the key.
func TestHostilePeer_P6_incomingStreamsAreBounded(t *testing.T) {
	limits := peering.SourceLimit{Max: maxStreams, PerSource: maxStreamsOfSource}
	connect := func(ip string, port int) net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		go func() {
			_, _ = io.Copy(theirs, zeros{}) // until it is closed
		}()
		return connFrom{ours, &net.TCPAddr{IP: net.ParseIP(ip), Port: port}}
	}
	var admitted []net.Conn
	for i := range 2 * maxStreamsOfSource {
		conn, ok := admit(&limits, connect("2001:db8::"+string(rune('a'+i%6)), i+1))
		if ok != (i < maxStreamsOfSource) {
			t.Fatalf("stream %d from one network: admitted %v", i, ok)
		}
		if ok {
			admitted = append(admitted, conn)
		}
	}
	n, err := io.Copy(io.Discard, admitted[0])
	if n != maxStreamBytes || !errors.Is(err, errStreamTooLong) {
		t.Errorf("read %d bytes, %v; want %d bytes", n, err, maxStreamBytes)
	}
	other, ok := admit(&limits, connect("203.0.113.1", 1))
	if !ok {
		t.Fatal("a stream from another source is refused")
	}
	for _, conn := range append(admitted, other, other) { // the second Close of a stream changes nothing
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := limits.Count(); n != 0 {
		t.Errorf("%d streams are counted after all are closed", n)
	}
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
