package fetch

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"orbweaver/internal/outcome"
)

// frameServer is a server that writes any frames.
type frameServer struct {
	*http2.Framer

	conn  *tls.Conn
	block bytes.Buffer
	pack  *hpack.Encoder
}

// packed returns a block of fields, given as names and values.
func (s *frameServer) packed(fields ...string) []byte {
	s.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = s.pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return s.block.Bytes()
}

// head writes a head on stream 1, whole and without the end of the stream.
func (s *frameServer) head(fields ...string) { s.headOn(1, false, fields...) }

func (s *frameServer) headOn(stream uint32, isLast bool, fields ...string) {
	_ = s.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: s.packed(fields...), EndHeaders: true, EndStream: isLast,
	})
}

// ok writes a whole response.
func (s *frameServer) ok(stream uint32, body string) {
	s.headOn(stream, false, ":status", "200")
	_ = s.WriteData(stream, true, []byte(body))
}

// forever repeats f until the client has closed the connection.
func (s *frameServer) forever(f func() error) {
	for f() == nil {
	}
}

// nextHead reads up to the next request.
func (s *frameServer) nextHead() bool {
	for {
		f, err := s.ReadFrame()
		if err != nil {
			return false
		}
		if _, isHead := f.(*http2.HeadersFrame); isHead {
			return true
		}
	}
}

// serveFrames plays script after it has read a request, and closes the connection when the client has read all.
func serveFrames(t testing.TB, isGreeting bool, script func(*frameServer)) *Target {
	t.Helper()
	config := &tls.Config{
		Certificates: []tls.Certificate{newAuthority(t).issue(t, time.Hour, "a.example")}, NextProtos: []string{"h2"},
	}
	target := targetAt(serve(t, func(raw *net.TCPConn) {
		s := &frameServer{conn: tls.Server(raw, config)}
		s.Framer, s.pack = http2.NewFramer(s.conn, s.conn), hpack.NewEncoder(&s.block)
		s.AllowIllegalWrites = true
		preface := make([]byte, len(http2.ClientPreface))
		if _, err := io.ReadFull(s.conn, preface); err != nil || string(preface) != http2.ClientPreface {
			return
		}
		if isGreeting {
			_ = s.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		}
		if s.nextHead() {
			script(s)
			_ = s.conn.CloseWrite()
			_ = raw.CloseWrite()
			_, _ = io.Copy(io.Discard, raw)
		}
	}))
	target.HTTPS, target.URL = true, []byte("https://a.example/")
	return target
}

