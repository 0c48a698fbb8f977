package coding_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"orbweaver/engine/net/fetch/coding"
)

// bitWriter writes a compressed stream bit by bit, the lowest first.
type bitWriter struct {
	b []byte
	n uint
}

func (w *bitWriter) put(v uint64, n uint) {
	for i := range n {
		if w.n&7 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[len(w.b)-1] |= byte(v>>i&1) << (w.n & 7)
		w.n++
	}
}

// emptyBlocks is a gzip member of so many blocks with codes of their own that hold nothing; each has 11 bytes.
func emptyBlocks(n int) []byte {
	w := &bitWriter{b: []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, n: 80}
	for i := range n {
		last := uint64(0)
		if i == n-1 {
			last = 1
		}
		w.put(last|2<<1|14<<13, 17) // 257 literals, 1 distance, 18 lengths of lengths
		for _, symbol := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1} {
			if symbol == 18 || symbol == 1 {
				w.put(1, 3)
			} else {
				w.put(0, 3)
			}
		}
		w.put(1|127<<1|1<<8|107<<9, 16)
		w.put(0, 3)
	}
	return append(w.b, 0, 0, 0, 0, 0, 0, 0, 0)
}

// manyCodes is a brotli stream of n meta-blocks of one byte, each with 256 prefix codes for literals, in some 400
// bytes.
func manyCodes(n int) []byte {
	w := &bitWriter{}
	w.put(0, 1)
	for range n {
		w.put(0, 1+2+16+1)       // not the last; one byte
		w.put(0, 3+6+2)          // one type of each kind of block; no postfix, no direct distances
		w.put(1|7<<1|127<<4, 11) // 256 trees of literals
		w.put(0, 1)              // a context map without runs, of one symbol
		w.put(1, 2+2+8)
		w.put(0, 1+1) // not inverted; one tree of distances
		for i := range uint64(256) {
			w.put(1|i<<4, 2+2+8)
		}
		w.put(1|8<<4, 2+2+10) // one literal, and a copy that is not reached
		w.put(1, 2+2+6)
	}
	w.put(3, 2)
	return w.b
}

// manyTables is a zstd frame of n blocks with three state tables each, 1,280 states, in 16 bytes; each holds a match of
// three bytes.
func manyTables(n int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3, 16 << 3, 0, 0}
	b = append(b, "sixteen letters."...)
	for range n {
		block := []byte{0, 1, 0xa8, 0xe4, 0xff, 0xe3, 0x7f, 0xe4, 0xff, 0, 0, 0, 1 << 2}
		b = append(append(b, byte(len(block)<<3|2<<1), 0, 0), block...)
	}
	return append(b, 1, 0, 0)
}

// Compressed bodies that cost more CPU than their size allows are truncated. Once a response of 86 KB, packed twice,
// held 16 MB of empty blocks and cost 6.5 s.
func TestABodyThatCostsMoreThanItsSizeAllowsIsCut(t *testing.T) {
	once := emptyBlocks(80_000)
	twice := encode(t, "gzip", once)
	if len(twice) > 16<<10 {
		t.Fatalf("%d bytes are %d when packed again", len(once), len(twice))
	}
	noise := make([]byte, 5<<20)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	const opaque = 4 << 20
	for what, c := range map[string]struct {
		header string
		body   []byte
		want   coding.Fault
		least  int // bytes that come out
	}{
		"empty blocks":        {"gzip", once, coding.Work, 0},
		"empty blocks, few":   {"gzip", emptyBlocks(4000), coding.OK, 0},
		"packed twice":        {"gzip, gzip", twice, coding.Layers, len(twice)},
		"zstd of tables":      {"zstd", manyTables(60_000), coding.Work, 3 * 1000},
		"zstd, few tables":    {"zstd", manyTables(1300), coding.OK, 3 * 1300},
		"brotli of 5 MiB":     {"br", encode(t, "br", noise), coding.Work, opaque - 128<<10},
		"zstd of 5 MiB":       {"zstd", encode(t, "zstd", noise), coding.Work, opaque - 512<<10},
		"brotli of 3 MiB":     {"br", encode(t, "br", noise[:3<<20]), coding.OK, 3 << 20},
		"zstd of 3 MiB":       {"zstd", encode(t, "zstd", noise[:3<<20]), coding.OK, 3 << 20},
		"gzip of 5 MiB":       {"gzip", encode(t, "gzip", noise), coding.OK, 5 << 20},
		"text, flushed often": {"gzip", encode(t, "gzip", html(1<<20)), coding.OK, 1 << 20},
	} {
		sent := bytes.Clone(c.body)
		got, fault := decode(coding.New(coding.Options{}), c.header, c.body)
		if fault != c.want || len(got) < c.least {
			t.Errorf("%s: %v and %d bytes, want %v and at least %d", what, fault, len(got), c.want, c.least)
		}
		if !bytes.Equal(c.body, sent) {
			t.Errorf("%s: the bytes for the archive have changed", what)
		}
	}
}

// The limits for blocks do not change valid bodies of many shapes.
func TestHonestZstdIsDecodedWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	d := coding.New(coding.Options{})
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBestCompression} {
		for _, flush := range []int{100, 1000, 20_000, 1 << 20} {
			var b bytes.Buffer
			w, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			body := html(1 << 20)
			for at := 0; at < len(body); {
				n := min(1+rng.IntN(2*flush), len(body)-at)
				_, _ = w.Write(body[at : at+n])
				_ = w.Flush()
				at += n
			}
			_ = w.Close()
			packed := append([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00skip"), b.Bytes()...)
			if got, fault := decode(d, "zstd", packed); fault != coding.OK || !bytes.Equal(got, body) {
				t.Errorf("level %v, flushed every %d bytes: %v, %d of %d bytes", level, flush, fault, len(got),
					len(body))
			}
		}
	}
}

// BenchmarkHostileBodies measures what an encoded byte can cost.
func BenchmarkHostileBodies(b *testing.B) {
	for _, c := range []struct {
		name, header string
		body         []byte
	}{
		{"gzip-empty-blocks", "gzip", emptyBlocks(80_000)},
		{"gzip-empty-members", "gzip", bytes.Repeat(append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 3},
			make([]byte, 9)...), 50_000)},
		{"zstd-empty-frames", "zstd", bytes.Repeat([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3, 1, 0, 0}, 100_000)},
		{"zstd-empty-blocks", "zstd", append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3}, make([]byte, 999_999)...)},
		{"zstd-tables", "zstd", manyTables(60_000)},
		{"brotli-codes", "br", manyCodes(2500)},
		{"brotli-metadata", "br", append(append([]byte{0x0c}, bytes.Repeat([]byte{6}, 999_999)...), 3)},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := coding.New(coding.Options{})
			var fault coding.Fault
			var got []byte
			for b.Loop() {
				got, fault = decode(d, c.header, c.body)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.body)), "ns/byte")
			b.Logf("%d bytes: %d come out, %v", len(c.body), len(got), fault)
		})
	}
}
