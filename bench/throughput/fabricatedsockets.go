package throughput

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"orbweaver/engine/net/fetch"
)

// sockets serves the fabricated web over loopback, in this process, with pages as large as those of a crawl. Most of
// their links were found before. This measures a page over sockets while the frontier knows many URLs.
type sockets struct {
	web    *web
	dialer fetch.AddrDialer
	addr   netip.AddrPort
	listen net.Listener
	onPage func() // called for each page requested, not for robots.txt
	conns  sync.WaitGroup
}

const (
	socketsIdle = 10 * time.Second // a connection without a request is closed after this long
	requestMost = 4 << 10          // bytes of the longest request
)

// openSockets listens. The caller calls close.
func openSockets(ctx context.Context, w *web, onPage func()) (*sockets, error) {
	dialer, ok := fetch.LoopbackOnly().(fetch.AddrDialer)
	if !ok {
		return nil, errors.New("throughput: the dialer accepts no addresses")
	}
	lc := net.ListenConfig{KeepAlive: -1}
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("throughput: %w", err)
	}
	s := &sockets{web: w, dialer: dialer, listen: listener, onPage: onPage,
		addr: listener.Addr().(*net.TCPAddr).AddrPort()}
	s.conns.Go(s.accept)
	return s, nil
}

func (s *sockets) accept() {
	for {
		conn, err := s.listen.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			s.conns.Go(func() { s.serve(conn) })
		}
	}
}

// serve responds to one request.
func (s *sockets) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the client sees what was sent
	_ = conn.SetDeadline(time.Now().Add(socketsIdle))
	request := make([]byte, 0, requestMost)
	for !bytes.HasSuffix(request, []byte("\r\n\r\n")) {
		n, err := conn.Read(request[len(request):cap(request)])
		request = request[:len(request)+n]
		if err != nil || len(request) == cap(request) {
			return
		}
	}
	url, robots := requestedURL(request)
	if !robots {
		s.onPage()
	}
	_, _ = conn.Write(s.web.appendWholeResponse(nil, url))
}

// close stops listening and waits for all connections.
func (s *sockets) close() error {
	err := s.listen.Close()
	s.conns.Wait()
	return err
}

// requestedURL is the URL of a request, and whether it is a robots.txt.
func requestedURL(request []byte) (url []byte, robots bool) {
	first, _, _ := bytes.Cut(request, []byte("\r\n"))
	_, rest, _ := bytes.Cut(first, []byte(" "))
	url, _, _ = bytes.Cut(rest, []byte(" "))
	return url, bytes.HasSuffix(url, []byte("/robots.txt"))
}
