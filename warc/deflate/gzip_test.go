package deflate

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// A file that is written in many pieces is one gzip member with a checksum, and most of it is written before the end.
func TestGzipWriter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for _, size := range []int{0, 1, 100_000, 1_000_000} {
		text := markup(uint64(size), size)
		for i := range text {
			text[i] ^= byte(random.Uint32N(8)) // so that it does not become small
		}
		var file bytes.Buffer
		z := NewGzipWriter(&file)
		for rest := text; len(rest) > 0; {
			n := min(1+random.IntN(20_000), len(rest))
			if _, err := z.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		early := file.Len()
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if size == 1_000_000 && early < file.Len()/2 {
			t.Errorf("%d of %d bytes are written before the end", early, file.Len())
		}
		from := bytes.NewReader(file.Bytes())
		r, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		r.Multistream(false)
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, text) || from.Len() > 0 {
			t.Errorf("%d bytes: %v, %d come back, %d behind the member", size, err, len(got), from.Len())
		}
	}
}

var errFull = errors.New("the disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// An error of the file comes from Write once a batch is complete, and from Close.
func TestGzipWriter_diskFull(t *testing.T) {
	z := NewGzipWriter(fullDisk{})
	text := make([]byte, 2*gzipBatch)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	if _, err := z.Write(text); !errors.Is(err, errFull) {
		t.Errorf("Write: %v", err)
	}
	if err := z.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close: %v", err)
	}
}
