package coding_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"orbweaver/engine/net/fetch/coding"
	"orbweaver/internal/invariants"
)

// encode encodes body as one of the encodings, "raw" for deflate without its header.
func encode(t testing.TB, encoding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w, _ = gzip.NewWriterLevel(&b, 1)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 1)
	case "br":
		w = brotli.NewWriterLevel(&b, 1)
	case "zstd":
		w, _ = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	default:
		t.Fatal(encoding)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// decode decodes a payload whose Content-Encoding has that value.
func decode(d *coding.Decoder, header string, payload []byte) ([]byte, coding.Fault) {
	d.Reset()
	if fault := d.Add([]byte(header)); fault != coding.OK {
		return payload, fault
	}
	return d.Decode(payload)
}

func html(n int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<p>line %d of text %x</p>\n", b.Len(), rng.Uint32())
	}
	return b.Bytes()[:n]
}

func TestDecodeEncodings(t *testing.T) {
	d := coding.New(coding.Options{})
	for _, size := range []int{1, 100, 10_000, 1_000_000} {
		body := html(size)
		for _, c := range []struct{ header, encoding string }{
			{"gzip", "gzip"}, {"x-gzip", "gzip"}, {"GZip", "gzip"}, {"deflate", "deflate"}, {"deflate", "raw"}, {"br", "br"},
			{"zstd", "zstd"},
		} {
			got, fault := decode(d, c.header, encode(t, c.encoding, body))
			if fault != coding.OK || !bytes.Equal(got, body) {
				t.Errorf("%s of %d bytes: %v, %d bytes", c.encoding, size, fault, len(got))
			}
		}
	}
	for _, header := range []string{"identity", "", "none", "identity, identity"} {
		if got, fault := decode(d, header, []byte("abc")); fault != coding.OK || string(got) != "abc" {
			t.Errorf("%q: %v %q", header, fault, got)
		}
	}
	if got, fault := decode(d, "rot13", []byte("abc")); fault != coding.Unknown || string(got) != "abc" {
		t.Errorf("rot13: %v %q", fault, got)
	}
}

func TestHostile_Z01_Z02_bombsAreNotUnpacked(t *testing.T) {
	o := coding.Options{SizeMax: 4 << 20}
	d := coding.New(o)
	zeros := make([]byte, 64<<20)
	for _, encoding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		bomb := encode(t, encoding, zeros)
		header := strings.Replace(encoding, "raw", "deflate", 1)
		got, fault := decode(d, header, bomb)
		if (fault != coding.Bomb && fault != coding.TooLarge) || len(got) > o.SizeMax || len(got) < 1<<20 || got[0] != 0 {
			t.Errorf("%s bomb of %d bytes: %v, %d bytes", encoding, len(bomb), fault, len(got))
		}
	}
	// The ratio of 200:1 counts only beyond the first MiB: a page of spaces is accepted.
	if got, fault := decode(d, "gzip", encode(t, "gzip", zeros[:1<<20])); fault != coding.OK ||
		len(got) != 1<<20 {
		t.Errorf("1 MiB of zeros: %v, %d bytes", fault, len(got))
	}
	if got, fault := decode(d, "gzip", encode(t, "gzip", zeros[:3<<20])); fault != coding.Bomb ||
		len(got) > 1<<20 {
		t.Errorf("3 MiB of zeros: %v, %d bytes", fault, len(got))
	}
}

func TestHostile_Z02_largeWindowsAreNotOpened(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1),
		zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(html(1 << 20))
	_ = w.Flush() // so that the size is not known and the window is what was asked for
	_, _ = w.Write(html(1 << 20))
	_ = w.Close()
	if got, fault := decode(coding.New(coding.Options{}), "zstd", b.Bytes()); fault != coding.Corrupt ||
		len(got) != 0 {
		t.Errorf("window of 64 MiB: %v, %d bytes", fault, len(got))
	}
}

func TestHostile_Z03_oneLayerIsRemoved(t *testing.T) {
	body := html(5000)
	layered := encode(t, "zstd", encode(t, "br", encode(t, "gzip", body)))
	if got, fault := decode(coding.New(coding.Options{LayersMax: 3}), "gzip, br, zstd",
		layered); fault != coding.OK ||
		!bytes.Equal(got, body) {
		t.Errorf("three layers of three: %v, %d bytes", fault, len(got))
	}
	d := coding.New(coding.Options{})
	for _, header := range []string{"gzip, br, zstd", strings.Repeat("gzip, ", 19) + "gzip", "gzip, zstd", "br, zstd",
		"deflate, zstd"} {
		if got, fault := decode(d, header, layered); fault != coding.Layers || !bytes.Equal(got, layered) {
			t.Errorf("%s: %v, %d bytes", header, fault, len(got))
		}
	}
	// A transfer coding around a content encoding is a second layer.
	both := encode(t, "gzip", encode(t, "br", body))
	d.Reset()
	d.Add([]byte("br"))
	d.Add([]byte("gzip, chunked"))
	if got, fault := d.Decode(both); fault != coding.Layers || !bytes.Equal(got, both) {
		t.Errorf("a transfer coding around a content encoding: %v, %d bytes", fault, len(got))
	}
	for _, header := range []string{"gzip, gzip", "br, gzip", "gzip,gzip,gzip"} {
		if got, fault := decode(d, header, encode(t, "gzip", body)); fault != coding.Lie ||
			!bytes.Equal(got, body) {
			t.Errorf("%s of a body that was packed once: %v, %d bytes", header, fault, len(got))
		}
	}
}

