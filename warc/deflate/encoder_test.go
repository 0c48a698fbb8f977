package deflate

import (
	"bytes"
	stdflate "compress/flate"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/flate"
)

// unpack decompresses a stream with two other decompressors, and checks that it ends where expected.
func unpack(t *testing.T, stream []byte) []byte {
	t.Helper()
	in := bytes.NewReader(stream)
	got, err := io.ReadAll(stdflate.NewReader(in))
	if err != nil || in.Len() > 0 {
		t.Fatalf("the standard library: %v, %d bytes left over", err, in.Len())
	}
	in = bytes.NewReader(stream)
	also, err := io.ReadAll(flate.NewReader(in))
	if err != nil || in.Len() > 0 || !bytes.Equal(got, also) {
		t.Fatalf("the other library: %v, %d bytes left over, equal: %v", err, in.Len(), bytes.Equal(got, also))
	}
	return got
}

func pack(e *Encoder, pieces ...[]byte) []byte {
	var out []byte
	for _, p := range pieces {
		out = e.Append(out, p)
	}
	return e.Finish(out)
}

// markup returns n bytes like those of pages: few words, with the same tags many times.
func markup(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	words := make([]string, 400)
	for i := range words {
		b := make([]byte, 2+r.IntN(9))
		for k := range b {
			b[k] = "etaoinshrdlucmfwyp"[min(r.IntN(18), r.IntN(18))]
		}
		words[i] = string(b)
	}
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, "<li class=\"item\"><a href=\"/%s/%d.html\">", words[r.IntN(400)], r.IntN(1000))
		for range 3 + r.IntN(12) {
			b = append(append(b, words[min(r.IntN(400), r.IntN(400))]...), ' ')
		}
		b = append(b, "</a></li>\n"...)
	}
	return b[:n]
}

func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	return b
}

// fibonacci returns bytes with frequencies that are Fibonacci numbers: the Huffman tree is as deep as there are values.
func fibonacci(values int) []byte {
	var b []byte
	for v, x, y := 0, 1, 1; v < values; v, x, y = v+1, y, x+y {
		b = append(b, bytes.Repeat([]byte{byte(v * 7)}, x)...)
	}
	r := rand.New(rand.NewPCG(1, 1))
	r.Shuffle(len(b), func(i, k int) { b[i], b[k] = b[k], b[i] })
	return b
}

// Z1: decompressing the output gives the input, with one Encoder for all inputs.
func TestWhatGoesInComesOut(t *testing.T) {
	e := NewEncoder()
	inputs := map[string][]byte{
		"nothing": nil, "one byte": {7}, "two": {7, 7}, "three": []byte("abc"),
		"one byte again and again": bytes.Repeat([]byte{'x'}, 300_000),
		"a period of 3":            bytes.Repeat([]byte("abc"), 50_000),
		"a period of the window":   bytes.Repeat(noise(3, windowMax), 6),
		"a period just beyond it":  bytes.Repeat(noise(4, windowMax+1), 6),
		"a period of the buffer":   bytes.Repeat(noise(5, bufferSize), 4),
		"noise":                    noise(1, 200_000),
		"noise and markup":         slices.Concat(noise(1, 40_000), markup(1, 70_000), noise(2, 40_000)),
		"a deep tree":              fibonacci(22),
		"all bytes, no match":      noise(9, 256),
		"zeros and a page":         append(make([]byte, 70_000), markup(2, 5000)...),
	}
	for n := range 700 {
		inputs[fmt.Sprintf("%d bytes of markup", n)] = markup(uint64(n), n)
	}
	for _, edge := range []int{windowMax, bufferSize, bufferSize + windowMax, bufferSize + 2*windowMax} {
		for n := edge - 12; n <= edge+12; n++ {
			inputs[fmt.Sprintf("%d bytes of markup", n)] = markup(uint64(n), n)
			inputs[fmt.Sprintf("%d bytes of noise", n)] = noise(uint64(n), n)
		}
	}
	for name, in := range inputs {
		out := pack(e, in)
		if got := unpack(t, out); !bytes.Equal(got, in) {
			t.Errorf("%s: %d bytes went in, %d others came out", name, len(in), len(got))
		}
		if most := len(in) + 5*(len(in)/windowMax) + 10; len(out) > most { // Z3
			t.Errorf("%s: %d bytes became %d, more than %d", name, len(in), len(out), most)
		}
	}
}

