package origin

import (
	"bytes"
	"strconv"
	"strings"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/corpus"
)

// surplus comes behind a body that is longer than its Content-Length.
const surplus = "<p>This is behind the end of the body.</p><a href=\"/trap/99/1\">x</a>\n"

// plainFields are header lines that a plain page has beside the necessary ones.
const plainFields = "Cache-Control: max-age=600\r\nVary: Accept-Encoding\r\nX-Content-Type-Options: nosniff\r\n"

// shaped sends the page in b.out in the way of its shape.
func (s *session) shaped(t simweb.Target, f *simweb.Page, shape simweb.Shape) {
	mime := f.Media.ContentType()
	size := len(s.body())
	switch shape {
	case simweb.ShapeChunked:
		s.chunk(mime, "", 4<<10, "0\r\n\r\n", true)
	case simweb.ShapeChunkedOdd:
		s.chunk(mime, ";name=value;q=\"a b\"", 777, "0;last\r\nX-Trailer: one\r\nX-Other: two\r\n\r\n", true)
	case simweb.ShapeChunkedCut:
		s.chunk(mime, "", 4<<10, "1000\r\nhalf a chu", false)
	case simweb.ShapeGzip:
		z := corpus.Gzipped(s.body())
		s.b.out = append(s.b.out[:headRoom], z...)
		s.send(200, "OK", mime, "Content-Encoding: gzip\r\n")
	case simweb.ShapeLyingGzip:
		s.send(200, "OK", mime, "Content-Encoding: gzip\r\n")
	case simweb.ShapeOddHeaders:
		s.oddHead(t, mime)
		s.finish(s.withHead(), true)
	case simweb.ShapeSurplus:
		s.closing = true
		s.writeHead(200, "OK", mime, size, "")
		s.b.out = append(s.b.out, surplus...)
		s.finish(s.withHead(), true)
	case simweb.ShapeUntilClose:
		s.closing = true
		s.writeHead(200, "OK", mime, -1, "")
		copy(s.b.head, "HTTP/1.0")
		s.finish(s.withHead(), true)
	case simweb.ShapeSlow:
		s.writeHead(200, "OK", mime, size, "")
		s.drip(s.withHead(), s.w.config.Timing.Slow)
	case simweb.ShapeTruncated, simweb.ShapeOnceCut:
		s.closing = true
		s.writeHead(200, "OK", mime, size, "")
		whole := s.withHead()
		s.finish(whole[:len(whole)-size/2-1], false)
	case simweb.ShapeResetMid:
		s.writeHead(200, "OK", mime, size, "")
		whole := s.withHead()
		s.finish(whole[:len(whole)-size/2-1], false)
		s.reset()
	case simweb.ShapeStallMid:
		s.stallMid(mime, size)
	default:
		s.send(200, "OK", mime, plainFields)
	}
}

// chunk sends the body in chunks with the extension at each, and last behind it.
func (s *session) chunk(mime, extension string, size int, last string, whole bool) {
	if !whole {
		s.closing = true
	}
	trailer := ""
	if strings.Contains(last, "X-Trailer") {
		trailer = "Trailer: X-Trailer\r\n"
	}
	body := bytes.Clone(s.body())
	s.writeHead(200, "OK", mime, -1, "Transfer-Encoding: chunked\r\n"+trailer)
	b := s.b.out[:headRoom]
	for len(body) > 0 {
		n := min(size, len(body))
		b = strconv.AppendInt(b, int64(n), 16)
		b = append(append(b, extension...), "\r\n"...)
		b = append(append(b, body[:n]...), "\r\n"...)
		body = body[n:]
	}
	s.b.out = append(b, last...)
	s.finish(s.withHead(), whole)
}

// stallMid sends half of the body and then nothing.
func (s *session) stallMid(mime string, size int) {
	s.closing = true
	s.writeHead(200, "OK", mime, size, "")
	whole := s.withHead()
	if _, err := s.conn.Write(whole[:len(whole)-size/2-1]); err != nil {
		s.log.Flags |= arrivals.FlagCut
	} else {
		s.pause(s.w.config.Timing.Stall)
	}
	s.finish(nil, false)
}

// oddHead writes one of the heads that are legal or that every client tolerates.
func (s *session) oddHead(t simweb.Target, mime string) {
	size := strconv.Itoa(len(s.body()))
	s.log.Status = 200
	s.closing = true
	var head string
	switch s.w.Hash(simweb.SaltAnswer, int(t.Host), int(t.Page)) % 6 {
	case 0: // line feeds alone
		head = "HTTP/1.1 200 OK\nServer: sim\nContent-Type: " + mime + "\nContent-Length: " + size + "\nConnection: close\n\n"
	case 1: // no reason
		head = "HTTP/1.1 200\r\nContent-Type: " + mime + "\r\nContent-Length: " + size + "\r\nConnection: close\r\n\r\n"
	case 2: // the same length twice
		head = "HTTP/1.1 200 OK\r\nContent-Length: " + size + "\r\nContent-Type: " + mime + "\r\nContent-Length: " + size +
			"\r\nConnection: close\r\n\r\n"
	case 3: // a folded line
		head = "HTTP/1.1 200 OK\r\nX-Folded: one\r\n two\r\n\tthree\r\nContent-Type: " + mime + "\r\nContent-Length: " +
			size + "\r\nConnection: close\r\n\r\n"
	case 4: // odd case and space, and a long line
		head = "HTTP/1.1 200 all is well: really\r\ncontent-TYPE:" + mime + "\r\nCONTENT-LENGTH:   " + size + "  \r\n" +
			"x-long: " + strings.Repeat("long ", 2000) + "\r\nconnection:close\r\n" +
			"Set-Cookie: a=b; Path=/\r\nSet-Cookie: c=d\r\n\r\n"
	default: // answers before the answer
		head = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </>; rel=preconnect\r\n\r\n" +
			"HTTP/1.1 200 OK\r\nContent-Type: " + mime + "\r\nContent-Length: " + size + "\r\nConnection: close\r\n\r\n"
	}
	s.b.head = append(s.b.head[:0], head...)
}
