package h2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"orbweaver/internal/outcome"
)

const (
	window     = 256 << 10   // bytes that the server may send ahead; they wait in the socket alone
	windowRFC  = 65535       // what a connection has before the first WINDOW_UPDATE
	frameMax   = 16 << 10    // bytes of one frame, without its header
	framesMax  = 1000        // frames of a response that bring nothing
	tableMax   = 4 << 10     // bytes of the dynamic table
	excessMax  = 16 << 10    // bytes of padding and frame headers of a body, beyond what its frames may cost
	headerSize = 9           // of a frame
	replyTime  = time.Second // for a reply between two exchanges; it fits into the socket's buffer
)

// Fault is what a server did wrong, or its refusal.
type Fault struct {
	Outcome outcome.Outcome // of an exchange that has no head yet
	Cause   string          // short, for the log
}

// Error is the cause.
func (f *Fault) Error() string { return f.Cause }

func invalid(cause string) error { return &Fault{Outcome: outcome.Protocol, Cause: "h2: " + cause} }

func reset(cause string) error { return &Fault{Outcome: outcome.Reset, Cause: "h2: " + cause} }

// Conn is a connection that speaks HTTP/2, for requests and responses of HTTP/1.1, one after the other.
type Conn struct {
	net.Conn // TLS, with h2 agreed on

	framer *http2.Framer
	feed   bytes.Reader // what framer reads: a frame header, or a payload
	sent   bytes.Buffer // what framer writes, up to flush
	in     []byte       // the part of feed that has come
	head   http2.FrameHeader
	inHead bool // the payload of head is to come

	encoder *hpack.Encoder
	block   bytes.Buffer // of encoder
	fields  fieldBlock

	stream   uint32 // of the current or last exchange
	rendered []byte // head of a response, before its delivery
	hasFinal bool   // the final head has come
	ended    bool   // the stream has ended; true before the first request
	leaving  bool   // no other request can be sent, or the server takes none
	greeted  bool   // its first SETTINGS have come
	fault    error  // the connection is useless

	data, pad int64 // bytes of the DATA frame to come
	isLast    bool  // it ends the stream
	credit    int64 // bytes that have come and are not granted again
	excess    int64
	payload   int64 // bytes of the body
	frames    int64 // that brought nothing
}

// New returns a Conn over a connection on which nothing was sent.
func New(conn net.Conn) *Conn {
	c := &Conn{Conn: conn, ended: true}
	c.framer = http2.NewFramer(&c.sent, &c.feed)
	c.framer.SetMaxReadFrameSize(frameMax)
	c.framer.SetReuseFrames()
	c.encoder = hpack.NewEncoder(&c.block)
	c.encoder.SetMaxDynamicTableSizeLimit(0)
	c.fields.init()
	return c
}

// Write sends a request: a head of HTTP/1.1, in one piece, for a resource of https.
func (c *Conn) Write(request []byte) (int, error) {
	if c.stream == 0 {
		c.sent.WriteString(http2.ClientPreface)
		_ = c.framer.WriteSettings( // a buffer never fails
			http2.Setting{ID: http2.SettingEnablePush, Val: 0},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: window},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: fieldsMax})
		c.credit, c.stream = window-windowRFC, 1
	} else {
		c.stream += 2
	}
	if c.credit > 0 {
		_ = c.framer.WriteWindowUpdate(0, uint32(c.credit))
	}
	c.credit, c.excess, c.payload, c.frames = 0, 0, 0, 0
	c.rendered, c.hasFinal, c.ended = nil, false, false
	c.block.Reset()
	encodeRequest(c.encoder, request)
	piece := c.block.Next(frameMax)
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: piece, EndStream: true, EndHeaders: c.block.Len() == 0,
	})
	for c.block.Len() > 0 {
		piece = c.block.Next(frameMax)
		_ = c.framer.WriteContinuation(c.stream, c.block.Len() == 0, piece)
	}
	if err := c.flush(); err != nil {
		return 0, err
	}
	return len(request), nil
}

// flush sends what framer has written. After an error TLS sends nothing more.
func (c *Conn) flush() error {
	_, err := c.Conn.Write(c.sent.Bytes())
	c.sent.Reset()
	c.leaving = c.leaving || err != nil
	return err //nolint:wrapcheck // the connection's own
}

