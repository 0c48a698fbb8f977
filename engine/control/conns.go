package control

import (
	"net"
	"sync"
)

// limitConns gives a listener that waits with the next connection while there are so many.
func limitConns(l net.Listener, most int) net.Listener {
	return &fewConns{Listener: l, places: make(chan struct{}, most), closed: make(chan struct{})}
}

type fewConns struct {
	net.Listener
	places chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a place first.
func (l *fewConns) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &placed{Conn: conn, leave: func() { <-l.places }}, nil
}

// Close also ends an Accept that waits for a place.
func (l *fewConns) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// placed gives its place back when it is closed.
type placed struct {
	net.Conn
	once  sync.Once
	leave func()
}

// Close may be called again.
func (c *placed) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.leave)
	return err
}