// Z2: neither the pieces nor earlier streams, complete or not, change the output.
func TestTheStreamDependsOnTheBytesAlone(t *testing.T) {
	in := slices.Concat(markup(1, 90_000), noise(1, 1000), markup(2, 60_000))
	want := pack(NewEncoder(), in)
	e := NewEncoder()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		e.Append(nil, noise(r.Uint64(), r.IntN(100_000)))
		e.Reset()
		pack(e, markup(r.Uint64(), r.IntN(3000)))
		var pieces [][]byte
		for rest := in; len(rest) > 0; {
			n := min(1+r.IntN(1+r.IntN(90_000)), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if !bytes.Equal(pack(e, pieces...), want) {
			t.Fatalf("%d pieces give another stream than one", len(pieces))
		}
	}
}

// Compressible input becomes smaller, nearly as much as with the library's fastest level.
func TestPagesBecomeSmall(t *testing.T) {
	e := NewEncoder()
	for _, n := range []int{600, 3000, 16 << 10, 120 << 10} {
		in := markup(7, n)
		var library bytes.Buffer
		z, err := flate.NewWriter(&library, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(in) // into memory
		_ = z.Close()
		if ours := len(pack(e, in)); float64(ours) > 1.04*float64(library.Len()) {
			t.Errorf("%d bytes become %d, and %d with the library", n, ours, library.Len())
		}
	}
}

// A body that the server has compressed is stored, even if codes would save as much as their header costs.
func TestPackedBodiesAreStored(t *testing.T) {
	e := NewEncoder()
	body := make([]byte, 50<<10)
	source := rand.NewChaCha8([32]byte{7})
	_, _ = source.Read(body)
	in := append(markup(7, 500), body...)
	if n := len(pack(e, in)); n < len(in) || n > len(in)+10+5*(1+len(in)/(32<<10)) {
		t.Errorf("%d bytes become %d", len(in), n)
	}
}

// A block that is taken for noise by a sample would also be stored after a comparison of its forms, or is 2 % longer.
func TestNoiseIsStoredAnyway(t *testing.T) {
	e := NewEncoder()
	noisy := 0
	for round := range 400 {
		in := noise(uint64(round), noiseMin-100+64*round)
		for i := 0; round > 100 && i < len(in); i += 1 + (400-round)/8 { // some bytes are more frequent
			in[i] &= 63
		}
		copy(in[len(in)/2:], in[:round%40])
		e.Append(nil, in)
		m, c := &e.matcher, &e.coder
		m.begin(e.end)
		m.find(0, e.end)
		c.count(m)
		c.prepare()
		dynamic, fixed := c.sizes()
		stored := 8*len(in) + 40*(1+len(in)/storedMax)
		if m.isNoise(len(in)) {
			noisy++
			if least := min(dynamic, fixed); stored > least+least/50 {
				t.Errorf("round %d: %d bits stored, %d with codes, %d with fixed codes", round, stored, dynamic, fixed)
			}
		}
		e.Reset()
	}
	if noisy < 50 || noisy > 390 {
		t.Errorf("%d of 400 are taken for noise", noisy)
	}
}

func TestPackingAllocatesNothing(t *testing.T) {
	e := NewEncoder()
	page, request := markup(1, 100<<10), markup(2, 600)
	out := make([]byte, 0, 128<<10)
	if n := testing.AllocsPerRun(20, func() {
		out = e.Finish(e.Append(out[:0], page))
		out = e.Finish(e.Append(out[:0], request))
	}); n > 0 {
		t.Errorf("%v allocations for two records", n)
	}
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("the same the same the same"), uint16(3), uint16(1))
	f.Add(markup(1, 2000), uint16(700), uint16(40))
	f.Add(fibonacci(12), uint16(1), uint16(300))
	f.Fuzz(func(t *testing.T, in []byte, piece, times uint16) {
		e := NewEncoder()
		in = bytes.Repeat(in, 1+int(times)%500) // so that blocks and windows are filled
		in = in[:min(len(in), 300_000)]
		var out []byte
		for rest := in; len(rest) > 0; {
			n := min(1+int(piece), len(rest))
			out, rest = e.Append(out, rest[:n]), rest[n:]
		}
		if got := unpack(t, e.Finish(out)); !bytes.Equal(got, in) {
			t.Fatalf("%d bytes went in, %d others came out", len(in), len(got))
		}
	})
}

// BenchmarkPack compresses pages of 16 KiB, and requests of 600 bytes, with this package and the library. There are
// many different pages, so that branch prediction does not learn them.
func BenchmarkPack(b *testing.B) {
	for _, size := range []int{16 << 10, 600} {
		var inputs [][]byte
		for i := range uint64(128) {
			inputs = append(inputs, markup(i, size))
		}
		measure := func(name string, pack func(in []byte) (packed int)) {
			b.Run(fmt.Sprintf("%s/%dB", name, size), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				packed, i := 0, 0
				for b.Loop() {
					packed += pack(inputs[i%len(inputs)])
					i++
				}
				b.ReportMetric(float64(packed)/float64(i), "packed-bytes")
			})
		}
		e, out := NewEncoder(), []byte(nil)
		measure("ours", func(in []byte) int {
			out = e.Finish(e.Append(out[:0], in))
			return len(out)
		})
		var library bytes.Buffer
		z, err := flate.NewWriter(&library, 1)
		if err != nil {
			b.Fatal(err)
		}
		measure("library", func(in []byte) int {
			library.Reset()
			z.Reset(&library)
			_, _ = z.Write(in) // into memory
			_ = z.Close()
			return library.Len()
		})
	}
}