// hostileFrames are what servers do wrong, and what becomes of the exchange.
func hostileFrames() map[string]struct { //nolint:funlen // a table
	script  func(*frameServer)
	outcome outcome.Outcome
	cause   string // beginning of Page.Err
	payload string
} {
	type row = struct {
		script  func(*frameServer)
		outcome outcome.Outcome
		cause   string
		payload string
	}
	data := func(s *frameServer, b string) { _ = s.WriteData(1, false, []byte(b)) }
	headThen := func(f func(*frameServer)) func(*frameServer) {
		return func(s *frameServer) {
			s.head(":status", "200")
			data(s, "start")
			f(s)
		}
	}
	heads := func(fields ...string) func(*frameServer) {
		return func(s *frameServer) { s.headOn(1, true, fields...) }
	}
	block := func(b []byte) func(*frameServer) {
		return func(s *frameServer) {
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: b, EndHeaders: true, EndStream: true})
		}
	}
	const (
		idle, cut, bad, large = "h2: too many frames", outcome.TruncatedDisconnect, outcome.Protocol, outcome.HeaderTooLarge
	)
	return map[string]row{
		"endless SETTINGS": {func(s *frameServer) { s.forever(func() error { return s.WriteSettings() }) }, bad, idle, ""},
		"endless PING": {func(s *frameServer) {
			s.forever(func() error { return s.WritePing(false, [8]byte{1}) })
		}, bad, idle, ""},
		"endless WINDOW_UPDATE in the body": {headThen(func(s *frameServer) {
			s.forever(func() error { return s.WriteWindowUpdate(1, 1) })
		}), cut, idle, "start"},
		"endless RST of other streams": {headThen(func(s *frameServer) {
			s.forever(func() error { return s.WriteRSTStream(7, http2.ErrCodeCancel) })
		}), cut, idle, "start"},
		"endless unknown frames": {headThen(func(s *frameServer) {
			s.forever(func() error { return s.WriteRawFrame(0xee, 0, 1, []byte("?")) })
		}), cut, idle, "start"},
		"endless empty DATA": {headThen(func(s *frameServer) {
			s.forever(func() error { return s.WriteData(1, false, nil) })
		}), cut, idle, "start"},
		"endless GOAWAY": {headThen(func(s *frameServer) {
			s.forever(func() error { return s.WriteGoAway(1, http2.ErrCodeNo, nil) })
		}), cut, idle, "start"},
		"endless CONTINUATION": {func(s *frameServer) {
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.packed(":status", "200")})
			s.forever(func() error { return s.WriteContinuation(1, false, nil) })
		}, large, "h2: too many CONTINUATION", ""},
		"huge head": {func(s *frameServer) {
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.packed(":status", "200")})
			piece := s.packed("x-long", strings.Repeat("a", 25_000)) // takes less than a frame
			s.forever(func() error { return s.WriteContinuation(1, false, piece) })
		}, large, "h2: head too large", ""},
		"HPACK bomb": {func(s *frameServer) {
			b := append([]byte(nil), s.packed(":status", "200", "x-bomb", strings.Repeat("\x01", 3000))...)
			block(append(b, bytes.Repeat([]byte{0x80 | 62}, 2000)...))(s)
		}, large, "h2: head too large", ""},
		"table size above ours":   {block([]byte{0x3f, 0xe1, 0xff, 0x03, 0x88}), bad, "h2: head that cannot", ""},
		"index that is not there": {block([]byte{0x88, 0xff, 0xff, 0x01}), bad, "h2: head that cannot", ""},
		"half a field":            {block([]byte{0x88, 0x00, 0x7f}), bad, "h2: head that cannot", ""},
		"padding flood": {headThen(func(s *frameServer) {
			s.forever(func() error { return s.WriteDataPadded(1, false, []byte("x"), make([]byte, 255)) })
		}), cut, "h2: more padding", "start"},
		"padding longer than the frame": {headThen(func(s *frameServer) {
			_ = s.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{9, 1})
		}), cut, "h2: invalid padding", "start"},
		"RST in the body": {headThen(func(s *frameServer) {
			_ = s.WriteRSTStream(1, http2.ErrCodeInternal)
		}), cut, "h2: stream reset (2)", "start"},
		"RST before the head": {func(s *frameServer) {
			_ = s.WriteRSTStream(1, http2.ErrCodeRefusedStream)
		}, outcome.Reset, "h2: request not taken", ""},
		"HTTP/1.1 required": {func(s *frameServer) {
			_ = s.WriteRSTStream(1, http2.ErrCodeHTTP11Required)
		}, outcome.Reset, "h2: the server asks for HTTP/1.1", ""},
		"GOAWAY without the request": {func(s *frameServer) {
			_ = s.WriteGoAway(0, http2.ErrCodeNo, nil)
		}, outcome.Reset, "h2: request not taken", ""},
		"GOAWAY after the request": {func(s *frameServer) {
			_ = s.WriteGoAway(1, http2.ErrCodeNo, nil)
			s.ok(1, "start")
		}, outcome.OK, "", "start"},
		"more than Content-Length": {func(s *frameServer) {
			s.head(":status", "200", "content-length", "5")
			_ = s.WriteData(1, true, []byte("start and more"))
		}, outcome.OK, "", "start"},
		"less than Content-Length": {func(s *frameServer) {
			s.head(":status", "200", "content-length", "6")
			_ = s.WriteData(1, true, []byte("start"))
		}, cut, "closed within the body", "start"},
		"interim responses": {func(s *frameServer) {
			s.head(":status", "103", "link", "</a.css>; rel=preload")
			s.ok(1, "start")
		}, outcome.OK, "", "start"},
		"endless interim responses": {func(s *frameServer) {
			s.forever(func() error { s.head(":status", "103"); return s.WriteSettingsAck() })
		}, large, "too many interim", ""},
		"interim response at the end": {heads(":status", "103"), bad, "h2: no status", ""},
		"trailers": {headThen(func(s *frameServer) {
			s.headOn(1, true, "x-sum", "1")
		}), outcome.OK, "", "start"},
		"trailers with a status": {headThen(func(s *frameServer) {
			s.headOn(1, true, ":status", "200")
		}), cut, "h2: invalid trailers", "start"},
		"trailers before the end": {headThen(func(s *frameServer) {
			s.head("x-sum", "1")
		}), cut, "h2: invalid trailers", "start"},
		"push": {func(s *frameServer) {
			_ = s.WritePushPromise(http2.PushPromiseParam{
				StreamID: 1, PromiseID: 2, BlockFragment: s.packed(":path", "/a"), EndHeaders: true,
			})
		}, bad, "h2: push", ""},
		"head of another stream": {func(s *frameServer) { s.ok(3, "start") }, bad, "h2: head of another", ""},
		"data of another stream": {headThen(func(s *frameServer) {
			_ = s.WriteData(2, false, []byte("x"))
		}), cut, "h2: data of another", "start"},
		"data before the head": {func(s *frameServer) { data(s, "start") }, bad, "h2: data of another", ""},
		"data within a head": {func(s *frameServer) {
			_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: s.packed(":status", "200")})
			data(s, "start")
		}, bad, "h2: frame out of order", ""},
		"frame too large": {func(s *frameServer) {
			data(s, strings.Repeat("x", 16<<10+1))
		}, bad, "h2: frame too large", ""},
		"SETTINGS of odd length": {func(s *frameServer) {
			_ = s.WriteRawFrame(http2.FrameSettings, 0, 0, []byte{1})
		}, bad, "h2: invalid frame", ""},
		"no status":                  {heads("a", "b"), bad, "h2: no status", ""},
		"two statuses":               {heads(":status", "200", ":status", "200"), bad, "h2: invalid status", ""},
		"status after a field":       {heads("a", "b", ":status", "200"), bad, "h2: invalid status", ""},
		"status that is no number":   {heads(":status", "+20"), bad, "h2: invalid status", ""},
		"status 101":                 {heads(":status", "101"), bad, "h2: no status", ""},
		"pseudo-header of a request": {heads(":status", "200", ":path", "/"), bad, "h2: invalid field", ""},
		"name in upper case":         {heads(":status", "200", "Server", "x"), bad, "h2: invalid field", ""},
		"name with a line end":       {heads(":status", "200", "a\r\nb", "x"), bad, "h2: invalid field", ""},
		"value with a line end":      {heads(":status", "200", "a", "b\r\n\r\n<p>"), bad, "h2: invalid field", ""},
		"fields of a connection": {heads(":status", "200", "transfer-encoding", "chunked", "connection", "close"),
			outcome.OK, "", ""},
		"never an answer": {func(s *frameServer) { _ = s.nextHead() }, outcome.HeaderTimeout, "no header in time", ""},
		"PING and never an answer": {func(s *frameServer) {
			s.forever(func() error {
				time.Sleep(20 * time.Millisecond)
				return s.WritePing(false, [8]byte{})
			})
		}, outcome.HeaderTimeout, "no header in time", ""},
		"end within a frame": {headThen(func(s *frameServer) {
			_, _ = s.conn.Write([]byte{0, 0, 9, 0, 0, 0, 0, 0, 1, ' ', 'x'})
		}), cut, "connection broke", "start x"},
		"end before the head": {func(*frameServer) {}, outcome.Reset, "closed without an answer", ""},
	}
}

