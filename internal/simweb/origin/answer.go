package origin

import (
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
)

// handle answers one request with its head.
func (s *session) handle(q *request, head []byte) {
	s.closing = !q.keep
	https, authority, path := q.address(s.o.TLS)
	if g, _, ok := s.w.guests.Find(authority); ok {
		s.serveGuest(g, q, https, authority, path, head)
		return
	}
	t, ok := s.w.Locate(https, authority, path)
	s.log, s.fields = arrivals.Entry{Start: s.start, Conn: s.id, Target: t, Agent: q.agent}, ""
	if !ok || t.Kind == simweb.KindNoHost { // only a client that does not resolve names asks for the latter
		s.log.URL = "http://" + authority + path
		if https {
			s.log.URL = "https://" + authority + path
		}
		s.log.Target = s.o.Log.TargetOf(s.log.URL)
		s.plain(404, "Not Found", "text/html", "<html><body>no such place</body></html>\n")
		return
	}
	if string(q.method) != "GET" {
		s.closing = true // to HEAD this answer has a body too many
		s.plain(405, "Method Not Allowed", "text/plain", "GET only\n")
		return
	}
	h := s.w.HostAt(int(t.Host))
	if !s.pause(h.Latency() + h.Think(t)) {
		s.closing = true
		s.finish(nil, false)
		return
	}
	switch t.Kind {
	case simweb.KindRobots:
		s.robots(&h)
	case simweb.KindRobotsOf:
		s.begin()
		s.b.out = s.w.writer.AppendRobots(s.b.out, int(t.Page))
		s.send(200, "OK", "text/plain", "")
	case simweb.KindNowhere:
		s.plain(404, "Not Found", "text/html; charset=utf-8", "<html><body><h1>Not found</h1></body></html>\n")
	case simweb.KindTrap:
		s.plain(200, "OK", "text/html; charset=utf-8", "<html><body>This was no link.</body></html>\n")
	default:
		s.page(&h, t, q)
	}
}

// robots answers for robots.txt.
func (s *session) robots(h *simweb.Host) {
	switch h.Robots {
	case simweb.RobotsNone:
		s.plain(404, "Not Found", "text/html", "<html><body>no robots.txt</body></html>\n")
	case simweb.RobotsForbidden:
		s.plain(403, "Forbidden", "text/html", "<html><body>not for you</body></html>\n")
	case simweb.RobotsError:
		s.plain(500, "Internal Server Error", "text/html", "<html><body>broken</body></html>\n")
	case simweb.RobotsUnavailable:
		s.unavailable()
	case simweb.RobotsReset:
		s.finish(nil, false)
		s.reset()
	case simweb.RobotsRedirect:
		to := simweb.Target{Host: int32(s.w.RobotsHome(h.Index)), Kind: simweb.KindRobotsOf, Page: uint32(h.Index)}
		s.begin()
		s.send(302, "Found", "text/html", "Location: "+string(s.w.AppendURL(nil, to))+"\r\n")
	default:
		s.begin()
		s.b.out = s.w.writer.AppendRobots(s.b.out, h.Index)
		ctype := "text/plain"
		if h.Robots == simweb.RobotsHTML {
			ctype = "text/html"
		}
		if h.Robots == simweb.RobotsSlow {
			s.writeHead(200, "OK", ctype, len(s.body()), "")
			s.drip(s.withHead(), s.w.config.Timing.Slow)
			return
		}
		s.send(200, "OK", ctype, "")
	}
}

// page answers for a page, a step of a redirect, or its end. The answer is packed if the client accepts that and the
// host packs.
func (s *session) page(h *simweb.Host, t simweb.Target, q *request) {
	f := h.FactsOf(t)
	if to, status := h.Redirect(t, &f); status > 0 {
		s.redirect(h, to, status)
		return
	}
	shape := f.Shape
	if t.Kind != simweb.KindPage {
		shape = simweb.ShapePlain
	}
	if shape >= simweb.ShapeOnceError && shape <= simweb.ShapeOnceCut {
		shape = s.w.firstTry(t, shape)
	}
	switch shape {
	case simweb.ShapeNotFound:
		s.plain(404, "Not Found", "text/html", "<html><body>not found</body></html>\n")
		return
	case simweb.ShapeGone:
		s.plain(410, "Gone", "text/html", "<html><body>gone</body></html>\n")
		return
	case simweb.ShapeError, simweb.ShapeOnceError:
		s.plain(500, "Internal Server Error", "text/html", "<html><body>broken</body></html>\n")
		return
	case simweb.ShapeUnavailable, simweb.ShapeOnceUnavailable:
		s.unavailable()
		return
	case simweb.ShapeReset, simweb.ShapeOnceReset:
		s.finish(nil, false)
		s.reset()
		return
	case simweb.ShapeStall:
		s.pause(s.w.config.Timing.Stall)
		s.closing = true
		s.finish(nil, false)
		return
	}
	packed := q.gzip && h.Packs(&f, shape)
	if packed {
		s.log.Flags |= arrivals.FlagPacked
	}
	if !shape.IsLost() {
		v := validatorsOf(h, t, &f, packed)
		if s.fields = v.lines(); v.met(q) {
			s.notModified()
			return
		}
	}
	s.begin()
	d := &s.b.doc
	s.b.out = s.w.writer.AppendBody(s.b.out, d, h, t, &f)
	if packed {
		payload := d.Pack(s.body())
		if c := s.o.Counters; c != nil {
			c.Text.Add(int64(len(s.body())))
			c.Packed.Add(int64(len(payload)))
		}
		s.b.out = append(s.b.out[:headRoom], payload...)
	}
	s.shaped(t, &f, shape)
}

func (s *session) redirect(h *simweb.Host, to simweb.Target, status int) {
	s.begin()
	var where []byte
	if int(to.Host) == h.Index && status != 302 {
		where = h.AppendPath(nil, to)
	} else {
		where = s.w.AppendURL(nil, to)
	}
	s.b.out = append(append(append(s.b.out, "<html><body>moved: "...), where...), "</body></html>\n"...)
	s.send(status, "Moved", "text/html", "Location: "+string(where)+"\r\n")
}