// Read yields the next bytes of the response; io.EOF at its end.
func (c *Conn) Read(b []byte) (int, error) {
	for {
		switch {
		case len(c.rendered) > 0:
			n := copy(b, c.rendered)
			if c.rendered = c.rendered[n:]; len(c.rendered) == 0 {
				c.rendered = nil // a connection may wait long for its next request
			}
			return n, nil
		case c.fault != nil:
			return 0, c.fault
		case c.data > 0:
			return c.readData(b)
		case c.ended:
			return 0, io.EOF
		default:
			if err := c.readFrame(); err != nil {
				return 0, err
			}
		}
	}
}

// HasEnded reports whether the stream of the last response has ended, and another request may follow.
func (c *Conn) HasEnded() bool { return c.ended && c.MayFollow() }

// MayFollow reports whether nothing speaks against another request after this response.
func (c *Conn) MayFollow() bool { return c.fault == nil && !c.leaving }

// Settle reads what came after the last response, for at most a time, and reports whether another request may follow.
func (c *Conn) Settle(limit time.Duration) bool {
	now := time.Now()
	_ = c.SetReadDeadline(now.Add(limit)) // the exchange sets its own
	_ = c.SetWriteDeadline(now.Add(replyTime))
	for c.MayFollow() && c.data == 0 {
		if err := c.readFrame(); err != nil {
			return c.HasEnded() && errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
	return false
}

// readData reads payload of a DATA frame into b.
func (c *Conn) readData(b []byte) (int, error) {
	n, err := c.Conn.Read(b[:min(int64(len(b)), c.data)])
	c.data -= int64(n)
	c.payload += int64(n)
	if n == 0 && err != nil {
		return 0, c.broken(err)
	}
	c.grant(int64(n))
	return n, nil
}

// grant lets the server send as many bytes again as have come, in steps of half a window.
func (c *Conn) grant(n int64) {
	c.credit += n
	if c.credit < window/2 || c.isLast {
		return
	}
	_ = c.framer.WriteWindowUpdate(0, uint32(c.credit)) // a buffer never fails
	_ = c.framer.WriteWindowUpdate(c.stream, uint32(c.credit))
	c.credit = 0
	_ = c.flush() // the next read tells
}

// fill reads until n bytes have come, and gives them to framer.
func (c *Conn) fill(n int) error {
	if cap(c.in) < n {
		c.in = append(make([]byte, 0, n), c.in...)
	}
	for len(c.in) < n {
		m, err := c.Conn.Read(c.in[len(c.in):n])
		c.in = c.in[:len(c.in)+m]
		if m == 0 && err != nil {
			return c.broken(err)
		}
	}
	c.feed.Reset(c.in)
	return nil
}

// broken returns the error of a read: an end of the connection is not the end of a response.
func (c *Conn) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		c.fault = err
	}
	return err
}

// fail makes the connection useless.
func (c *Conn) fail(err error) error {
	c.fault = err
	return err
}

// readFrame reads the next frame, or of a DATA frame what precedes its payload.
func (c *Conn) readFrame() error {
	if c.pad > 0 || c.isLast {
		return c.endData()
	}
	if !c.inHead {
		if err := c.fill(headerSize); err != nil {
			return err
		}
		head, err := c.framer.ReadFrameHeader()
		switch c.in = c.in[:0]; {
		case !c.greeted && (err != nil || head.Type != http2.FrameSettings || head.Flags.Has(http2.FlagSettingsAck)):
			return c.fail(invalid("the server does not speak it"))
		case errors.Is(err, http2.ErrFrameTooLarge):
			return c.fail(invalid("frame too large"))
		case err != nil:
			return c.fail(invalid("frame out of order"))
		}
		c.head, c.inHead, c.greeted = head, true, true
	}
	if c.head.Type == http2.FrameData {
		return c.startData()
	}
	if err := c.fill(int(c.head.Length)); err != nil {
		return err
	}
	frame, err := c.framer.ReadFrameForHeader(c.head)
	c.in, c.inHead = c.in[:0], false
	if err != nil {
		return c.fail(invalid("invalid frame"))
	}
	if err := c.take(frame); err != nil {
		return c.fail(err)
	}
	return nil
}

