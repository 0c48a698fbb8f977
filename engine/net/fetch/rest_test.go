package fetch

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/bodyfile"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc"
)

// longOptions are options under which a body of 700 KiB goes through a file.
func longOptions(t *testing.T, fsys vfs.FS, most bodyfile.Most) Options {
	t.Helper()
	store, err := bodyfile.Open(bodyfile.Options{
		FS: fsys, Dir: "bodies", Most: most, Warn: func(msg string, _ ...any) { t.Error(msg) },
		Wait: func(ctx context.Context, err error) error {
			if !vfs.IsPassing(err) {
				return err
			}
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return errors.Join(ctx.Err(), err)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions()
	o.HeaderMax, o.HeaderLineMax, o.BodyMax = 4<<10, 4<<10, 8<<20
	o.Long.MemoryMax, o.Long.Files = 1, store
	return o
}

// roomy is more than a test needs.
func roomy() bodyfile.Most { return bodyfile.Most{Bytes: 1 << 30, Files: 8} }

// wholeOf returns the response of a page, wherever it is.
func wholeOf(t *testing.T, p *Page) []byte {
	t.Helper()
	rest, size := p.Rest()
	if size == 0 {
		return bytes.Clone(p.Raw)
	}
	all, err := io.ReadAll(io.NewSectionReader(rest, 0, size))
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(p.Raw), all...)
}

// randomText is a body without repetitions.
func randomText(n int) string {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{7})
	_, _ = rng.Read(b)
	return string(b)
}

// Around the size of the largest buffer, with each framing, a page has the bytes that were sent and their digests. In
// memory it has 64 KiB of a body that is longer than the buffer, and when it goes home no file is left.
func TestRest_aLongBodyIsKeptWhole(t *testing.T) {
	disk := vfs.NewMem(1)
	o := longOptions(t, disk, roomy())
	slab := o.BufferMax()
	all := randomText(8 << 20)
	for _, framing := range []string{"length", "chunked", "close"} {
		for _, size := range []int{slab - 2000, slab - 100, slab - 1, slab, slab + 1, slab + 20_000, 2 * slab, 5 << 20} {
			body := all[:size]
			sent := framed(framing, body)
			name := fmt.Sprintf("%s, %d bytes", framing, size)
			fetchOnce(t, o, answer(sent, 0), testTarget(), func(p *Page) {
				if p.Outcome != outcome.OK || !p.Complete || p.PayloadLen != int64(size) || p.Size() != int64(len(sent)) {
					t.Fatalf("%s: %v %q, payload %d, size %d", name, p.Outcome, p.Err, p.PayloadLen, p.Size())
				}
				if string(wholeOf(t, p)) != sent {
					t.Fatalf("%s: other bytes", name)
				}
				if p.Digest != sha1.Sum([]byte(body)) || p.BlockDigest != sha1.Sum([]byte(sent)) {
					t.Errorf("%s: digests %x and %x", name, p.Digest, p.BlockDigest)
				}
				if string(p.Payload()) != body || p.RestFault() != nil {
					t.Errorf("%s: the payload has %d bytes", name, len(p.Payload()))
				}
				if _, rest := p.Rest(); rest > 0 && len(p.memory.raw.B) != 64<<10 {
					t.Errorf("%s: the page holds %d bytes of memory", name, len(p.memory.raw.B))
				}
			})
			if s := o.Long.Files.Stats(); s.Files != 0 || s.Bytes != 0 {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
	if names, err := disk.List("bodies"); err != nil || len(names) > 0 {
		t.Errorf("files left: %v %v", names, err)
	}
}

// What ends a long body early is said as for a short one, and the bytes that came are kept.
func TestRest_aLongBodyThatEndsEarly(t *testing.T) {
	body := randomText(2 << 20)
	chunked := framed("chunked", body)
	for _, c := range []struct {
		name, sent string
		max        int64
		want       outcome.Outcome
		cut        warc.Truncation
		kept       int // bytes of the response
	}{
		{"no more than --max-body", framed("close", body), 1 << 20, outcome.TruncatedLength,
			warc.TruncatedLength, 19 + 1<<20},
		{"exactly --max-body", framed("close", body), 2 << 20, outcome.OK, warc.TruncatedNone, 19 + 2<<20},
		{
			"a lost connection", framed("length", body)[:1500000], 8 << 20, outcome.TruncatedDisconnect,
			warc.TruncatedDisconnect, 1500000,
		},
		{"bad chunking", chunked[:47+4100*366] + "!!", 8 << 20, outcome.Protocol,
			warc.TruncatedUnspecified, 47 + 4100*366 + 1},
		{"bytes behind the body", chunked + "more", 8 << 20, outcome.OK, warc.TruncatedNone, len(chunked)},
	} {
		o := longOptions(t, vfs.NewMem(1), roomy()) // of its own: it remembers the hosts of endless bodies
		o.BodyMax = c.max
		fetchOnce(t, o, answer(c.sent, 0), testTarget(), func(p *Page) {
			if p.Outcome != c.want || p.Truncation != c.cut || p.Size() != int64(c.kept) {
				t.Errorf("%s: %v, cut %q, %d bytes", c.name, p.Outcome, p.Truncation, p.Size())
			}
			whole := wholeOf(t, p)
			if !strings.HasPrefix(c.sent, string(whole)) || p.BlockDigest != sha1.Sum(whole) {
				t.Errorf("%s: other bytes, or another digest", c.name)
			}
			if restored, ok, err := NewRestorer().Restore(p.URL, bytes.NewReader(whole), int64(len(whole))); err != nil || !ok ||
				restored.PayloadLen != p.PayloadLen {
				t.Errorf("%s: from the archive: %v %v %+v", c.name, ok, err, restored)
			}
		})
	}
}

// Of a body that is too long to be searched, a page from the archive has the same start as the page that was fetched.
func TestRest_whatIsSearchedIsTheSameFromTheArchive(t *testing.T) {
	o := longOptions(t, vfs.NewMem(1), roomy())
	o.BodyMax = 32 << 20
	for _, framing := range []string{"length", "chunked"} {
		sent := framed(framing, randomText(SearchMax+1<<20))
		fetchOnce(t, o, answer(sent, 0), testTarget(), func(p *Page) {
			restored, ok, err := NewRestorer().Restore(p.URL, strings.NewReader(sent), int64(len(sent)))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			if !bytes.Equal(restored.Payload(), p.Payload()) || p.IsSearchedWhole() || restored.IsSearchedWhole() {
				t.Errorf("%s: %d and %d bytes are searched", framing, len(restored.Payload()), len(p.Payload()))
			}
			if restored.Outcome != p.Outcome || restored.Digest != p.Digest || restored.BlockDigest != p.BlockDigest ||
				restored.PayloadLen != p.PayloadLen || restored.Size() != p.Size() {
				t.Errorf("%s: restored as %v, %d of %d bytes", framing, restored.Outcome, restored.PayloadLen, restored.Size())
			}
		})
	}
}

// A full disk makes the exchange wait, and nothing of the body is lost.
func TestRest_aFullDiskIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := faultfs.NewScript()
		for n := 1; n < 20; n += 3 {
			script.Add(faultfs.Rule{Op: faultfs.Write, From: n, Count: 1, Err: syscall.ENOSPC})
		}
		o := longOptions(t, faultfs.New(vfs.NewMem(1), script), roomy())
		sent := framed("chunked", randomText(3<<20))
		fetchOnce(t, o, answer(sent, 0), testTarget(), func(p *Page) {
			if p.Outcome != outcome.OK || string(wholeOf(t, p)) != sent {
				t.Errorf("%v %s, %d of %d bytes", p.Outcome, p.Err, p.Size(), len(sent))
			}
		})
	})
}

// Any other fault of the disk ends the exchange as if it had not begun.
func TestRest_aBrokenDiskIsNotTheServersFault(t *testing.T) {
	script := faultfs.NewScript()
	script.Add(faultfs.Rule{Op: faultfs.Write, From: 3, Count: 1, Err: syscall.EIO})
	o := longOptions(t, faultfs.New(vfs.NewMem(1), script), roomy())
	fetchOnce(t, o, answer(framed("close", randomText(3<<20)), 0), testTarget(), func(p *Page) {
		if p.Outcome != outcome.Cancelled || !errors.Is(p.RestFault(), syscall.EIO) {
			t.Errorf("%v, %v", p.Outcome, p.RestFault())
		}
	})
}

// A body that finds no room until its exchange must end is truncated; so is each long body without a Store.
func TestRest_withoutRoomABodyIsTruncated(t *testing.T) {
	for _, most := range []bodyfile.Most{{}, {Bytes: 1 << 30}} {
		synctest.Test(t, func(t *testing.T) {
			o := longOptions(t, vfs.NewMem(1), most)
			fetchOnce(t, o, answer(framed("close", randomText(2<<20)), 0), testTarget(), func(p *Page) {
				if p.Outcome != outcome.NoMemory || p.Truncation != warc.TruncatedUnspecified ||
					p.Size() != int64(o.BufferMax()) {
					t.Errorf("%v, cut %q, %d bytes", p.Outcome, p.Truncation, p.Size())
				}
			})
		})
	}
}

// A gibibyte may come at 70 KiB a second; what comes more slowly ends some minutes after its first two MiB.
func TestRest_aSlowLongBodyHasTimeInProportionToItsLength(t *testing.T) {
	slow := func(rate int) scriptDialer {
		return func(conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 41943040\r\n\r\n")
			piece := make([]byte, 10*rate)
			for sent := 0; sent < 40<<20; {
				n, err := conn.Write(piece[:min(len(piece), 40<<20-sent)])
				if sent += n; err != nil {
					return
				}
				time.Sleep(10 * time.Second)
			}
		}
	}
	o := longOptions(t, vfs.NewMem(1), roomy())
	o.BodyMax = 64 << 20
	timed(t, o, slow(70<<10), outcome.OK, 9*time.Minute, 11*time.Minute)
	timed(t, o, slow(16<<10), outcome.TruncatedTime, 5*time.Minute, 8*time.Minute)
}

// A host that sends endless bodies costs one of the limit. Later ones are kept as far as they fit into memory, unless
// their length is declared.
func TestRest_aHostOfEndlessBodiesCostsOneLongBody(t *testing.T) {
	o := longOptions(t, vfs.NewMem(1), roomy())
	o.BodyMax, o.Long.MemoryMax = 3<<20, 700<<10
	endless, declared := framed("close", randomText(4<<20)), framed("length", randomText(2<<20))
	other := testTarget()
	other.URL, other.Host = []byte("http://b.example/"), []byte("b.example")
	for i, c := range []struct {
		sent   string
		target *Target
		want   int64 // bytes of payload
	}{
		{endless, testTarget(), 3 << 20},
		{endless, testTarget(), 700 << 10},
		{framed("length", randomText(4<<20)), testTarget(), 700 << 10},
		{declared, testTarget(), 2 << 20},
		{endless, other, 3 << 20},
	} {
		fetchOnce(t, o, answer(c.sent, 0), c.target, func(p *Page) {
			if p.PayloadLen != c.want || p.Complete != (c.sent == declared) {
				t.Errorf("body %d: %d bytes are kept, not %d; %v", i, p.PayloadLen, c.want, p.Outcome)
			}
		})
	}
}
