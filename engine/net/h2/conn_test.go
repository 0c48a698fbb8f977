package h2

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const request = "GET /x?y=1 HTTP/1.1\r\nhost: a.example\r\naccept: */*\r\n\r\n"

// scripted is a connection on which a server has sent all its bytes before. Every second read times out, if it is slow.
type scripted struct {
	net.Conn

	bytes  io.Reader
	isSlow bool
	reads  int
	sent   bytes.Buffer
}

func (s *scripted) Read(b []byte) (int, error) {
	if s.reads++; s.isSlow {
		if s.reads%2 == 0 {
			return 0, os.ErrDeadlineExceeded
		}
		b = b[:min(len(b), 1)]
	}
	return s.bytes.Read(b)
}

func (s *scripted) Write(b []byte) (int, error)     { return s.sent.Write(b) }
func (s *scripted) SetReadDeadline(time.Time) error { return nil }

// response returns the frames of a whole response on stream 1, with all that is allowed.
func response(body string) []byte {
	var out, block bytes.Buffer
	pack, w := hpack.NewEncoder(&block), http2.NewFramer(&out, nil)
	fields := func(fields ...string) []byte {
		block.Reset()
		for i := 0; i < len(fields); i += 2 {
			_ = pack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		return block.Bytes()
	}
	_ = w.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20})
	_ = w.WriteSettingsAck()
	_ = w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: fields(":status", "103", "link", "</a.css>"), EndHeaders: true,
	})
	_ = w.WritePing(false, [8]byte{1})
	all := fields(":status", "200", "content-type", "text/html", "x-long", strings.Repeat("y", 100))
	_ = w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: all[:20], PadLength: 9, Priority: http2.PriorityParam{Weight: 3},
	})
	_ = w.WriteContinuation(1, false, all[20:40])
	_ = w.WriteContinuation(1, true, all[40:])
	for len(body) > 0 {
		n := min(len(body), 16<<10-256)
		_ = w.WriteDataPadded(1, false, []byte(body[:n]), make([]byte, n%200))
		_ = w.WriteWindowUpdate(0, 100)
		body = body[n:]
	}
	_ = w.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: fields("x-sum", "1"), EndHeaders: true, EndStream: true,
	})
	return out.Bytes()
}

// readAll reads a response as package fetch does: a read that timed out is repeated.
func readAll(c *Conn, most int) ([]byte, error) {
	var all []byte
	b := make([]byte, 4<<10)
	for len(all) < most {
		n, err := c.Read(b)
		all = append(all, b[:n]...)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return all, err
		}
	}
	return all, nil
}

// However the bytes come, the response is the same, and what the server has sent may be sent again.
func TestConnReadsInPieces(t *testing.T) {
	body := strings.Repeat("many bytes ", 40_000)
	want := "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx-long: " +
		strings.Repeat("y", 100) + "\r\n\r\n" + body
	for _, isSlow := range []bool{false, true} {
		peer := &scripted{bytes: bytes.NewReader(response(body)), isSlow: isSlow}
		c := New(peer)
		if n, err := c.Write([]byte(request)); n != len(request) || err != nil {
			t.Fatal(n, err)
		}
		got, err := readAll(c, 1<<30)
		if err != io.EOF || string(got) != want || !c.HasEnded() {
			t.Errorf("slow %v: %v, %d bytes of %d, %.300q", isSlow, err, len(got), len(want), got)
		}
		granted := int64(windowRFC)
		r := http2.NewFramer(nil, bytes.NewReader(peer.sent.Bytes()[len(http2.ClientPreface):]))
		for f, err := r.ReadFrame(); err == nil; f, err = r.ReadFrame() {
			if update, ok := f.(*http2.WindowUpdateFrame); ok && update.StreamID == 0 {
				granted += int64(update.Increment)
			}
		}
		if spare := granted - int64(len(body)); spare < window/2 || spare > window {
			t.Errorf("the server may send %d bytes", spare)
		}
	}
}

// FuzzConn: whatever a server sends, the exchange ends, and takes memory and time in proportion to limits.
func FuzzConn(f *testing.F) {
	whole := response(strings.Repeat("many bytes ", 100))
	f.Add(whole, false)
	f.Add(whole[:len(whole)/2], true)
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), false)
	var bomb bytes.Buffer
	w := http2.NewFramer(&bomb, nil)
	_ = w.WriteSettings()
	fields := append([]byte{0x88, 0x40, 0x01, 'a', 0x7f, 0xa1, 0x16}, bytes.Repeat([]byte{'b'}, 3000)...)
	for range 40 {
		_ = w.WriteHeaders(http2.HeadersFrameParam{
			StreamID: 1, BlockFragment: append(fields, bytes.Repeat([]byte{0xbe}, 60)...), EndHeaders: true,
		})
	}
	f.Add(bomb.Bytes(), false)
	f.Fuzz(func(t *testing.T, sent []byte, isSlow bool) {
		const most = 2 << 20
		peer := &scripted{bytes: bytes.NewReader(sent), isSlow: isSlow}
		c := New(peer)
		_, _ = c.Write([]byte(request))
		began := time.Now()
		got, err := readAll(c, most)
		if took := time.Since(began); took > time.Second {
			t.Errorf("%d bytes took %v", len(sent), took)
		}
		if errors.Is(err, io.EOF) && !c.ended || err == nil && len(got) < most {
			t.Errorf("%v after %d bytes", err, len(got))
		}
		if answers := peer.sent.Len(); answers > 2*len(sent)+1<<10 {
			t.Errorf("%d bytes in answer to %d", answers, len(sent))
		}
		if peer.reads > 4*len(sent)+1000 {
			t.Errorf("%d reads of %d bytes", peer.reads, len(sent))
		}
		if len(got) > 0 && !bytes.HasPrefix(got, []byte("HTTP/1.1 ")) {
			t.Errorf("%.100q", got)
		}
	})
}
