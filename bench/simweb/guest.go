package simweb

import (
	"net"
	"net/netip"
	"strings"
)

// Guest serves hosts of its own beside those of the world, over the same addresses: the world passes their requests on
// and keeps the log, and of what they answer it knows nothing. It is safe for concurrent use.
type Guest interface {
	// Has says that a host, in lower case and without port, is the guest's. It must be none of the world's.
	Has(host string) bool
	// Serve answers one request of which the head was read. It may write what it likes, read on, and wait; when it
	// returns, conn is closed unless keep. Status is what it answered, 0 for nothing that could be called so; cut says
	// that the client had gone before the guest was done.
	Serve(conn net.Conn, ask Ask) (status int, keep, cut bool)
}

// Ask is one request for a guest. Its Head is lent until Serve returns.
type Ask struct {
	TLS       bool
	Before    int    // requests for guests that came over the same connection
	Authority string // lower case, with the port if one is named
	Path      string // with the query
	Head      []byte // request line and fields, to the empty line and with it
	Rest      []byte // what the client sent after it already
}

// Invite adds a guest to the world, before anything is served. There is one at most.
func (w *World) Invite(g Guest) { w.guest = g }

// guestHas says that an authority names a host of the guest.
func (w *World) guestHas(authority string) bool {
	name, _, ok := splitPort(authority)
	return ok && w.guest != nil && w.guest.Has(strings.ToLower(name))
}

// invited has the guest answer.
func (s *session) invited(q *request, https bool, authority, path string, head []byte) {
	scheme := "http://"
	if https {
		scheme = "https://"
	}
	s.log = arrival{start: s.start, conn: s.id, t: target{host: -1, kind: kindGuest}, url: scheme + authority + path, agent: q.agent}
	status, keep, cut := s.w.guest.Serve(s.conn, Ask{TLS: https, Before: s.asked, Authority: authority, Path: path, Head: head, Rest: s.b.in[len(head):s.n]})
	s.asked++
	s.over = s.over || !keep
	s.log.status = status
	if cut {
		s.log.flags |= flagCut
	}
	s.finish(nil, true)
}

// guestSite is a site of a guest.
type guestSite struct {
	https     bool
	authority string
}

// guest judges a request for a host of the guest: it is to be as polite as any, and all else is the guest's business. A
// guest ends when it has seen that the client has what it wants, which is a little late: slack is granted.
func (j *judge) guest(r *record) {
	https, authority, _, ok := split(j.log.url(r.t))
	if !ok {
		return
	}
	site := guestSite{https, authority}
	s := j.guests[site]
	if s == nil {
		name, _, _ := splitPort(authority)
		s = &siteState{addr: number32(j.w.addrOf(name))}
		j.guests[site] = s
	}
	late := *r
	late.flags |= flagCut
	j.gaps(&late, s, j.p.HostDelay)
}

// number32 is an IPv4 address as a number.
func number32(addr netip.Addr) uint32 {
	a := addr.As4()
	return uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
}
