package member

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

// packed returns a file with some members, and where they start.
func packed(t *testing.T, o PackerOptions) (file []byte, starts []int64) {
	t.Helper()
	o.Prefix = []byte(prefixA)
	p, err := NewPacker(o)
	if err != nil {
		t.Fatal(err)
	}
	pack(t, p, 10, 3000, 300, 9000, 20)
	for i := range p.Len() {
		bytesOf(t, p)
		starts = append(starts, int64(len(p.Front()))+p.Member(i).Start)
	}
	return slices.Concat(p.Front(), bytesOf(t, p)), starts
}

// The positions are those of the members, also for a reader that starts in the middle of a file.
func TestReaderPositions(t *testing.T) {
	for name, o := range forms(t) {
		if o.Compression == None {
			continue
		}
		file, starts := packed(t, o)
		dictionary, front, err := ReadDictionary(bytes.NewReader(file))
		if err != nil || o.Dictionary != nil && (!bytes.Equal(dictionary, o.Dictionary) || front != starts[0]) {
			t.Fatal(name, front, err)
		}
		for from, start := range starts {
			var z Reader
			z.Reset(bytes.NewReader(file[start:]), ReaderOptions{Base: start, Dictionary: dictionary})
			var got []int64
			for z.Next() == nil {
				got = append(got, z.Start())
				if _, err := io.Copy(io.Discard, &z); err != nil || z.Inside() || z.Damaged() {
					t.Fatal(name, err)
				}
			}
			if !slices.Equal(got, starts[from:]) || z.Offset() != int64(len(file)) {
				t.Errorf("%s from %d: %d, want %d", name, start, got, starts[from:])
			}
			if form, known := z.Compression(); form != o.Compression || !known || !z.CanSeek() {
				t.Error(name, form, known)
			}
			z.Close()
		}
	}
}

// Members of any size are read as they are: small ones from memory, and others, or those of large content, as streams.
func TestReaderReadsMembersOfAnySize(t *testing.T) {
	random := rand.NewChaCha8([32]byte{})
	var file bytes.Buffer
	var contents [][]byte
	var ends []int64
	for _, size := range []int{0, 1, 3000, 60 << 10, 70 << 10, 500, 300 << 10, 1 << 20, 2000, 1<<20 + 1, 3 << 20, 7} {
		for _, content := range [][]byte{make([]byte, size), make([]byte, 8*size)} {
			if len(content) == size {
				_, _ = random.Read(content) // grows when it is compressed; the zeros shrink to nothing
			}
			z := gzip.NewWriter(&file)
			if _, err := z.Write(content); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			contents, ends = append(contents, content), append(ends, int64(file.Len()))
		}
	}
	var z Reader
	z.Reset(iotest.HalfReader(&file), ReaderOptions{})
	for i, want := range contents {
		if err := z.Next(); err != nil {
			t.Fatal(i, err)
		}
		got, err := io.ReadAll(&z)
		if err != nil || !bytes.Equal(got, want) || z.Offset() != ends[i] || z.Inside() {
			t.Errorf("member %d: %d of %d bytes up to %d, want %d; %v", i, len(got), len(want), z.Offset(), ends[i], err)
		}
	}
	if err := z.Next(); err != io.EOF {
		t.Error(err)
	}
	if kept := cap(z.whole.content) + z.br.Size(); kept > wholeKept+wholeSourceMax {
		t.Errorf("the reader keeps %d bytes", kept)
	}
}

// After a damaged member the search finds the next one. A file that ends too early is truncated.
func TestReaderFindsTheMemberAfterDamage(t *testing.T) {
	for name, o := range forms(t) {
		if o.Compression == None {
			continue
		}
		file, starts := packed(t, o)
		file[starts[1]] ^= 0xff // of the first byte of a member
		file = file[:len(file)-3]
		var z Reader
		z.Reset(bytes.NewReader(file), ReaderOptions{})
		var valid []int64
		var faults []error
		for {
			err := z.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				_, err = io.Copy(io.Discard, &z)
			}
			if err == nil {
				valid = append(valid, z.Start())
				continue
			}
			faults = append(faults, err)
			if !z.Damaged() {
				t.Fatal(name, err)
			}
			if err := z.Resync(); err != nil && err != io.EOF {
				t.Fatal(name, err)
			}
		}
		z.Close()
		want := []int64{starts[0], starts[2], starts[3]}
		if !slices.Equal(valid, want) {
			t.Errorf("%s: members at %d, want %d", name, valid, want)
		}
		if len(faults) < 2 || !errors.Is(faults[0], ErrCompression) || !errors.Is(faults[len(faults)-1], ErrTruncated) {
			t.Errorf("%s: %v", name, faults)
		}
	}
}

// The first bytes decide the form of a file.
func TestReaderDetectsTheForm(t *testing.T) {
	for content, want := range map[string]error{
		"WARC/1.0\r\n": nil, "": io.EOF, "<html>": ErrNotWARC, "\x1f": ErrNotWARC, "\x1f\x8b\x08": ErrTruncated,
		dictionaryMagic + "\xff\xff\xff\xff": ErrTooLarge, dictionaryMagic + "\x09\x00\x00\x00x": ErrTruncated,
	} {
		var z Reader
		z.Reset(bytes.NewReader([]byte(content)), ReaderOptions{})
		if err := z.Next(); !errors.Is(err, want) {
			t.Errorf("%q: %v", content, err)
		}
		if want == nil && !z.Plain() {
			t.Errorf("%q is compressed", content)
		}
	}
}
