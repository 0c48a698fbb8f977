package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	fast "github.com/klauspost/compress/gzip"
)

const noLimit = 1 << 30

// html is about n bytes as a template writes them.
func html(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<div class=\"card card--wide\" data-id=\"%d\"><h3 class=\"card__title\">", r.IntN(1<<20))
		for range 3 + r.IntN(20) {
			fmt.Fprintf(&b, "word%x ", r.ExpFloat64()*20)
		}
		b.WriteString("</h3></div>\n")
	}
	return b.Bytes()[:n]
}

func noise(n int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// texts are inputs of every kind there is.
func texts() map[string][]byte {
	skewed := noise(100_000)
	for i, c := range skewed {
		skewed[i] = [...]byte{c, c & 15, c & 3, 0}[c>>6] // words of many lengths
	}
	repeats := append(noise(40_000), noise(40_000)...)
	var near []byte
	for k := 1; k < 40; k++ { // every small distance
		near = append(near, bytes.Repeat(noise(64)[:k], 300/k+2)...)
		near = append(near, byte(k), 255)
	}
	return map[string][]byte{
		"nothing": nil, "a byte": {7}, "html": html(300_000), "noise": noise(200_000), "zeros": make([]byte, 1_000_000),
		"skewed":      skewed,
		"far repeats": repeats, "near repeats": near, "text": []byte("the quick brown fox"),
		"one in many": append(make([]byte, 70_000), noise(10)...),
	}
}

func packRaw(t testing.TB, text []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for len(text) > 0 { // flushes make blocks of every kind
		n := min(len(text), 50_001)
		_, _ = z.Write(text[:n])
		_ = z.Flush()
		text = text[n:]
	}
	_ = z.Close()
	return b.Bytes()
}

func packGzip(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, 6)
	if err != nil {
		t.Fatal(err)
	}
	z.Name, z.Comment, z.Extra = "a name", "a comment", []byte("extra")
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

func TestZ4_WhatOthersPackComesOut(t *testing.T) {
	d := NewDecoder()
	for name, text := range texts() {
		for level := flate.HuffmanOnly; level <= 9; level++ {
			packed := packRaw(t, text, level)
			got, used, err := d.Raw([]byte("before"), append(packed, "behind"...), noLimit)
			if err != nil || used != len(packed) || !bytes.Equal(got[6:], text) {
				t.Fatalf(
					"%s at level %d: %d bytes of %d, %d used of %d: %v", name, level, len(got)-6, len(text), used, len(packed),
					err,
				)
			}
		}
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write(text)
		_ = z.Close()
		if got, err := d.Zlib(nil, append(b.Bytes(), "behind"...), noLimit); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s as zlib: %d bytes, %v", name, len(got), err)
		}
		one := packGzip(t, text)
		got, err := d.Gzip(nil, append(one, one...), noLimit)
		if err != nil || !bytes.Equal(got, append(bytes.Clone(text), text...)) {
			t.Errorf("%s in two members: %d bytes, %v", name, len(got), err)
		}
		if got, err := d.Gzip(nil, append(one, "\n\n"...), noLimit); !errors.Is(err, ErrTrailing) || !bytes.Equal(got, text) {
			t.Errorf("%s with more behind it: %d bytes, %v", name, len(got), err)
		}
	}
}

// However much of a stream is missing, what is there comes out, and nothing that is not.
func TestZ6_WhatIsThereOfATruncatedStreamComesOut(t *testing.T) {
	d := NewDecoder()
	for name, text := range texts() {
		packed := packGzip(t, text)
		before := 0
		for n := 0; n < len(packed); n += 1 + len(packed)/300 {
			got, err := d.Gzip(nil, packed[:n], noLimit)
			if !errors.Is(err, ErrTruncated) || !bytes.HasPrefix(text, got) || len(got) < before {
				t.Fatalf("%s: the first %d bytes of %d give %d, %v", name, n, len(packed), len(got), err)
			}
			before = len(got)
		}
	}
}

