package simweb

import "orbweaver/bench/simweb/guest"

// Invite adds a guest to the world, before anything is served.
func (w *World) Invite(g guest.Guest) { w.guests = append(w.guests, g) }

// serveGuest has a guest answer.
func (s *session) serveGuest(g guest.Guest, q *request, https bool, authority, path string, head []byte) {
	scheme := "http://"
	if https {
		scheme = "https://"
	}
	s.log = arrival{start: s.start, conn: s.id, t: target{host: -1, kind: kindGuest}, url: scheme + authority + path,
		agent: q.agent}
	result := g.Serve(s.conn, guest.Request{
		TLS: https, Before: s.asked, Authority: authority, Path: path, Head: head, Rest: s.b.in[len(head):s.n],
	})
	s.asked++
	s.over = s.over || !result.Keep
	s.log.status = result.Status
	if result.Cut {
		s.log.flags |= flagCut
	}
	s.finish(nil, true)
}

// guestSite is a site of a guest.
type guestSite struct {
	https     bool
	authority string
}

// guest judges a request for a host of a guest: it must be as polite as any, and all else is the guest's business. A
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
		s = &siteState{addr: j.w.AddrOf(name)}
		j.guests[site] = s
	}
	late := *r
	late.flags |= flagCut
	j.gaps(&late, s, j.p.HostDelay)
}
