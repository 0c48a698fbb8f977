package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"orbweaver/engine/fetch"
)

// line is the same web behind real sockets, in this process: what a page costs that comes over loopback, while the frontier knows
// this many URLs. Its pages are as large as those of a crawl, and most of their links were found before.
type line struct {
	web    *web
	dialer fetch.AddrDialer
	addr   netip.AddrPort
	listen net.Listener
	asked  func() // a page, not robots.txt
	conns  sync.WaitGroup
}

const (
	lineIdle = 10 * time.Second // a connection without a request is closed after this long
	requests = 4 << 10          // bytes of the longest request
)

// openLine begins to listen. It is closed with close.
func openLine(ctx context.Context, w *web, asked func()) (*line, error) {
	dialer, ok := fetch.LoopbackOnly().(fetch.AddrDialer)
	if !ok {
		return nil, errors.New("frontier: the dialer takes no addresses")
	}
	lc := net.ListenConfig{KeepAlive: -1}
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	l := &line{web: w, dialer: dialer, listen: listener, asked: asked, addr: listener.Addr().(*net.TCPAddr).AddrPort()}
	l.conns.Go(l.accept)
	return l, nil
}

func (l *line) accept() {
	for {
		conn, err := l.listen.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			l.conns.Go(func() { l.serve(conn) })
		}
	}
}

// serve answers one request.
func (l *line) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }() // whoever asked sees what came
	_ = conn.SetDeadline(time.Now().Add(lineIdle))
	request := make([]byte, 0, requests)
	for !bytes.HasSuffix(request, []byte("\r\n\r\n")) {
		n, err := conn.Read(request[len(request):cap(request)])
		request = request[:len(request)+n]
		if err != nil || len(request) == cap(request) {
			return
		}
	}
	url, robots := asks(request)
	if !robots {
		l.asked()
	}
	_, _ = conn.Write(l.web.appendWholeResponse(nil, url))
}

// close stops listening and waits for what is being answered.
func (l *line) close() error {
	err := l.listen.Close()
	l.conns.Wait()
	return err
}

// asks is the URL of a request, and whether it is that of a robots.txt.
func asks(request []byte) (url []byte, robots bool) {
	first, _, _ := bytes.Cut(request, []byte("\r\n"))
	_, rest, _ := bytes.Cut(first, []byte(" "))
	url, _, _ = bytes.Cut(rest, []byte(" "))
	return url, bytes.HasSuffix(url, []byte("/robots.txt"))
}
