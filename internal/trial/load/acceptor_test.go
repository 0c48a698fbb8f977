package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
)

// client is a connection to a server's proxy, used by hand.
type client struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func dial(t *testing.T, s *Server) *client {
	t.Helper()
	conn, err := net.Dial("tcp", s.ProxyAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &client{Conn: conn, t: t, in: bufio.NewReader(conn)}
}

func request(u string) string {
	return "GET " + u + " HTTP/1.1\r\nHost: x\r\nUser-Agent: test (+x)\r\n\r\n"
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// want reads an answer and compares it with the world.
func (c *client) want(w *origin.Web, u string) {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatalf("%s: %v", u, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	want, _ := w.Payload(u, false)
	if err != nil || !bytes.Equal(body, want) {
		c.t.Fatalf("%s: %d bytes of %d, %v", u, len(body), len(want), err)
	}
}

// A client with half a request blocks no other client, and gets its page after the rest of the request.
func TestWhoWaitsKeepsNobodyOut(t *testing.T) {
	w, s := start(t, simweb.Plain(), Options{Proxy: "127.0.0.1:0"})
	var slow []*client
	for i := range 5 {
		c := dial(t, s)
		c.send(request(w.Root(i))[:20])
		slow = append(slow, c)
		quick := dial(t, s)
		quick.send(request(w.Root(100 + i)))
		quick.want(w, w.Root(100+i))
	}
	for i, c := range slow {
		c.send(request(w.Root(i))[20:])
		c.want(w, w.Root(i))
	}
	if n := s.Stats().Open; n != 10 {
		t.Errorf("%d connections open, of 10 that nobody has closed", n)
	}
}

// One connection takes request after request, and several at once.
func TestConnectionIsKept(t *testing.T) {
	w, s := start(t, simweb.Plain(), Options{Proxy: "127.0.0.1:0"})
	for _, at := range []int{1, 2, 3} {
		c := dial(t, s)
		for i := 0; i < 12; i += at {
			for k := range at {
				c.send(request(w.Root(i + k)))
			}
			for k := range at {
				c.want(w, w.Root(i+k))
			}
		}
	}
	if err := s.Close(); err != nil { // an answer is counted when it has been written
		t.Error(err)
	}
	if st := s.Stats(); st.Conns != 3 || st.Requests != 36 {
		t.Errorf("%+v", st)
	}
}

// faulty is a world where pages without tree links have faults, and its URLs.
func faulty(t *testing.T, f simweb.Faults) (w *origin.Web, s *Server, urls iter.Seq2[string, judge.Class]) {
	t.Helper()
	c := simweb.Plain()
	c.Hosts, c.Faults, c.OtherShare = 20, f, 0
	c.Timing.HugeBytes = hugeBytes
	w, s = start(t, c, Options{Proxy: "127.0.0.1:0"})
	return w, s, w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All()
}

// hugeBytes is more than the buffers of both ends take.
const hugeBytes = 24 << 20

// late asks for a huge page and reads its first byte.
func late(t *testing.T, w *origin.Web, s *Server, urls iter.Seq2[string, judge.Class]) (c *client, u string) {
	t.Helper()
	for u := range urls {
		if body, _ := w.Payload(u, false); len(body) < hugeBytes {
			continue
		}
		c := dial(t, s)
		c.send(request(u))
		if _, err := c.in.Peek(1); err != nil {
			t.Fatal(err)
		}
		return c, u
	}
	t.Fatal("no page is huge")
	return nil, ""
}

// A page that does not fit the buffers waits for a slow client, blocks no other client, and is complete.
func TestHugePageWaits(t *testing.T) {
	w, s, urls := faulty(t, simweb.Faults{Variants: simweb.Variants{Huge: 1}})
	patient, u := late(t, w, s, urls)
	c := dial(t, s)
	c.send(request(w.Root(0)))
	c.want(w, w.Root(0))
	patient.want(w, u)
}

// Close ends an answer that waits for its reader.
func TestL2_CloseEndsWrite(t *testing.T) {
	w, s, urls := faulty(t, simweb.Faults{Variants: simweb.Variants{Huge: 1}})
	patient, _ := late(t, w, s, urls)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	n, err := io.Copy(io.Discard, patient.in)
	if n >= hugeBytes || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A page that is reset half-way has a first half.
func TestResetMidHasBeginning(t *testing.T) {
	_, s, urls := faulty(t, simweb.Faults{Failures: simweb.Failures{ResetMid: 1}})
	resets := 0
	for u := range urls {
		c := dial(t, s)
		c.send(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", u))
		n, err := io.Copy(io.Discard, c)
		if errors.Is(err, syscall.ECONNRESET) {
			resets++
		}
		if n == 0 {
			t.Errorf("%s: nothing, %v", u, err)
		}
	}
	if resets == 0 {
		t.Error("nothing is reset")
	}
}

// A client without a request is accepted, and disconnected later.
func TestSilentClient(t *testing.T) {
	c := simweb.Plain()
	c.Timing.Idle = time.Millisecond
	_, s := start(t, c, Options{Proxy: "127.0.0.1:0"})
	if b, err := io.ReadAll(dial(t, s)); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
	if n := s.Stats().Conns; n != 1 {
		t.Errorf("%d connections", n)
	}
}