// Whatever frames a server sends, the exchange ends soon, with the outcome that HTTP/1.1 would have.
func TestHostile_N17_framesOfHTTP2(t *testing.T) {
	for name, c := range hostileFrames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := serveFrames(t, true, c.script)
			o := testOptions()
			if o.HTTP2 = true; c.outcome == outcome.HeaderTimeout {
				o.HeaderTimeout = time.Second / 2
			}
			began := time.Now()
			fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
				if p.Outcome != c.outcome || !strings.HasPrefix(p.Err, c.cause) || (p.Err == "") != (c.cause == "") {
					t.Errorf("%v: %s", p.Outcome, p.Err)
				}
				if got := string(p.Payload()); p.HasHead() && strings.TrimRight(got, "x") != strings.TrimRight(c.payload, "x") {
					t.Errorf("payload %q", got)
				}
				if bytes.Contains(p.Head(), []byte("onnection")) || bytes.Contains(p.Head(), []byte("ncoding")) {
					t.Errorf("%q", p.Head())
				}
			})
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// A server that does not begin with SETTINGS does not speak HTTP/2.
func TestHTTP2BeginsWithSettings(t *testing.T) {
	target := serveFrames(t, false, func(s *frameServer) { s.ok(1, "start") })
	o := testOptions()
	o.HTTP2 = true
	fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
		if p.Outcome != outcome.Protocol || p.Err != "h2: the server does not speak it" {
			t.Errorf("%v %s", p.Outcome, p.Err)
		}
	})
}

