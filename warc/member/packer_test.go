package member

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const (
	prefixA = "WARC/1.1 aaaa\r\n"
	prefixB = "WARC/1.1 bbbb\r\n"
)

// forms are the ways in which a Packer compresses.
func forms(t *testing.T) map[string]PackerOptions {
	t.Helper()
	var samples [][]byte
	for n := range 300 {
		samples = append(samples, []byte(prefixA), text(n, 900))
		samples[len(samples)-1] = append([]byte(prefixA), samples[len(samples)-1]...)
	}
	d, err := TrainDictionary(samples, 8<<10)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]PackerOptions{
		"gzip at level 1":  {Compression: Gzip, Level: 1},
		"gzip at level 6":  {Compression: Gzip, Level: 6},
		"zstd":             {Compression: Zstd, Level: 1},
		"zstd, dictionary": {Compression: Zstd, Level: 1, Dictionary: d},
		"not compressed":   {Compression: None, Level: 1},
	}
}

// text returns different compressible bytes for each n.
func text(n, size int) []byte {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	var b []byte
	for len(b) < size {
		b = fmt.Appendf(b, "<p class=%q>%d</p>\n", []string{"lead", "note", "foot"}[rng.IntN(3)], rng.IntN(5000))
	}
	return b[:size]
}

// pack adds texts of these sizes, the first one without the prefix.
func pack(t *testing.T, p *Packer, sizes ...int) {
	t.Helper()
	for i, size := range sizes {
		p.Begin(i > 0)
		b := text(i, size)
		for _, part := range [][]byte{b[:size/3], b[size/3:]} {
			if err := p.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.End(); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll returns the content of all members of a file, with its form given.
func readAll(t *testing.T, file []byte, form Compression) (contents []string) {
	t.Helper()
	var z Reader
	defer z.Close()
	z.Reset(bytes.NewReader(file), ReaderOptions{Form: &form})
	for {
		err := z.Next()
		if err == io.EOF {
			return contents
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(&z)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(b))
	}
}

// What was packed is read again, with the last prefix that was stamped.
func TestStampReplacesThePrefixOfAllMembers(t *testing.T) {
	sizes := []int{1, 700, 0, 40000, 200000}
	for name, o := range forms(t) {
		t.Run(name, func(t *testing.T) {
			o.Prefix = []byte(prefixA)
			p, err := NewPacker(o)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time with the memory of the first
				p.Reset()
				pack(t, p, sizes...)
				for _, prefix := range []string{prefixA, prefixB, prefixB} {
					if prefix != prefixA {
						if err := p.Stamp([]byte(prefix)); err != nil {
							t.Fatal(err)
						}
					}
					var want []string
					for i, size := range sizes {
						want = append(want, strings.Repeat(prefix, min(i, 1))+string(text(i, size)))
					}
					if o.Compression == None { // one member
						want = []string{strings.Join(want, "")}
					}
					got := readAll(t, slices.Concat(p.Front(), bytesOf(t, p)), o.Compression)
					if !slices.Equal(got, want) {
						t.Fatalf("%d contents, want %d", len(got), len(want))
					}
				}
			}
			end := int64(0)
			for i := range p.Len() {
				m := p.Member(i)
				if m.Start != end || m.Raw != int64(min(i, 1)*len(prefixA)+sizes[i]) {
					t.Errorf("member %d: %+v after %d", i, m, end)
				}
				end = m.End
			}
			if end != int64(len(bytesOf(t, p))) || p.Late() != (o.Dictionary != nil) || p.Compression() != o.Compression {
				t.Error(end, len(bytesOf(t, p)))
			}
		})
	}
}

// A stamped member has the bytes of one that was packed with that prefix.
func TestStampGivesTheBytesOfThePrefix(t *testing.T) {
	for name, o := range forms(t) {
		var out [2][]byte
		for i, prefix := range []string{prefixA, prefixB} {
			o.Prefix = []byte(prefix)
			p, err := NewPacker(o)
			if err != nil {
				t.Fatal(err)
			}
			pack(t, p, 10, 5000)
			if err := p.Stamp([]byte(prefixB)); err != nil {
				t.Fatal(err)
			}
			out[i] = bytes.Clone(bytesOf(t, p))
		}
		if !bytes.Equal(out[0], out[1]) {
			t.Errorf("%s: different bytes", name)
		}
	}
}

// Options that cannot work are refused with all faults.
func TestPackerOptionsAreChecked(t *testing.T) {
	for _, o := range []PackerOptions{
		{Compression: 9, Level: 1}, {Level: 10}, {}, {Level: 1, Dictionary: []byte("x")},
		{Compression: Zstd, Level: 1, Dictionary: []byte("x")},
	} {
		if _, err := NewPacker(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	o := PackerOptions{Compression: Zstd, Level: 1, Dictionary: []byte("x")}
	if err := o.Validate(); !errors.Is(err, ErrDictionary) {
		t.Error(err)
	}
}

// A checksum that is computed from parts equals that of the whole.
func TestCRCJoin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		a, b := make([]byte, rng.IntN(300)), make([]byte, rng.IntN(100000))
		for i := range a {
			a[i] = byte(rng.Uint32())
		}
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		got := crcJoin(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), crcShift(int64(len(b))))
		if want := crc32.ChecksumIEEE(slices.Concat(a, b)); got != want {
			t.Fatalf("%d+%d bytes: %08x, want %08x", len(a), len(b), got, want)
		}
	}
}

// bytesOf returns the output of a Packer without a Scratch.
func bytesOf(t testing.TB, p *Packer) []byte {
	t.Helper()
	out, err := p.Output()
	if err != nil || out.MiddleSize > 0 {
		t.Fatalf("%v, %d bytes in the scratch", err, out.MiddleSize)
	}
	return out.Tail
}
