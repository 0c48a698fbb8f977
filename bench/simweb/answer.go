package simweb

import (
	"bytes"
	"compress/gzip"
	"math"
	"strconv"
	"time"
)

// handle answers one request with its head.
func (s *session) handle(q *request, head []byte) {
	s.over = !q.keep
	https, authority, path := q.address(s.o.TLS)
	if g, _, ok := s.w.guests.Find(authority); ok {
		s.serveGuest(g, q, https, authority, path, head)
		return
	}
	t, ok := s.w.locate(https, authority, path)
	s.log, s.says = arrival{start: s.start, conn: s.id, t: t, agent: q.agent}, ""
	if !ok || t.kind == kindNoHost { // only a client that does not resolve names asks for the latter
		s.log.url = "http://" + authority + path
		if https {
			s.log.url = "https://" + authority + path
		}
		s.log.t = s.w.targetOf(s.log.url)
		s.plain(404, "Not Found", "text/html", "<html><body>no such place</body></html>\n")
		return
	}
	if string(q.method) != "GET" {
		s.over = true // to HEAD this answer has a body too many
		s.plain(405, "Method Not Allowed", "text/plain", "GET only\n")
		return
	}
	h := s.w.hostAt(int(t.host))
	if !s.pause(s.w.latency(h.index) + s.w.think(t)) {
		s.over = true
		s.finish(nil, false)
		return
	}
	switch t.kind {
	case kindRobots:
		s.robots(&h)
	case kindRobotsOf:
		s.begin()
		s.b.out = s.w.appendRobots(s.b.out, int(t.page))
		s.send(200, "OK", "text/plain", "")
	case kindNowhere:
		s.plain(404, "Not Found", "text/html; charset=utf-8", "<html><body><h1>Not found</h1></body></html>\n")
	case kindTrap:
		s.plain(200, "OK", "text/html; charset=utf-8", "<html><body>This was no link.</body></html>\n")
	default:
		s.page(&h, t, q)
	}
}

// latency is how long a host thinks before it answers: by host, half to one and a half of the mean.
func (w *World) latency(i int) time.Duration {
	if w.c.Latency <= 0 {
		return 0
	}
	r := rng(w.hash(saltHost, i, 1))
	return time.Duration((0.5 + r.float()) * float64(w.c.Latency))
}

// thinkMost is the longest of the pauses that are drawn for each URL, in means: one in 22,000 would be longer.
const thinkMost = 10

// think is how long an answer takes beyond its host's latency: exponential, the same for the same URL.
func (w *World) think(t target) time.Duration {
	if w.c.Think <= 0 {
		return 0
	}
	r := rng(w.hash(saltThink, int(t.host), int(t.page)<<8|int(t.kind)))
	return time.Duration(min(-math.Log(1-r.float()), thinkMost) * float64(w.c.Think))
}

// begin makes room for a body.
func (s *session) begin() {
	if s.b.sheet == nil {
		s.b.sheet = s.w.sheets.Get().(*sheet)
	}
	if cap(s.b.out) < headRoom {
		s.b.out = make([]byte, headRoom, 64<<10)
	}
	s.b.out = s.b.out[:headRoom]
}

// body returns the body being written.
func (s *session) body() []byte { return s.b.out[headRoom:] }

// plain answers with a short text.
func (s *session) plain(status int, reason, ctype, text string) {
	s.begin()
	s.b.out = append(s.b.out, text...)
	s.send(status, reason, ctype, "")
}

// send writes head and body in one go. extra is further header lines, each with its line end.
func (s *session) send(status int, reason, ctype, extra string) {
	s.writeHead(status, reason, ctype, len(s.body()), extra)
	s.finish(s.withHead(), !(status >= 500))
}

// withHead puts the head right before the body and returns both.
func (s *session) withHead() []byte {
	if len(s.b.head) > headRoom {
		return append(bytes.Clone(s.b.head), s.body()...)
	}
	at := headRoom - len(s.b.head)
	copy(s.b.out[at:], s.b.head)
	return s.b.out[at:]
}