// Between two exchanges a server may send frames; a late end of the stream too. After GOAWAY the connection is useless.
func TestHTTP2OnKeptConnection(t *testing.T) {
	for name, c := range map[string]struct {
		between func(*frameServer)
		reused  uint64
	}{
		"nothing":  {func(s *frameServer) { _ = s.WriteData(1, true, nil) }, 1},
		"PING":     {func(s *frameServer) { _ = s.WriteData(1, true, nil); _ = s.WritePing(false, [8]byte{}) }, 1},
		"trailers": {func(s *frameServer) { s.headOn(1, true, "x-sum", "1") }, 1},
		"GOAWAY":   {func(s *frameServer) { _ = s.WriteData(1, true, nil); _ = s.WriteGoAway(1, http2.ErrCodeNo, nil) }, 0},
		"surplus":  {func(s *frameServer) { _ = s.WriteData(1, true, []byte("x")) }, 0},
		"open":     {func(*frameServer) {}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sent := make(chan bool, 2)
			target := serveFrames(t, true, func(s *frameServer) {
				s.head(":status", "200", "content-length", "5")
				_ = s.WriteData(1, false, []byte("start"))
				time.Sleep(30 * time.Millisecond) // the exchange has ended
				c.between(s)
				sent <- true
				if s.nextHead() {
					s.ok(3, "next")
				}
			})
			o := testOptions()
			o.HTTP2, o.Keep = true, NewIdleConns(time.Minute, 4)
			defer o.Keep.Close()
			for _, want := range []string{"start", map[uint64]string{0: "start", 1: "next"}[c.reused]} {
				fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
					if p.Outcome != outcome.OK || string(p.Payload()) != want {
						t.Errorf("%v %s %q", p.Outcome, p.Err, p.Payload())
					}
				})
				if want != "next" {
					<-sent
				}
				time.Sleep(5 * time.Millisecond)
			}
			if got := o.Keep.Stats(); got.Reused != c.reused {
				t.Errorf("%+v", got)
			}
		})
	}
}

// The deadline of an exchange does not hold for the answer to a PING that comes later.
func TestHTTP2AnswersPINGLate(t *testing.T) {
	sent := make(chan bool, 1)
	target := serveFrames(t, true, func(s *frameServer) {
		s.ok(1, "start")
		time.Sleep(time.Second / 2) // the deadline has passed
		_ = s.WritePing(false, [8]byte{1})
		sent <- true
		if s.nextHead() {
			s.ok(3, "next")
		}
	})
	o := testOptions()
	o.HTTP2, o.Keep, o.HeaderTimeout, o.TotalTimeout = true, NewIdleConns(time.Minute, 4), time.Second/4, time.Second/4
	defer o.Keep.Close()
	for _, want := range []string{"start", "next"} {
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.OK || string(p.Payload()) != want {
				t.Errorf("%v %s %q", p.Outcome, p.Err, p.Payload())
			}
		})
		if want == "start" {
			<-sent
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// A GOAWAY that comes together with the end of a response is known before the next request.
func TestHTTP2SeesGOAWAYInTheSameRecord(t *testing.T) {
	target := serveFrames(t, true, func(s *frameServer) {
		var together bytes.Buffer
		alone := s.Framer
		s.Framer = http2.NewFramer(&together, s.conn)
		s.ok(1, "start")
		_ = s.WriteGoAway(1, http2.ErrCodeNo, nil)
		_, _ = s.conn.Write(together.Bytes())
		s.Framer = alone
		s.nextHead() // nothing follows
	})
	o := testOptions()
	o.HTTP2, o.Keep = true, NewIdleConns(time.Minute, 4)
	defer o.Keep.Close()
	for range 2 {
		fetchOnce(t, o, LoopbackOnly(), target, func(p *Page) {
			if p.Outcome != outcome.OK || string(p.Payload()) != "start" {
				t.Errorf("%v %s %q", p.Outcome, p.Err, p.Payload())
			}
		})
	}
	if got := o.Keep.Stats(); got.Reused != 0 {
		t.Errorf("%+v", got)
	}
}