func TestHostile_Z04_aBodyIsDecodedForWhatItIs(t *testing.T) {
	d := coding.New(coding.Options{})
	body := html(5000)
	for _, says := range []string{"gzip", "deflate", "br", "zstd"} {
		if got, fault := decode(d, says, body); fault != coding.Lie || !bytes.Equal(got, body) {
			t.Errorf("says %s, is plain: %v, %d bytes", says, fault, len(got))
		}
		for _, is := range []string{"gzip", "zstd"} {
			if says == is {
				continue
			}
			if got, fault := decode(d, says, encode(t, is, body)); fault != coding.Lie ||
				!bytes.Equal(got, body) {
				t.Errorf("says %s, is %s: %v, %d bytes", says, is, fault, len(got))
			}
		}
	}
}

func TestHostile_Z05_whatUnpacksComesOut(t *testing.T) {
	d := coding.New(coding.Options{})
	body := html(600_000)
	for _, encoding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		whole := encode(t, encoding, body)
		header := strings.Replace(encoding, "raw", "deflate", 1)
		got, fault := decode(d, header, whole[:len(whole)/2])
		if fault != coding.Truncated || !bytes.HasPrefix(body, got) || len(got) == 0 {
			t.Errorf("half of %s: %v, %d bytes", encoding, fault, len(got))
		}
	}
	whole := encode(t, "gzip", body)
	bad := bytes.Clone(whole)
	bad[len(bad)-5] ^= 1
	if got, fault := decode(d, "gzip", bad); fault != coding.Corrupt || !bytes.Equal(got, body) {
		t.Errorf("bad checksum: %v, %d bytes", fault, len(got))
	}
	if got, fault := decode(d, "gzip", append(bytes.Clone(whole),
		"garbage, more than a header"...)); fault != coding.Trailing ||
		!bytes.Equal(got, body) {
		t.Errorf("trailing bytes: %v, %d bytes", fault, len(got))
	}
	if got, fault := decode(d, "gzip", append(bytes.Clone(whole), whole...)); fault != coding.OK ||
		len(got) != 2*len(body) {
		t.Errorf("two members: %v, %d bytes", fault, len(got))
	}
}

func TestDecoderReuseDoesNotAllocate(t *testing.T) {
	d := coding.New(coding.Options{})
	for _, encoding := range []string{"gzip", "deflate", "zstd"} {
		payload := encode(t, encoding, html(50_000))
		decode(d, encoding, payload)
		decode(d, encoding, payload)
		d.Reset()
		d.Add([]byte(encoding))
		if n := testing.AllocsPerRun(20, func() { d.Decode(payload) }); n > 0 && !invariants.Race {
			t.Errorf("%s: %v allocations", encoding, n)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, encoding := range []string{"gzip", "br", "zstd"} {
		b.Run(encoding, func(b *testing.B) {
			d, payload := coding.New(coding.Options{}), encode(b, encoding, html(64<<10))
			b.ReportAllocs()
			b.SetBytes(64 << 10)
			for b.Loop() {
				decode(d, encoding, payload)
			}
		})
	}
}

// FuzzDecode: whatever the bytes, decoding ends, within its limits.
func FuzzDecode(f *testing.F) {
	body := html(300)
	for i, encoding := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		f.Add(byte(i), encode(f, encoding, body))
	}
	f.Add(byte(9), encode(f, "gzip", encode(f, "br", body)))
	for i, encoding := range []string{"gzip", "deflate", "raw", "br", "zstd"} { // what the cases of compression do
		whole := encode(f, encoding, body)
		bomb := encode(f, encoding, make([]byte, 1<<18))
		f.Add(byte(i), whole[:len(whole)/2])
		f.Add(byte(i), append(bytes.Clone(whole), "trailing"...))
		f.Add(byte(i), append(bytes.Clone(whole), whole...))
		f.Add(byte(i), append(whole[:len(whole)-5:len(whole)-5], "wrong"...))
		f.Add(byte(i), bomb)
		f.Add(byte(i+1), whole) // a lie
		f.Add(byte(i), body)    // another
	}
	f.Add(byte(4), []byte("\x28\xb5\x2f\xfd\x00\xa8\x02\x00\x10 \x02\x00\x10 \x03\x00\x10 ")) // a window of 2 GiB
	f.Add(byte(4), []byte("\x50\x2a\x4d\x18\x04\x00\x00\x00skip"))                            // a frame to skip
	o := coding.Options{SizeMax: 1 << 16, RatioFree: 1 << 12, RatioMax: 10}
	d := coding.New(o)
	f.Fuzz(func(t *testing.T, which byte, payload []byte) {
		headers := []string{
			"gzip",
			"deflate",
			"deflate",
			"br",
			"zstd",
			"gzip, gzip",
			"br, gzip",
			"gzip, zstd",
			"deflate, br",
			"br, gzip",
		}
		got, _ := decode(d, headers[int(which)%len(headers)], payload)
		if len(got) > max(o.SizeMax, len(payload)) {
			t.Errorf("%d bytes from %d", len(got), len(payload))
		}
	})
}
