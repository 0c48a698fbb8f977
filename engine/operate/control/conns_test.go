package control

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A client without a token takes all connections, half of them with the beginning of a request. The operator is
// answered at once: one idle connection is closed for him, the oldest, and all others are still served.
func TestHostile_A03_idleConnectionsDoNotBlockTheControlPort(t *testing.T) {
	s := on(t, new(fake))
	idle := make([]net.Conn, connsMax)
	for i := range idle {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHo"); err != nil {
				t.Fatal(err)
			}
		}
		idle[i] = c
	}
	if status, _, _ := send(t, s, "GET", "/status", nil, bearing(secret)); status != http.StatusOK {
		t.Errorf("the operator is answered %d", status)
	}
	served := 0
	for i, c := range idle {
		rest := "GET /healthz HTTP/1.1\r\nHo"
		if i%2 == 0 {
			rest = ""
		}
		_, werr := fmt.Fprintf(c, "%sst: localhost\r\nConnection: close\r\n\r\n", rest)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if werr == nil && err == nil && resp.StatusCode == http.StatusOK {
			served++
		} else if i > 0 {
			t.Errorf("idle connection %d was closed: %v", i, errors.Join(werr, err))
		}
	}
	if served != connsMax-1 {
		t.Errorf("%d of %d idle connections are served after that, want all except one", served, connsMax)
	}
}

// from is a connection of a client that sends nothing.
type from struct {
	net.Conn
	client string
	closed bool
}

func (c *from) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", c.client)
	return a
}

func (c *from) Close() error { c.closed = true; return nil }

// knocks is a listener whose connections come when the test says so.
type knocks chan net.Conn

func (k knocks) Accept() (net.Conn, error) { return <-k, nil }
func (knocks) Close() error                { return nil }
func (knocks) Addr() net.Addr              { return nil }

// The place is taken from the client that has most; a client with IPv6 is its /64. A connection with an authorised
// request keeps its place, and so long as all have one, a new connection waits.
func TestL2_placesAreTakenFromTheClientThatHasMost(t *testing.T) {
	synctest.Test(t, testPlaces)
}

func testPlaces(t *testing.T) {
	in := make(knocks, 1)
	l := limitConns(in, 4, slog.New(slog.DiscardHandler))
	accept := func(client string) *placed {
		in <- &from{client: client}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c.(*placed)
	}
	open := func(p *placed) bool { return !p.Conn.(*from).closed }
	operator := accept("192.0.2.1:1")
	busy := accept("[2001:db8::1]:1")
	l.mark(busy, true)
	flood := []*placed{accept("[2001:db8::2]:1"), accept("[2001:db8::ffff]:2")}
	for i := range 100 {
		flood = append(flood, accept(fmt.Sprintf("[2001:db8::%x]:3", i+3)))
	}
	if !open(operator) || !open(busy) {
		t.Errorf("the idle connection of another client is open: %v, the busy one: %v", open(operator), open(busy))
	}
	for i, c := range flood {
		if open(c) != (i >= len(flood)-2) {
			t.Errorf("connection %d of %d of the flood is open: %v", i, len(flood), open(c))
		}
	}
	last := flood[len(flood)-2:]
	for _, c := range append([]*placed{operator}, last...) {
		l.mark(c, true)
	}
	got := make(chan *placed)
	go func() { got <- accept("192.0.2.7:1") }()
	synctest.Wait()
	select {
	case <-got:
		t.Error("a connection was accepted although all places are busy")
	default:
	}
	l.mark(busy, false) // its answer has been sent
	late := <-got
	if open(busy) || !open(late) || !open(last[0]) {
		t.Error("the place of the idle connection was not taken")
	}
	if err := errors.Join(late.Close(), late.Close()); err != nil || len(l.conns) != 3 {
		t.Error(err, len(l.conns))
	}
	for _, c := range append([]*placed{operator, busy}, last...) {
		_ = c.Close()
	}
}

// Close ends an Accept that waits for a place.
func TestL2_closeEndsTheWaitForAPlace(t *testing.T) {
	in := make(knocks, 2)
	l := limitConns(in, 1, slog.New(slog.DiscardHandler))
	in <- &from{client: "192.0.2.1:1"}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.mark(c.(*placed), true)
	waiting := &from{client: "192.0.2.2:1"}
	in <- waiting
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || !waiting.closed {
		t.Error(err, waiting.closed)
	}
	if !strings.HasPrefix(clientOf(&net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}).String(), "192.0.2.1/32") ||
		clientOf(&net.UnixAddr{}).IsValid() {
		t.Error("clients are told apart otherwise")
	}
}
