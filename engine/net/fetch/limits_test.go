package fetch

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// smallOptions are limits that a test can reach quickly.
func smallOptions() Options {
	o := testOptions()
	o.BodyMax, o.HeaderMax, o.HeaderLineMax = 100<<10, 16<<10, 4<<10
	return o
}

func TestHostile_H04_anEndlessLineIsCut(t *testing.T) {
	o := smallOptions()
	endless := "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)
	fetchOnce(t, o, answer(endless, 999), testTarget(), func(p *Page) {
		if p.Outcome != outcome.HeaderTooLarge || len(p.Raw) < o.HeaderLineMax || len(p.Raw) > o.HeaderMax {
			t.Errorf("%v, %d bytes kept", p.Outcome, len(p.Raw))
		}
		if !strings.HasPrefix(endless, string(p.Raw)) {
			t.Error("what is kept is not what came")
		}
	})
}

func TestHostile_H05_fieldsAreCounted(t *testing.T) {
	for _, n := range []int{10, 1000, 1001, 100_000} {
		response := "HTTP/1.1 200 OK\r\n" + strings.Repeat("a:b\r\n", n) + "\r\n"
		fetchOnce(t, testOptions(), answer(response, 0), testTarget(), func(p *Page) {
			want := outcome.OK
			if n > 1000 {
				want = outcome.HeaderTooLarge
			}
			if p.Outcome != want {
				t.Errorf("%d header lines: %v", n, p.Outcome)
			}
		})
	}
}

func TestHostile_H04_H05_aHeadIsAsLongAsItMayBe(t *testing.T) {
	o := smallOptions()
	for _, extra := range []int{0, 1} {
		head := "HTTP/1.1 200 OK\r\n" + strings.Repeat("x: "+strings.Repeat("y", 1000)+"\r\n", 16)
		head += "x: " + strings.Repeat("z", o.HeaderMax-len(head)-7+extra) + "\r\n\r\n"
		for _, piece := range []int{0, 1000} {
			fetchOnce(t, o, answer(head+"body", piece), testTarget(), func(p *Page) {
				if (p.Outcome == outcome.OK) != (extra == 0) || (extra > 0 && p.Outcome != outcome.HeaderTooLarge) {
					t.Errorf("head of %d bytes: %v", len(head), p.Outcome)
				}
				if extra > 0 && len(p.Raw) > o.HeaderMax {
					t.Errorf("%d bytes of it are kept, in pieces of %d", len(p.Raw), piece)
				}
			})
		}
	}
}

func TestHostile_H06_anEndlessBodyIsCut(t *testing.T) {
	o := smallOptions()
	endless := scriptDialer(func(conn net.Conn) {
		readRequest(conn)
		_, err := conn.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		for block := bytes.Repeat([]byte{'x'}, 10_000); err == nil; {
			_, err = conn.Write(block)
		}
	})
	fetchOnce(t, o, endless, testTarget(), func(p *Page) {
		if p.Outcome != outcome.TruncatedLength || p.Truncation.String() != "length" || p.Complete ||
			int64(len(p.Body())) != o.BodyMax {
			t.Errorf("%v %q, %d bytes", p.Outcome, p.Truncation, len(p.Body()))
		}
	})
}

// A body is cut only if a byte was dropped, by whatever its end is known, and never keeps more than the limit.
func TestHostile_H07_aBodyIsCutOnlyIfAByteWasDropped(t *testing.T) {
	o := smallOptions()
	for _, framing := range []string{"close", "length", "chunked"} {
		for _, over := range []int{-1, 0, 1} {
			for _, piece := range []int{0, 1009} {
				body := strings.Repeat("x", int(o.BodyMax)+over)
				fetchOnce(t, o, answer(framed(framing, body), piece), testTarget(), func(p *Page) {
					kept := min(len(body), int(o.BodyMax))
					cut := p.Truncation == warc.TruncatedLength
					if cut != (over > 0) || p.Complete == cut || len(p.Payload()) != kept {
						t.Errorf("%s%+d: %v, cut %q, %d bytes kept", framing, over, p.Outcome, p.Truncation, len(p.Payload()))
					}
				})
			}
		}
	}
}

// framed returns a response with that body.
func framed(framing, body string) string {
	switch framing {
	case "length":
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	case "chunked":
		var b strings.Builder
		b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for rest := body; rest != ""; {
			n := min(len(rest), 4093)
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, rest[:n])
			rest = rest[n:]
		}
		b.WriteString("0\r\n\r\n")
		return b.String()
	default:
		return "HTTP/1.1 200 OK\r\n\r\n" + body
	}
}

// Old servers pad the size of each chunk with spaces or zeros, and others add an extension to each. A large file of
// small chunks is whole all the same.
func TestChunks_ofALargeFileMayAllBePadded(t *testing.T) {
	const chunks = 6000
	for _, line := range []string{"64    \r\n", "00000064\r\n", "64;chunk-signature=0123456789abcdef\r\n"} {
		chunk := line + strings.Repeat("x", 100) + "\r\n"
		body := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, chunks) + "0\r\n\r\n"
		o := smallOptions()
		o.BodyMax = 8 << 20
		fetchOnce(t, o, answer(body, 0), testTarget(), func(p *Page) {
			if p.Outcome != outcome.OK || p.PayloadLen != 100*chunks {
				t.Errorf("%q: %v, %d bytes", line, p.Outcome, p.PayloadLen)
			}
		})
	}
}

