package origin

import (
	"io"
	"net"
	"testing"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/content"
	"orbweaver/internal/simweb/judge"
)

// nullConn gives one request again and again and takes answers.
type nullConn struct {
	net.Conn
	request []byte
	left    int
	bytes   int64
}

func (c *nullConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	c.left--
	return copy(p, c.request), nil
}

func (c *nullConn) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

func (c *nullConn) Close() error                    { return nil }
func (c *nullConn) SetReadDeadline(time.Time) error { return nil }

// What a page costs the server without the network: made, logged and written.
func BenchmarkServe(b *testing.B) {
	w, err := New(simweb.Plain())
	if err != nil {
		b.Fatal(err)
	}
	log := w.NewLog()
	urls := make([]string, 0, 512)
	for i := range 512 {
		h := w.HostAt(i)
		urls = append(urls, string(w.AppendURL(nil, simweb.Target{Host: int32(i), Page: uint32(i % h.Pages)})))
	}
	b.ReportAllocs()
	n := 0
	var bytes int64
	for b.Loop() {
		c := &nullConn{
			request: []byte(
				"GET " + urls[n%len(urls)] + " HTTP/1.1\r\nHost: x\r\nUser-Agent: orbweaver/1 (+x)\r\nConnection: close\r\n\r\n",
			),
			left: 1,
		}
		w.Serve(c, ServeOptions{Log: log})
		bytes += c.bytes
		n++
	}
	b.ReportMetric(float64(bytes)/float64(n), "bytes/page")
}

func BenchmarkExpected(b *testing.B) {
	c := simweb.Plain()
	c.Hosts = 2000
	w, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	pages := 0
	for b.Loop() {
		pages += w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).Pages()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(pages), "ns/page")
}

// A page is made without allocation once the buffers have grown.
func TestPageAllocatesNothing(t *testing.T) {
	w := testWorld(t, simweb.Plain())
	d := new(content.Document)
	var body []byte
	h := w.HostAt(3)
	n := 0
	if got := testing.AllocsPerRun(200, func() {
		body, _ = w.writer.AppendPayload(body[:0], d, simweb.Target{Host: 3, Page: uint32(n % h.Pages)}, false)
		n++
	}); got > 0 {
		t.Errorf("%.1f allocations for a page", got)
	}
}

// What a page of today costs the server, packed.
func BenchmarkServePacked(b *testing.B) {
	w, err := New(simweb.Today())
	if err != nil {
		b.Fatal(err)
	}
	log := w.NewLog()
	b.ReportAllocs()
	n := 0
	var bytes int64
	for b.Loop() {
		c := &nullConn{
			request: []byte(
				"GET " + w.Root(n%w.Hosts()) + " HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
			),
			left: 1,
		}
		w.Serve(c, ServeOptions{Log: log})
		bytes += c.bytes
		n++
	}
	b.ReportMetric(float64(bytes)/float64(n), "bytes/page")
}
