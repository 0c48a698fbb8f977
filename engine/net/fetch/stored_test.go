package fetch

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/net/fetch/coding"
	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
	"orbweaver/warc"
)

// stored makes a Page of response and checks what must hold for every one.
func stored(t *testing.T, response string) *Page {
	t.Helper()
	p, ok := Stored([]byte("http://a.example/x"), []byte(response))
	if !ok {
		t.Fatalf("%q: not taken", response)
	}
	if string(p.URL) != "http://a.example/x" || !p.HasHead() || int64(len(p.Payload())) != p.PayloadLen {
		t.Errorf("%q: %q, head of %d bytes, payload %q of %d", response, p.URL, p.HeadLen, p.Payload(), p.PayloadLen)
	}
	if p.Complete && p.Digest != sha1.Sum(p.Payload()) {
		t.Errorf("%q: digest %x", response, p.Digest)
	}
	return p
}

func TestStored(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name, response, payload string
		outcome                 outcome.Outcome
		complete                bool
		cut                     warc.Truncation
	}{
		{"identity", ok + "Content-Length: 5\r\n\r\nhello", "hello", outcome.OK,
			true, warc.TruncatedNone},
		{"until close", ok + "\r\nhello", "hello", outcome.OK,
			true, warc.TruncatedNone},
		{"empty", ok + "Content-Length: 0\r\n\r\n", "", outcome.OK, true, warc.TruncatedNone},
		{"one chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "hello", outcome.OK,
			true, warc.TruncatedNone},
		{"chunks", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello", outcome.OK, true,
			warc.TruncatedNone},
		{"no chunks", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", outcome.OK, true, warc.TruncatedNone},
		{"truncated", ok + "Content-Length: 50\r\n\r\nhello", "hello", outcome.TruncatedDisconnect,
			false, warc.TruncatedDisconnect},
		{"truncated chunks", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n50\r\nllo", "hello",
			outcome.TruncatedDisconnect,
			false, warc.TruncatedDisconnect},
		{"bad chunks", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\nx\r\n", "hello", outcome.Protocol,
			false, warc.TruncatedUnspecified},
		{"bad length", ok + "Content-Length: 5, 6\r\n\r\nhello", "hello", outcome.Protocol, false,
			warc.TruncatedUnspecified},
		{"LF only", "HTTP/1.0 404 Gone\nContent-Length: 5\n\nhello", "hello", outcome.ClientError, true,
			warc.TruncatedNone},
		{"redirect", "HTTP/1.1 302 F\r\nLocation: /y\r\n\r\n", "", outcome.Redirect, true, warc.TruncatedNone},
		{"robots of another time", ok + "content-type: text/plain\r\n\r\nUser-agent: *\nDisallow:",
			"User-agent: *\nDisallow:", outcome.OK, true, warc.TruncatedNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := stored(t, c.response)
			want := c.response
			if c.cut == warc.TruncatedUnspecified && strings.HasSuffix(want, "x\r\n") {
				want = strings.TrimSuffix(want, "\r\n") // nothing behind the byte that is none of a chunk's size
			}
			if string(p.Raw) != want || string(p.Payload()) != c.payload {
				t.Errorf("raw %q, payload %q", p.Raw, p.Payload())
			}
			if p.Outcome != c.outcome || p.Complete != c.complete || p.Truncation != c.cut {
				t.Errorf("%v, complete %v, cut %q, %s", p.Outcome, p.Complete, p.Truncation, p.Err)
			}
		})
	}
}

// Every awkward response that leaves a head to archive is the same page when it comes back from the archive.
func TestStoredAwkward(t *testing.T) {
	for _, c := range awkwardResponses() {
		fetchOnce(t, testOptions(), answer(c.response, 0), testTarget(), func(live *Page) {
			p, ok := Stored(live.URL, bytes.Clone(live.Raw))
			if ok != live.HasHead() {
				t.Errorf("%s: a head: %v, taken: %v", c.name, live.HasHead(), ok)
			}
			if ok &&
				(p.Outcome != live.Outcome || p.Status != live.Status || p.Complete != live.Complete || p.Flags != live.Flags ||
					p.Digest != live.Digest ||
					!bytes.Equal(p.Raw, live.Raw) || !bytes.Equal(p.Payload(), live.Payload())) {
				t.Errorf("%s: %d complete %v %q, was %d complete %v %q", c.name, p.Status, p.Complete, p.Payload(),
					live.Status, live.Complete, live.Payload())
			}
		})
	}
}

func TestStoredRefuses(t *testing.T) {
	for _, block := range []string{
		"", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n", "<html></html>\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nA: \x00\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
	} {
		if p, ok := Stored(nil, []byte(block)); ok || p != nil {
			t.Errorf("%q: taken", block)
		}
	}
}

// What stands before and after the response is no part of it, and an archive of others may hold both.
func TestStoredSurroundings(t *testing.T) {
	const interim, final = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	p := stored(t, "\r\n"+interim+"\n"+interim+final+"surplus")
	if string(p.Raw) != final || string(p.Interim) != interim+interim || string(p.Payload()) != "hello" ||
		!p.Complete ||
		p.Flags != FlagSurplus {
		t.Errorf("raw %q, interim %q, payload %q, flags %b", p.Raw, p.Interim, p.Payload(), p.Flags)
	}
}

