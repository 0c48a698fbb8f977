package origin

import (
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
)

// serveGuest has a guest answer.
func (s *session) serveGuest(g simweb.Guest, q *request, https bool, authority, path string, head []byte) {
	scheme := "http://"
	if https {
		scheme = "https://"
	}
	s.log = arrivals.Entry{
		Start: s.start, Conn: s.id, Target: simweb.Target{Host: -1, Kind: simweb.KindGuest},
		URL: scheme + authority + path, Agent: q.agent,
	}
	result := g.Serve(s.conn, simweb.GuestRequest{
		TLS: https, Before: s.guests, Authority: authority, Path: path, Head: head, Rest: s.b.in[len(head):s.n],
	})
	s.guests++
	s.closing = s.closing || !result.Keep
	s.log.Status = result.Status
	if result.Cut {
		s.log.Flags |= arrivals.FlagCut
	}
	s.finish(nil, true)
}