func TestHostile_H13_whatChunksCostIsBounded(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	o := smallOptions()
	fetchOnce(t, o, answer(head+"1;"+strings.Repeat("x", 1<<20)+"\r\nx\r\n0\r\n\r\n", 0), testTarget(), func(p *Page) {
		if p.Outcome != outcome.Protocol || p.Truncation != warc.TruncatedUnspecified || len(p.Body()) > 4096+1 {
			t.Errorf("extension of 1 MiB: %v, %d bytes kept", p.Outcome, len(p.Body()))
		}
	})
	line := "1;" + strings.Repeat("x", 4000) + "\r\nx\r\n"
	fetchOnce(t, o, answer(head+strings.Repeat(line, 100)+"0\r\n\r\n", 0), testTarget(), func(p *Page) {
		if p.Outcome != outcome.Protocol || len(p.Body()) > 25_000 {
			t.Errorf("a hundred extensions of 4000 bytes: %v, %d bytes kept", p.Outcome, len(p.Body()))
		}
	})
	fetchOnce(t, o, answer(head+strings.Repeat("1\r\nx\r\n", 1<<17)+"0\r\n\r\n", 0), testTarget(), func(p *Page) {
		if p.Outcome != outcome.TruncatedLength || int64(len(p.Body())) > rawBodyMax(o.BodyMax) {
			t.Errorf("one-byte chunks: %v, %d bytes kept", p.Outcome, len(p.Body()))
		}
		if got := string(p.Payload()); got != strings.Repeat("x", int(p.PayloadLen)) {
			t.Errorf("payload of %d bytes is wrong", len(got))
		}
	})
}

func TestHostile_H14_aTrailerIsBounded(t *testing.T) {
	response := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + strings.Repeat("a: b\r\n",
		1<<18) + "\r\n"
	fetchOnce(t, smallOptions(), answer(response, 0), testTarget(), func(p *Page) {
		if p.Outcome != outcome.TruncatedDisconnect || string(p.Payload()) != "x" || len(p.Raw) > 16<<10+200 {
			t.Errorf("%v, payload %q, %d bytes kept", p.Outcome, p.Payload(), len(p.Raw))
		}
	})
}

// A robots.txt is read to 500 KiB and one byte, whatever the limit for pages.
func TestRobotsLimit(t *testing.T) {
	target := testTarget()
	target.Robots = true
	fetchOnce(t, smallOptions(), answer(framed("close", strings.Repeat("#", 600<<10)), 0), target, func(p *Page) {
		if p.Outcome != outcome.TruncatedLength || p.PayloadLen != RobotsBodyMax {
			t.Errorf("%v, %d bytes", p.Outcome, p.PayloadLen)
		}
	})
}

// If all buffers are in use and none is returned in time, the body is truncated, marked and counted.
func TestNoMemory(t *testing.T) {
	o := smallOptions()
	o.TotalTimeout = 200 * time.Millisecond
	pool := NewPool(PoolOptions{Pages: 2, Mids: 1, MidBytes: 64 << 10, Slabs: 1, SlabBytes: o.BufferMax()})
	body := strings.Repeat("x", 90<<10)
	f := NewFetcher(o, answer(framed("length", body), 0), pool)
	first, second := pool.TryGet(), pool.TryGet()
	if got := f.Fetch(t.Context(), testTarget(), first); got != outcome.OK {
		t.Fatal(got, first.Err)
	}
	if got := f.Fetch(t.Context(), testTarget(), second); got != outcome.NoMemory || second.Complete ||
		second.Truncation.String() != "unspecified" || len(second.Raw) != 64<<10 {
		t.Errorf("%v complete %v cut %q, %d bytes", got, second.Complete, second.Truncation, len(second.Raw))
	}
	if s := pool.Stats(); s.Exhausted != 1 || s.BuffersOut[2] != 1 {
		t.Errorf("%+v", s)
	}
	pool.Put(first)
	if got := f.Fetch(t.Context(), testTarget(), second); got != outcome.OK || string(second.Payload()) != body {
		t.Errorf("with the slab free again: %v", got)
	}
	pool.Put(second)
	pool.Close()
}

// A body that needs a buffer while all are in use gets the next one that is returned; or the context ends, and the wait
// with it.
func TestBodiesWaitForBuffers(t *testing.T) {
	o := smallOptions()
	pool := NewPool(PoolOptions{Pages: 2, Mids: 1, MidBytes: 64 << 10, Slabs: 1, SlabBytes: o.BufferMax()})
	body := strings.Repeat("x", 90<<10)
	f := NewFetcher(o, answer(framed("length", body), 0), pool)
	first, second := pool.TryGet(), pool.TryGet()
	for _, back := range []bool{true, false} {
		if got := f.Fetch(t.Context(), testTarget(), first); got != outcome.OK {
			t.Fatal(got, first.Err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan outcome.Outcome)
		go func() {
			ended <- NewFetcher(o, answer(framed("length", body), 0), pool).Fetch(ctx, testTarget(), second)
		}()
		for pool.buffers.WaitingCount() == 0 {
			runtime.Gosched()
		}
		want := outcome.Cancelled
		if back {
			want = outcome.OK
			pool.Put(first)
		} else {
			cancel()
		}
		if got := <-ended; got != want || back && string(second.Payload()) != body {
			t.Errorf("%v, %d bytes, want %v", got, len(second.Raw), want)
		}
		cancel()
		if back {
			first = pool.TryGet()
		}
		second.memory.release()
	}
	pool.Put(first)
	pool.Put(second)
	pool.Close()
}
