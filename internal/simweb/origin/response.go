package origin

import (
	"bytes"
	"errors"
	"net"
	"strconv"
	"time"

	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/content"
)

// begin makes room for a body.
func (s *response) begin() {
	if s.b.sheet == nil {
		s.b.sheet = s.w.sheets.Get().(*sheet)
	}
	if cap(s.b.out) < headRoom {
		s.b.out = make([]byte, headRoom, 64<<10)
	}
	s.b.out = s.b.out[:headRoom]
}

// body returns the body being written.
func (s *response) body() []byte { return s.b.out[headRoom:] }

// plain answers with a short text.
func (s *response) plain(status int, reason, ctype, text string) {
	s.begin()
	s.b.out = append(s.b.out, text...)
	s.send(status, reason, ctype, "")
}

// send writes head and body in one go. extra is further header lines, each with its line end.
func (s *response) send(status int, reason, ctype, extra string) {
	s.writeHead(status, reason, ctype, len(s.body()), extra)
	s.finish(s.withHead(), !(status >= 500))
}

// withHead puts the head right before the body and returns both.
func (s *response) withHead() []byte {
	if len(s.b.head) > headRoom {
		return append(bytes.Clone(s.b.head), s.body()...)
	}
	at := headRoom - len(s.b.head)
	copy(s.b.out[at:], s.b.head)
	return s.b.out[at:]
}

// writeHead writes the head of an answer into b.head. A length below 0 is left out.
func (s *response) writeHead(status int, reason, ctype string, length int, extra string) {
	s.log.Status = status
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
	if s.closing {
		b = append(b, "\r\nConnection: close"...)
	}
	b = append(b, "\r\n"...)
	if s.log.Flags&arrivals.FlagPacked != 0 && status != 304 {
		b = append(b, "Content-Encoding: gzip\r\n"...)
	}
	b = append(b, s.fields...)
	b = append(b, extra...)
	s.b.head = append(b, "\r\n"...)
}

func (s *response) unavailable() {
	s.begin()
	s.log.Flags |= arrivals.FlagRetryAfter
	s.b.out = append(s.b.out, "<html><body>come back later</body></html>\n"...)
	after := strconv.Itoa(int(s.w.config.Timing.RetryAfter / time.Second))
	s.send(503, "Service Unavailable", "text/html", "Retry-After: "+after+"\r\n")
}

// drip writes b in pieces that take d together.
func (s *response) drip(b []byte, d time.Duration) {
	const pieces = 10
	size := len(b)/pieces + 1
	for len(b) > size {
		if _, err := s.conn.Write(b[:size]); err != nil || !s.pause(d/pieces) {
			s.closing = true
			s.log.Flags |= arrivals.FlagCut
			s.finish(nil, false)
			return
		}
		b = b[size:]
	}
	s.finish(b, true)
}

const (
	headRoom   = 1 << 10 // space before the body in which the head is written
	requestMax = 64 << 10
)

// buffer is the space a connection needs while it has something to do.
type buffer struct {
	in   []byte
	head []byte
	*sheet
}

// sheet is the memory for an answer, from the end of the pause before it to its last byte: a connection that only
// waits has none.
type sheet struct {
	out []byte // headRoom bytes, then the body
	doc content.Document
}

// response writes the answer to the request at hand of a connection.
type response struct {
	w       *Web
	conn    net.Conn
	o       ServeOptions
	b       *buffer
	n       int  // bytes in b.in
	closing bool // no further request on this connection
	log     arrivals.Entry
	fields  string // header lines of the page at hand
}

// finish notes the arrival and makes the last write of its answer.
func (s *response) finish(last []byte, whole bool) {
	if whole {
		s.log.Flags |= arrivals.FlagWhole
	}
	s.log.End = time.Now()
	n := s.o.Log.Add(&s.log)
	sent := 0
	if len(last) > 0 {
		var err error
		if sent, err = s.conn.Write(last); err != nil {
			s.closing = true
			s.o.Log.MarkCut(n)
		}
	}
	if c := s.o.Counters; c != nil {
		c.Requests.Add(1)
		c.Bytes.Add(int64(sent))
	}
}

// pause waits, and is false if the client has closed meanwhile. It reads ahead, so that it can tell.
func (s *response) pause(d time.Duration) bool {
	if s.o.Plain || d <= 0 {
		return true
	}
	until := time.Now().Add(d)
	_ = s.conn.SetReadDeadline(until)
	for {
		if s.n == len(s.b.in) {
			s.b.in = append(s.b.in, make([]byte, len(s.b.in))...)
		}
		n, err := s.conn.Read(s.b.in[s.n:])
		s.n += n
		if err == nil && s.n < requestMax {
			continue
		}
		if isTimeout(err) {
			_ = s.conn.SetReadDeadline(time.Time{})
			return true
		}
		s.log.Flags |= arrivals.FlagCut
		return false
	}
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}

// reset breaks the connection so that the client sees a reset where the transport can show one.
func (s *response) reset() {
	s.closing = true
	Reset(s.conn)
}

// Reset closes a connection with a reset where the transport below can show one.
func Reset(conn net.Conn) {
	for {
		below, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = below.NetConn()
	}
	switch c := conn.(type) {
	case interface{ SetLinger(sec int) error }:
		_ = c.SetLinger(0)
	case interface{ Reset() }:
		c.Reset()
	}
	_ = conn.Close()
}

// notModified answers that the page is as it was. The log notes the form that it was in.
func (s *response) notModified() {
	s.begin()
	s.writeHead(304, "Not Modified", "", -1, "")
	s.finish(s.withHead(), true)
}