func TestZ5_OutputEndsAtTheLimit(t *testing.T) {
	d := NewDecoder()
	for name, text := range texts() {
		packed := packRaw(t, text, 6)
		for _, limit := range []int{0, 1, 100, len(text) / 2, len(text) - 1} {
			if limit < 0 || limit >= len(text) {
				continue
			}
			got, _, err := d.Raw(nil, packed, limit)
			if !errors.Is(err, ErrLimit) || len(got) <= limit || len(got) > limit+overshoot || !bytes.HasPrefix(text, got) {
				t.Errorf("%s with limit %d: %d bytes, %v", name, limit, len(got), err)
			}
		}
		if got, _, err := d.Raw(nil, packed, len(text)); err != nil || len(got) != len(text) {
			t.Errorf("%s with just enough room: %d bytes, %v", name, len(got), err)
		}
	}
}

// sameAsLibrary holds one input against the standard library.
func sameAsLibrary(t *testing.T, d *Decoder, src []byte) {
	t.Helper()
	const limit = 1 << 22
	in := bytes.NewReader(src)
	want, err := io.ReadAll(io.LimitReader(flate.NewReader(in), limit+1))
	got, used, ours := d.Raw(nil, src, limit)
	if d.blocks > blocksFree+len(src)/blocksInput+len(got)/blocksOutput+1 {
		t.Fatalf("tables were made for %d blocks of %d bytes, from which came %d", d.blocks, len(src), len(got))
	}
	switch {
	case errors.Is(ours, ErrWork):
		if !bytes.HasPrefix(want, got) {
			t.Fatalf("% x: %d bytes came out before too many blocks, and other ones from the library", src, len(got))
		}
	case len(want) > limit:
		if !errors.Is(ours, ErrLimit) {
			t.Fatalf("% x: the library gives more than %d bytes, we %d and %v", src, limit, len(got), ours)
		}
	case err == nil:
		if ours != nil || !bytes.Equal(got, want) || used != len(src)-in.Len() {
			t.Fatalf(
				"% x: the library gives %d bytes of %d, we %d of %d and %v", src, len(want), len(src)-in.Len(), len(got), used,
				ours,
			)
		}
	default:
		if ours == nil || errors.Is(err, io.ErrUnexpectedEOF) != errors.Is(ours, ErrTruncated) || len(got) < len(want) ||
			!bytes.Equal(got[:len(want)], want) {
			t.Fatalf("% x: the library says %v after %d bytes, we %v after %d", src, err, len(want), ours, len(got))
		}
	}
}

// Streams with a few wrong bits are refused where the library refuses them, and else unpack to the same.
func TestZ4_DamagedStreamsGiveTheSame(t *testing.T) {
	d := NewDecoder()
	r := rand.New(rand.NewPCG(5, 6))
	for _, text := range texts() {
		text = text[:min(len(text), 3000)]
		for level := flate.HuffmanOnly; level <= 9; level += 2 {
			packed := packRaw(t, text, level)
			for range 60 {
				damaged := bytes.Clone(packed)
				for range 1 + r.IntN(3) {
					damaged[r.IntN(min(len(damaged), 1+r.IntN(len(damaged))))] ^= 1 << r.IntN(8)
				}
				sameAsLibrary(t, d, damaged)
			}
		}
	}
	for range 4_000 {
		b := make([]byte, 1+r.IntN(80))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		b[0] = b[0]&^7 | [...]byte{1, 3, 5, 0, 4}[r.IntN(5)]
		sameAsLibrary(t, d, b)
	}
}

func FuzzRaw(f *testing.F) {
	for _, text := range texts() {
		f.Add(packRaw(f, text[:min(len(text), 500)], 6))
	}
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, src []byte) { sameAsLibrary(t, d, src) })
}

func FuzzGzip(f *testing.F) {
	for _, text := range texts() {
		whole := packGzip(f, text[:min(len(text), 500)])
		f.Add(whole)
		f.Add(whole[:len(whole)-4])
		f.Add(append(bytes.Clone(whole), whole...))
		f.Add(append(bytes.Clone(whole), "\x1f\x8b\x08\xff"...))
		f.Add(append(whole[:len(whole)-8:len(whole)-8], "bad sums"...))
	}
	f.Add([]byte("\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\xff\xff\xff")) // an extra field that is not there
	f.Add(named(f, libraryName+1))
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, src []byte) {
		z, err := gzip.NewReader(bytes.NewReader(src))
		var want []byte
		if err == nil {
			want, err = io.ReadAll(io.LimitReader(z, 1<<22))
		}
		got, ours := d.Gzip(nil, src, 1<<22)
		if errors.Is(ours, ErrWork) {
			return
		}
		if err == nil && len(want) < 1<<22 && (ours != nil || !bytes.Equal(got, want)) {
			t.Fatalf("the library gives %d bytes, we %d and %v", len(want), len(got), ours)
		}
		if err != nil && ours == nil && !(errors.Is(err, gzip.ErrHeader) && mayHaveLongName(src)) {
			t.Fatalf("the library says %v", err)
		}
	})
}