// endData drops the padding of a DATA frame.
func (c *Conn) endData() error {
	for c.pad > 0 {
		n, err := c.Conn.Read(make([]byte, c.pad))
		c.pad -= int64(n)
		if n == 0 && err != nil {
			return c.broken(err)
		}
	}
	c.ended, c.isLast = c.isLast, false
	return nil
}

// startData begins a DATA frame.
func (c *Conn) startData() error {
	length := int64(c.head.Length)
	if c.head.StreamID != c.stream || c.ended || !c.hasFinal {
		return c.fail(invalid("data of another stream"))
	}
	data, pad := length, int64(0)
	if c.head.Flags.Has(http2.FlagDataPadded) && length > 0 {
		if err := c.fill(1); err != nil {
			return err
		}
		pad = int64(c.in[0])
		data, c.in = length-1-pad, c.in[:0]
	}
	if data < 0 {
		return c.fail(invalid("invalid padding"))
	}
	c.data, c.pad = data, pad
	c.inHead, c.isLast = false, c.head.Flags.Has(http2.FlagDataEndStream)
	overhead := headerSize + length - c.data
	if c.excess = max(0, c.excess+overhead-16-2*c.data); c.excess > excessMax {
		return c.fail(invalid("more padding than data"))
	}
	if c.data == 0 && !c.isLast {
		if err := c.countIdle(); err != nil {
			return c.fail(err)
		}
	}
	c.grant(length - c.data)
	return nil
}

// countIdle counts a frame that brings nothing.
func (c *Conn) countIdle() error {
	if c.frames++; c.frames > framesMax+c.payload>>14 {
		return invalid("too many frames without data")
	}
	return nil
}

// take processes a frame other than DATA.
func (c *Conn) take(frame http2.Frame) error {
	switch f := frame.(type) {
	case *http2.HeadersFrame:
		if f.StreamID != c.stream || c.ended {
			return invalid("head of another stream")
		}
		c.fields.start(f.StreamEnded())
		return c.takeFields(f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.ContinuationFrame:
		if c.fields.continuations++; c.fields.continuations > continuationsMax {
			return tooLarge("too many CONTINUATION frames")
		}
		return c.takeFields(f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.PushPromiseFrame:
		return invalid("push, which was refused")
	case *http2.RSTStreamFrame:
		if f.StreamID == c.stream && !c.ended {
			return resetFault(f.ErrCode)
		}
	case *http2.GoAwayFrame:
		c.leaving = true
		if f.LastStreamID < c.stream && !c.ended {
			return reset("request not taken, the server ends the connection")
		}
	case *http2.SettingsFrame:
		if !f.IsAck() {
			_ = c.framer.WriteSettingsAck() // a buffer never fails
			_ = c.flush()                   // the next read tells
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			_ = c.framer.WritePing(true, f.Data)
			_ = c.flush()
		}
	}
	return c.countIdle()
}

// resetFault returns the fault of a stream that the server has reset.
func resetFault(code http2.ErrCode) error {
	switch code {
	case http2.ErrCodeRefusedStream:
		return reset("request not taken")
	case http2.ErrCodeHTTP11Required:
		return reset("the server asks for HTTP/1.1")
	default:
		return reset(fmt.Sprintf("stream reset (%d)", uint32(code)))
	}
}

// takeFields processes a part of a block of fields.
func (c *Conn) takeFields(part []byte, isEnd bool) error {
	if err := c.fields.decode(part, isEnd); err != nil || !isEnd {
		return err
	}
	switch block := &c.fields; {
	case c.hasFinal: // trailers, which are dropped
		if block.lines = nil; !block.endsStream || block.status != 0 {
			return invalid("invalid trailers")
		}
	case block.status < 100, block.status == 101, block.status < 200 && block.endsStream:
		return invalid("no status")
	default:
		c.rendered, block.lines = append(block.lines, "\r\n"...), nil
		c.hasFinal = block.status >= 200
	}
	c.ended = c.fields.endsStream
	return c.countIdle()
}
