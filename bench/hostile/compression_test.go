package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/internal/outcome"
)

// notes checks what crawl.log says behind the outcome of the last attempt at a URL.
func (tr *trial) notes(url, want string) {
	tr.Helper()
	all := tr.attempts(url)
	if len(all) == 0 {
		tr.Fatalf("%s was never tried", url)
	}
	if got := all[len(all)-1].note; got != want {
		tr.Errorf("%s: noted %q, want %q", url, got, want)
	}
}

// A bomb is kept as it came, to its last byte if a body may be that large; the links before the bomb are found, and
// reading stops at 16 MiB.
func TestHostile_Z01_aBombIsKeptAndNotUnpacked(t *testing.T) {
	play(t, "Z01", func(c *engine.Config) { c.Fetch.BodyMax = 16 << 20 }, func(tr *trial) {
		const url = "http://z01.test/"
		tr.wants(url, outcome.OK)
		tr.notes(url, "encoding:too-large")
		body := bodyOf(tr.record(url, ""))
		if n := len(body); n < 10<<20 || n > 12<<20 ||
			binary.LittleEndian.Uint32(body[n-4:]) != uint32((10<<30+len(bombStart))&0xffffffff) {
			tr.Errorf("%d bytes are kept", n)
		}
		tr.wants("http://z01.test/found", outcome.OK)
		if tr.report.BadEncodings != 1 {
			tr.Errorf("%d bad encodings", tr.report.BadEncodings)
		}
	})
}

// Bombs of all encodings, cut at the limit of a body; a window of 2 GiB is not opened.
func TestHostile_Z02_noEncodingIsABomb(t *testing.T) {
	play(t, "Z02", nil, func(tr *trial) {
		for path, fault := range map[string]string{
			"/zlib": "too-large", "/deflate": "too-large", "/br": "too-large", "/zstd": "bomb", "/zstd-window": "corrupt",
		} {
			url, o, cut := "http://z02.test"+path, outcome.OK, ""
			if path == "/zlib" || path == "/deflate" { // which are not as good at it
				o, cut = outcome.TruncatedLength, "length"
				fault += ",cause:more-than-the-limit"
			}
			tr.wants(url, o)
			tr.notes(url, "encoding:"+fault)
			if n := len(bodyOf(tr.record(url, cut))); n < 40<<10 {
				tr.Errorf("%s: %d bytes are kept", url, n)
			}
		}
	})
}

// One layer is removed; of more the page is kept and not read. A page that was packed once and is said to be twice is
// read.
func TestHostile_Z03_oneLayerIsRemoved(t *testing.T) {
	play(t, "Z03", nil, func(tr *trial) {
		for _, path := range []string{"/two", "/three", "/twenty", "/fields"} {
			url := "http://z03.test" + path
			tr.wants(url, outcome.OK)
			tr.notes(url, "encoding:layers")
			tr.never(url + "/found")
		}
		tr.wants("http://z03.test/said-twice", outcome.OK)
		tr.notes("http://z03.test/said-twice", "encoding:lie")
		tr.wants("http://z03.test/said-twice/found", outcome.ClientError)
	})
}

// What a body is counts more than what it is called. One that is packed and not said to be is no page: a browser would
// not unpack it either.
func TestHostile_Z04_aBodyIsReadForWhatItIs(t *testing.T) {
	play(t, "Z04", nil, func(tr *trial) {
		for path, note := range map[string]string{
			"/plain": "lie", "/br-plain": "lie", "/zstd-plain": "lie", "/deflate-plain": "lie", "/br": "lie", "/zstd": "lie",
			"/deflate": "lie",
			"/unknown": "unknown-encoding", "/nonsense": "unknown-encoding",
		} {
			url := "http://z04.test" + path
			tr.wants(url, outcome.OK)
			tr.notes(url, "encoding:"+note)
			tr.wants(url+"/found", outcome.ClientError)
		}
		tr.wants("http://z04.test/unsaid", outcome.OK)
		tr.never("http://z04.test/unsaid/found")
	})
}

// What unpacks is read, and damage to the packing is none to the exchange: the outcome is that of a whole answer.
func TestHostile_Z05_whatUnpacksIsRead(t *testing.T) {
	play(t, "Z05", nil, func(tr *trial) {
		for path, note := range map[string]string{
			"/cut": "truncated", "/sum": "corrupt", "/length": "corrupt", "/tail": "trailing", "/members": "",
			"/bad-member": "trailing", "/no-sum": "truncated",
		} {
			url := "http://z05.test" + path
			tr.wants(url, outcome.OK)
			tr.record(url, "")
			if note != "" {
				note = "encoding:" + note
			}
			tr.notes(url, note)
			tr.wants(url+"/found", outcome.ClientError)
		}
	})
}

// sink is a connection that keeps what is sent.
type sink struct {
	net.Conn
	sent bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) { return s.sent.Write(b) }

// The bombs are what they say they are: other people's readers find no fault with them.
func TestBombsUnpack(t *testing.T) {
	var s sink
	(&Exchange{Conn: &s}).sendGzip("start", 20)
	z, err := gzip.NewReader(&s.sent)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != "start"+strings.Repeat(" ", 20<<20) {
		t.Errorf("gzip: %d bytes, %v", len(got), err)
	}
	for path, unpack := range map[string]func(io.Reader) io.Reader{
		"/zlib":    func(r io.Reader) io.Reader { _, _ = io.CopyN(io.Discard, r, 2); return flate.NewReader(r) },
		"/deflate": func(r io.Reader) io.Reader { return flate.NewReader(r) },
		"/br":      func(r io.Reader) io.Reader { return brotli.NewReader(r) },
		"/zstd": func(r io.Reader) io.Reader {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(z.Close)
			return z
		},
	} {
		s.sent.Reset()
		playBomb(&Exchange{Conn: &s, Path: path})
		_, body, _ := bytes.Cut(s.sent.Bytes(), []byte("\r\n\r\n"))
		got, err := io.ReadAll(io.LimitReader(unpack(bytes.NewReader(body)), 16<<20))
		if err != nil || len(got) != 16<<20 || len(bytes.Trim(got, " ")) > 0 {
			t.Errorf("%s: %d bytes from %d, %v", path, len(got), len(body), err)
		}
	}
}

// BenchmarkBomb is what a parse worker spends on the first 2 MiB of a bomb.
func BenchmarkBomb(b *testing.B) {
	for _, path := range []string{"gzip", "/zlib", "/br", "/zstd"} {
		b.Run(strings.TrimPrefix(path, "/"), func(b *testing.B) {
			var s sink
			x := &Exchange{Conn: &s, Path: path}
			if path == "gzip" {
				x.encoded("gzip")
				x.sendGzip(bombStart, 10<<10)
			} else {
				playBomb(x)
			}
			p, ok := fetch.Stored([]byte("http://z02.test/"), s.sent.Bytes()[:min(s.sent.Len(), 2<<20)])
			if !ok {
				b.Fatal("no page")
			}
			d := coding.New(coding.Options{})
			n := 0
			for b.Loop() {
				body, _ := p.Decoded(d)
				n = len(body)
			}
			b.ReportMetric(float64(n)/(1<<20), "MiB")
		})
	}
}
