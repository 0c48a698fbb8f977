package origin

import (
	"bytes"
	"net"
	"sync/atomic"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
)

// ServeOptions says how one connection is served.
type ServeOptions struct {
	Log *arrivals.Log // where requests are noted; nil for nowhere
	TLS bool          // the connection runs inside TLS: origin-form requests are for https
	// Connect, if not nil, is given the connection of an accepted CONNECT request with its "host:port". The connection
	// is borrowed: it may be used and closed, and Serve returns when Connect does.
	Connect  func(conn net.Conn, target string)
	Counters *Counters // what is counted; nil for nothing. Connections may share it
	// Plain switches pauses off: latency, slow pages and stalls take no time. For measuring the server alone.
	Plain bool
}

// Counters is what a server counts while it serves.
type Counters struct {
	Conns    atomic.Int64 // connections accepted
	Requests atomic.Int64 // answers begun
	Text     atomic.Int64 // bytes of pages before they were packed, of those that were
	Packed   atomic.Int64 // the same afterwards
	Bytes    atomic.Int64 // bytes of the last writes of answers: without those of slow and stalled ones
}

// session is one connection.
type session struct {
	response
	id     uint32
	start  time.Time // first byte of the request at hand
	guests int       // requests for guests so far
}

// readHead waits for a whole request head.
func (s *session) readHead() ([]byte, bool) {
	if s.n == 0 {
		if s.w.config.Timing.Idle > 0 && !s.o.Plain {
			_ = s.conn.SetReadDeadline(time.Now().Add(s.w.config.Timing.Idle))
		}
	} else {
		s.start = time.Now()
	}
	from := 0
	for {
		if at := bytes.Index(s.b.in[from:s.n], []byte("\r\n\r\n")); at >= 0 {
			return s.b.in[:from+at+4], true
		}
		from = max(0, s.n-3)
		if s.n == len(s.b.in) {
			if s.n >= requestMax {
				s.refuse("431 Request Header Fields Too Large", nil)
				return nil, false
			}
			s.b.in = append(s.b.in, make([]byte, len(s.b.in))...)
		}
		n, err := s.conn.Read(s.b.in[s.n:])
		if s.n == 0 && n > 0 {
			s.start = time.Now()
		}
		s.n += n
		if err != nil {
			return nil, false
		}
	}
}

// skip forgets a request; what follows it, the next one perhaps, stays. Bodies of requests are read and dropped.
func (s *session) skip(n int) {
	for n > s.n {
		n -= s.n
		got, err := s.conn.Read(s.b.in)
		s.n = got
		if err != nil {
			s.closing = true
			return
		}
	}
	s.n = copy(s.b.in, s.b.in[n:s.n])
}

// connect answers CONNECT.
func (s *session) connect(q *request, head int) {
	if s.o.Connect == nil {
		s.refuse("405 Method Not Allowed", nil)
		return
	}
	if _, err := s.conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	_ = s.conn.SetReadDeadline(time.Time{})
	conn := s.conn
	if s.n > head {
		conn = &readFirst{Conn: conn, first: bytes.Clone(s.b.in[head:s.n])}
	}
	s.o.Connect(conn, string(q.url))
}

// readFirst is a connection whose first bytes have been read already.
type readFirst struct {
	net.Conn
	first []byte
}

func (c *readFirst) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// NetConn returns the connection below, as tls.Conn has it.
func (c *readFirst) NetConn() net.Conn { return c.Conn }

// refuse answers what is no request that can be served.
func (s *session) refuse(status string, head []byte) {
	s.closing = true
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	s.log = arrivals.Entry{
		Start:  s.start,
		Conn:   s.id,
		Target: simweb.Target{Host: -1, Kind: simweb.KindUnknown},
		URL:    string(line),
	}
	s.log.Status, _ = simweb.ParseNumber(status[:3])
	s.finish([]byte("HTTP/1.1 "+status+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), true)
}

// Serve answers the requests that come on one connection, as an origin server by Host field or as a proxy by the
// absolute form, until either side closes it. It takes conn and closes it, and starts no goroutine.
func (w *Web) Serve(conn net.Conn, o ServeOptions) {
	b := w.buffers.Get().(*buffer)
	defer w.buffers.Put(b)
	if b.in == nil {
		b.in = make([]byte, 4<<10)
	}
	if o.Log == nil {
		o.Log = w.discard
	}
	s := &session{response: response{w: w, conn: conn, o: o, b: b}, id: o.Log.Connect(time.Now())}
	defer func() { _ = conn.Close() }()
	if o.Counters != nil {
		o.Counters.Conns.Add(1)
	}
	for !s.closing {
		head, ok := s.readHead()
		if !ok {
			return
		}
		q, ok := parseRequest(head)
		if !ok {
			s.refuse("400 Bad Request", head)
			return
		}
		if string(q.method) == "CONNECT" {
			s.connect(&q, len(head))
			return
		}
		s.handle(&q, head)
		if b.sheet != nil {
			w.sheets.Put(b.sheet)
			b.sheet = nil
		}
		s.skip(len(head) + q.body)
	}
}
