package objectstore

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// An object is read in order with few requests, each longer than the one before, and at any place with short ones. A
// prefix is a directory.
func TestBucketsReadObjects(t *testing.T) {
	b := newBucket(t)
	want := make([]byte, 3<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range want {
		want[i] = byte(random.Uint32())
	}
	meta := map[string]string{"Last-Modified": "Mon, 02 Jan 2006 15:04:05 GMT"} // as a real store has it
	for _, key := range []string{"dir/a.warc", "dir/b.warc", "dir/below/c.warc", "d.warc"} {
		if _, err := b.backend.PutObject("bucket", key, meta, bytes.NewReader(want), int64(len(want)), nil); err != nil {
			t.Fatal(err)
		}
	}
	gets := 0
	b.fail(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.Header.Get("Range") != "" {
			gets++
		}
		return false
	})
	d := NewBuckets(t.Context(), vfs.NewMem(1), func(bucket string) (*Store, error) {
		return New(Options{Target: "s3://" + bucket, Endpoint: b.server.URL})
	})
	names, err := d.List("s3:/bucket/dir")
	if err != nil || !slices.Equal(names, []string{"a.warc", "b.warc", "below"}) {
		t.Error(names, err)
	}
	for _, name := range []string{"s3:/bucket/none", "s3://bucket/dir/a.warc/x"} {
		if _, err := d.List(name); !errors.Is(err, fs.ErrNotExist) {
			t.Error(name, err)
		}
		if _, err := d.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Error(name, err)
		}
	}
	f, err := d.Open("s3://bucket/dir/a.warc")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) || gets > 4 {
		t.Errorf("%d bytes, %v, %d requests", len(got), err, gets)
	}
	part := make([]byte, 100)
	for _, at := range []int64{1 << 20, 1<<20 + 100, 5, int64(len(want)) - 50} {
		n, err := f.ReadAt(part, at)
		if end := min(at+100, int64(len(want))); !bytes.Equal(part[:n], want[at:end]) || n < 100 && !errors.Is(err, io.EOF) {
			t.Errorf("at %d: %d bytes, %v", at, n, err)
		}
	}
	if gets > 7 {
		t.Errorf("%d requests", gets)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Create("s3:/bucket/new"); !errors.Is(err, errReadOnly) {
		t.Error(err)
	}
}