// No limit of a Fetcher applies: the archive may have been made under others.
func TestStoredIsNotLimited(t *testing.T) {
	body := strings.Repeat("many bytes ", 1<<19)
	head := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<19) + "\r\n" + strings.Repeat("y: z\r\n", 2000)
	for framing, response := range map[string]string{"length": framed("length", body), "chunked": framed("chunked", body),
		"close": head + "\r\n" + body} {
		if p := stored(t, response); string(p.Payload()) != body || !p.Complete {
			t.Errorf("%s: %d bytes of payload, complete %v", framing, p.PayloadLen, p.Complete)
		}
	}
}

func TestStoredDecodesAndReads(t *testing.T) {
	want := html(30 << 10)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(want)
	_ = w.Close()
	response := strings.Replace(framed("chunked", packed.String()), "\r\n",
		"\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\nRetry-After: 7\r\n", 1)
	p := stored(t, response)
	if got, fault := p.Decoded(coding.New(coding.Options{})); !bytes.Equal(got, want) || fault != coding.OK {
		t.Errorf("%d bytes, %v", len(got), fault)
	}
	if wait, ok := p.Head().RetryAfter(p.Times.Ended); string(p.Head().ContentType()) != "text/html" || !ok ||
		wait.Wait != 7*time.Second {
		t.Errorf("%q, %v", p.Head().ContentType(), wait)
	}
	empty := pageOf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
	if got, fault := empty.Decoded(coding.New(coding.Options{})); len(got) != 0 || fault != coding.OK {
		t.Errorf("no body: %q, %v", got, fault)
	}
}

// FuzzStored: no block panics, and one reads like a live response of the same bytes, and like itself once archived.
func FuzzStored(f *testing.F) {
	for _, c := range awkwardResponses() {
		f.Add([]byte(c.response))
	}
	f.Add([]byte("\r\nHTTP/1.1 100 C\r\n\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi there"))
	f.Add([]byte(framed("chunked", strings.Repeat("x", 10_000))))
	f.Add([]byte("HTTP/1.1 511 Network Authentication Required\r\n\r\n"))
	pool := NewPool(PoolOptions{Pages: 1})
	conn := &memConn{}
	fetcher := NewFetcher(testOptions(), conn, pool)
	target := testTarget()
	f.Fuzz(func(t *testing.T, block []byte) {
		conn.response, conn.at = block, 0
		live := pool.TryGet()
		defer pool.Put(live)
		fetcher.Fetch(t.Context(), target, live)
		live.Sum(sha1pair.NewHasher())
		p, ok := Stored(target.URL, bytes.Clone(block))
		if live.Outcome == outcome.HeaderTooLarge || live.Truncation == warc.TruncatedLength {
			return // limits of the fetcher, which an archive does not have
		}
		if live.Outcome == outcome.ProxyFault {
			return // 511: of the network here, which stores nothing; of the server in an archive
		}
		if ok != live.HasHead() {
			t.Fatalf("%q: taken: %v; live: %v %s", block, ok, live.Outcome, live.Err)
		}
		if !ok {
			return
		}
		samePage(t, p, live)
		if p.Outcome != live.Outcome || p.Truncation != live.Truncation || p.Flags != live.Flags ||
			!bytes.Equal(p.Interim, live.Interim) {
			t.Errorf("stored %v %q %b %q, live %v %q %b %q", p.Outcome, p.Truncation, p.Flags, p.Interim,
				live.Outcome, live.Truncation, live.Flags, live.Interim)
		}
		again, ok := Stored(target.URL, bytes.Clone(live.Raw))
		if !ok {
			t.Fatalf("%q: not taken as archived", live.Raw)
		}
		samePage(t, again, live)
		if again.Outcome != live.Outcome || again.Truncation != live.Truncation {
			t.Errorf("as archived %v %q, live %v %q", again.Outcome, again.Truncation, live.Outcome, live.Truncation)
		}
	})
}

// samePage compares what a page is used for.
func samePage(t *testing.T, p, live *Page) {
	t.Helper()
	if p.Status != live.Status || p.Complete != live.Complete || p.payload.chunked != live.payload.chunked ||
		p.PayloadLen != live.PayloadLen ||
		p.HeadLen != live.HeadLen ||
		p.Digest != live.Digest {
		t.Errorf("stored %d complete %v payload %d digest %x, live %d complete %v payload %d digest %x", p.Status,
			p.Complete, p.PayloadLen, p.Digest, live.Status, live.Complete, live.PayloadLen, live.Digest)
	}
	if !bytes.Equal(p.Raw, live.Raw) || !bytes.Equal(p.Payload(), live.Payload()) {
		t.Errorf("stored %q %q, live %q %q", p.Raw, p.Payload(), live.Raw, live.Payload())
	}
}

func BenchmarkStored(b *testing.B) {
	for _, framing := range []string{"length", "chunked"} {
		b.Run(framing, func(b *testing.B) {
			block := []byte(framed(framing, string(html(16<<10))))
			b.ReportAllocs()
			b.SetBytes(16 << 10)
			for b.Loop() {
				p, _ := Stored(nil, block)
				p.Payload()
			}
		})
	}
}