// libraryName is the longest name or comment that the library takes in a header, in bytes. RFC 1952 sets no bound.
const libraryName = 511

// mayHaveLongName says that somewhere in src there is room for a longer one.
func mayHaveLongName(src []byte) bool {
	return slices.ContainsFunc(bytes.Split(src, []byte{0}), func(run []byte) bool { return len(run) > libraryName })
}

// named is a member of four bytes with a name so long.
func named(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Name = strings.Repeat("n", n)
	_, _ = z.Write([]byte("text"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGzip_aNameMayBeOfAnyLength(t *testing.T) {
	d := NewDecoder()
	for _, n := range []int{0, libraryName, libraryName + 1, 70_000} {
		got, err := d.Gzip(nil, named(t, n), 1<<10)
		if err != nil || string(got) != "text" {
			t.Errorf("with a name of %d bytes: %q, %v", n, got, err)
		}
	}
}

func FuzzZlib(f *testing.F) {
	for _, text := range texts() {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write(text[:min(len(text), 500)])
		_ = z.Close()
		f.Add(b.Bytes())
		f.Add(b.Bytes()[:b.Len()-2])
		f.Add(append(b.Bytes()[:b.Len()-4:b.Len()-4], "sums"...))
	}
	f.Add([]byte("\x78\xbb\x00\x00\x00\x00\x03\x00")) // with a dictionary
	// With an empty one, which the library has and zlib itself asks for.
	f.Add([]byte("x \x00\x00\x00\x01\x030\x00\x00\x00\x01"))
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, src []byte) {
		z, err := zlib.NewReader(bytes.NewReader(src))
		var want []byte
		if err == nil {
			want, err = io.ReadAll(io.LimitReader(z, 1<<22))
		}
		got, ours := d.Zlib(nil, src, 1<<22)
		if len(src) > 1 && src[1]&0x20 != 0 { // no server may count on a dictionary
			if ours == nil {
				t.Fatal("we take what needs a dictionary")
			}
			return
		}
		if errors.Is(ours, ErrWork) {
			return
		}
		if err == nil && len(want) < 1<<22 && (ours != nil || !bytes.Equal(got, want)) {
			t.Fatalf("the library gives %d bytes, we %d and %v", len(want), len(got), ours)
		}
		if err != nil && ours == nil {
			t.Fatalf("the library says %v", err)
		}
	})
}

func TestItAllocatesNothing(t *testing.T) {
	d := NewDecoder()
	packed := packGzip(t, html(100_000))
	dst := make([]byte, 0, 200_000)
	if got := testing.AllocsPerRun(20, func() { dst, _ = d.Gzip(dst[:0], packed, noLimit) }); got > 0 {
		t.Errorf("%.1f allocations", got)
	}
}

func BenchmarkGzip(b *testing.B) {
	text := html(240_000)
	packed := packGzip(b, text)
	b.Logf("%d bytes packed", len(packed))
	dst := make([]byte, 300_000)
	b.Run("ours", func(b *testing.B) {
		d := NewDecoder()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			dst, _ = d.Gzip(dst[:0], packed, noLimit)
		}
	})
	b.Run("library", func(b *testing.B) {
		var z fast.Reader
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_ = z.Reset(bytes.NewReader(packed))
			_, _ = io.ReadFull(&z, dst[:len(text)])
		}
	})
	b.Run("standard", func(b *testing.B) {
		var z gzip.Reader
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_ = z.Reset(bytes.NewReader(packed))
			_, _ = io.ReadFull(&z, dst[:len(text)])
		}
	})
}
