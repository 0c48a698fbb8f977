package simweb

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// A guest serves sites that are not drawn from the seed of the web: hostile servers (bench/hostile) and traps
// (bench/traps), real sites (bench/completeness).
//
// It has its connections raw, so it may break any rule of HTTP. The web has the server, the log, the name server
// and the addresses. What a guest's pages are in truth is known to the guest alone; the web judges how politely they
// were asked for.
//
//	request -> origin.Web.Serve -> Guests.Find -> Guest.Serve -> Result -> arrivals.Log
//	name    -> origin.Web.AddrOf -> Guests.Find -> Guest.Host, or the formula of the world

// Guest serves hosts of its own beside those of the world. It is safe for concurrent use.
type Guest interface {
	// Host reports whether a host, in lower case and without port, is the guest's, and where it is. It must be no host
	// of the world. The zero address stands for the one that the world would give a host of its own.
	Host(name string) (address netip.Addr, ok bool)
	// Serve answers one request whose head was read. It may write anything, read on, and wait.
	Serve(conn net.Conn, r GuestRequest) GuestResult
}

// GuestRequest is one request for a guest. Its Head is lent until Serve returns.
type GuestRequest struct {
	TLS       bool
	Before    int    // requests for guests that came over the same connection
	Authority string // lower case, with the port if one is named
	Path      string // with the query
	Head      []byte // request line and fields, to the empty line and with it
	Rest      []byte // what the client sent after it already
}

// GuestResult is what a guest did for a request.
type GuestResult struct {
	Status int  // 0 if it sent nothing that has a status
	Keep   bool // the connection stays open for a further request
	Cut    bool // the client closed before the guest had finished
}

// Guests is the guests of a world.
type Guests []Guest

// Find returns the guest that an authority belongs to, and the address of the host; the zero address stands for the
// one that the world would give it.
func (l Guests) Find(authority string) (g Guest, address netip.Addr, ok bool) {
	if len(l) == 0 {
		return nil, netip.Addr{}, false
	}
	name := strings.ToLower(authority)
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		name = name[:at]
	}
	for _, g := range l {
		if address, ok := g.Host(name); ok {
			return g, address, true
		}
	}
	return nil, netip.Addr{}, false
}

// Has reports whether an authority belongs to a guest.
func (l Guests) Has(authority string) bool {
	_, _, ok := l.Find(authority)
	return ok
}

// GuestReply is a complete answer of a guest that breaks no rule.
type GuestReply struct {
	Status int
	Type   string // Content-Type
	Fields string // further header lines, each with its line end
	Body   []byte
	Pause  time.Duration // between head and body
}

// Send writes the reply, after which the connection is closed.
func (r *GuestReply) Send(conn net.Conn) GuestResult {
	const form = "HTTP/1.1 %d Answer\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
	_, err := fmt.Fprintf(conn, form, r.Status, r.Type, len(r.Body), r.Fields)
	if r.Pause > 0 && err == nil {
		<-time.After(r.Pause)
	}
	if len(r.Body) > 0 && err == nil {
		_, err = conn.Write(r.Body)
	}
	return GuestResult{Status: r.Status, Cut: err != nil}
}