// writeHead writes the head of an answer into b.head. A length below 0 is left out.
func (s *session) writeHead(status int, reason, ctype string, length int, extra string) {
	s.log.status = status
	b := append(s.b.head[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(append(b, ' '), reason...)
	b = append(b, "\r\nServer: sim\r\nDate: "...)
	b = time.Now().UTC().AppendFormat(b, "Mon, 02 Jan 2006 15:04:05 GMT")
	if ctype != "" {
		b = append(append(b, "\r\nContent-Type: "...), ctype...)
	}
	if length >= 0 {
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
	}
	if s.over {
		b = append(b, "\r\nConnection: close"...)
	}
	b = append(b, "\r\n"...)
	if s.log.flags&flagPacked != 0 && status != 304 {
		b = append(b, "Content-Encoding: gzip\r\n"...)
	}
	b = append(b, s.says...)
	b = append(b, extra...)
	s.b.head = append(b, "\r\n"...)
}

// robots answers for robots.txt.
func (s *session) robots(h *host) {
	switch h.robots {
	case robotsNone:
		s.plain(404, "Not Found", "text/html", "<html><body>no robots.txt</body></html>\n")
	case robotsForbidden:
		s.plain(403, "Forbidden", "text/html", "<html><body>not for you</body></html>\n")
	case robotsError:
		s.plain(500, "Internal Server Error", "text/html", "<html><body>broken</body></html>\n")
	case robotsUnavailable:
		s.unavailable()
	case robotsReset:
		s.finish(nil, false)
		s.reset()
	case robotsRedirect:
		to := target{host: int32(s.w.robotsHome(h.index)), kind: kindRobotsOf, page: uint32(h.index)}
		s.begin()
		s.send(302, "Found", "text/html", "Location: "+string(s.w.appendURL(nil, to))+"\r\n")
	default:
		s.begin()
		s.b.out = s.w.appendRobots(s.b.out, h.index)
		ctype := "text/plain"
		if h.robots == robotsHTML {
			ctype = "text/html"
		}
		if h.robots == robotsSlow {
			s.writeHead(200, "OK", ctype, len(s.body()), "")
			s.drip(s.withHead(), s.w.c.Timing.Slow)
			return
		}
		s.send(200, "OK", ctype, "")
	}
}

func (s *session) unavailable() {
	s.begin()
	s.log.flags |= flagRetryAfter
	s.b.out = append(s.b.out, "<html><body>come back later</body></html>\n"...)
	after := strconv.Itoa(int(s.w.c.Timing.RetryAfter / time.Second))
	s.send(503, "Service Unavailable", "text/html", "Retry-After: "+after+"\r\n")
}

// drip writes b in pieces that take d together.
func (s *session) drip(b []byte, d time.Duration) {
	const pieces = 10
	size := len(b)/pieces + 1
	for len(b) > size {
		if _, err := s.conn.Write(b[:size]); err != nil || !s.pause(d/pieces) {
			s.over = true
			s.log.flags |= flagCut
			s.finish(nil, false)
			return
		}
		b = b[size:]
	}
	s.finish(b, true)
}

// page answers for a page, a step of a redirect, or where it lands, packed if the client accepts that and the host does
// so.
func (s *session) page(h *host, t target, q *request) {
	f := s.w.pageAt(h, int(t.page))
	if to, status := s.w.redirect(h, t, &f); status > 0 {
		s.redirect(h, to, status)
		return
	}
	shape := f.shape
	if t.kind == kindLand {
		shape = shapePlain
	}
	if shape >= shapeOnceError && shape <= shapeOnceCut {
		shape = s.w.firstTry(t, shape)
	}
	switch shape {
	case shapeNotFound:
		s.plain(404, "Not Found", "text/html", "<html><body>not found</body></html>\n")
		return
	case shapeGone:
		s.plain(410, "Gone", "text/html", "<html><body>gone</body></html>\n")
		return
	case shapeError, shapeOnceError:
		s.plain(500, "Internal Server Error", "text/html", "<html><body>broken</body></html>\n")
		return
	case shapeUnavailable, shapeOnceUnavailable:
		s.unavailable()
		return
	case shapeReset, shapeOnceReset:
		s.finish(nil, false)
		s.reset()
		return
	case shapeStall:
		s.pause(s.w.c.Timing.Stall)
		s.over = true
		s.finish(nil, false)
		return
	}
	packed := q.gzip && h.packs(&f, shape)
	if packed {
		s.log.flags |= flagPacked
	}
	if !shape.lost() {
		v := s.w.validatorsOf(h, t, &f, packed)
		if s.says = v.lines(); v.met(q) {
			s.notModified()
			return
		}
	}
	s.begin()
	d := &s.b.doc
	s.b.out = s.w.appendBody(s.b.out, d, h, t, &f)
	if packed {
		d.packed = d.packer.gzip(d.packed[:0], s.body(), d.marks)
		if c := s.o.Counters; c != nil {
			c.Text.Add(int64(len(s.body())))
			c.Packed.Add(int64(len(d.packed)))
		}
		s.b.out = append(s.b.out[:headRoom], d.packed...)
	}
	s.shaped(t, &f, shape)
}

// firstTry returns the fault at the first request for a page and no fault later.
func (w *World) firstTry(t target, fault shape) shape {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[t]++
	if w.tries[t] == 1 {
		return fault
	}
	return shapePlain
}

func (s *session) redirect(h *host, to target, status int) {
	s.begin()
	var where []byte
	if int(to.host) == h.index && status != 302 {
		where = s.w.appendTarget(nil, h, to)
	} else {
		where = s.w.appendURL(nil, to)
	}
	s.b.out = append(append(append(s.b.out, "<html><body>moved: "...), where...), "</body></html>\n"...)
	s.send(status, "Moved", "text/html", "Location: "+string(where)+"\r\n")
}

func (c content) mime() string {
	return [...]string{"text/html; charset=utf-8", "image/png", "text/css", "application/pdf"}[c]
}

// gzipped returns the gzip form of a payload; the same at every call.
func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		panic("BUG: simweb: gzip level: " + err.Error())
	}
	_, _ = z.Write(b) // a bytes.Buffer does not fail
	_ = z.Close()
	return buf.Bytes()
}
