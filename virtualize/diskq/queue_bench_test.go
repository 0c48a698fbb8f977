package diskq

import (
	"testing"

	"orbweaver/internal/vfs"
)

var benchItem = []byte("https://www.example.org/2019/05/a-page-with-a-name-of-usual-length/index.html?id=1234")

func benchQueue(b *testing.B) *Queue {
	q, err := Open(vfs.Disk(), Options{Dir: b.TempDir()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportAllocs()
	b.SetBytes(int64(len(benchItem)))
	return q
}

// BenchmarkThroughDisk appends 100,000 items ahead of the reader, so that all go through the page cache.
func BenchmarkThroughDisk(b *testing.B) {
	q := benchQueue(b)
	var buf []byte
	for b.Loop() {
		if err := q.Append(benchItem); err != nil {
			b.Fatal(err)
		}
		if q.Len() > 100000 {
			var err error
			if buf, _, err = q.Read(buf[:0]); err != nil {
				b.Fatal(err)
			}
		}
	}
	release(b, q)
}

func BenchmarkAppend(b *testing.B) {
	q := benchQueue(b)
	for b.Loop() {
		if err := q.Append(benchItem); err != nil {
			b.Fatal(err)
		}
	}
	release(b, q)
}

func BenchmarkPastDisk(b *testing.B) {
	q := benchQueue(b)
	var buf []byte
	for b.Loop() {
		if err := q.Append(benchItem); err != nil {
			b.Fatal(err)
		}
		var err error
		if buf, _, err = q.Read(buf[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func release(b *testing.B, q *Queue) {
	cut, err := q.Checkpoint()
	if err != nil {
		b.Fatal(err)
	}
	if err := q.Release(cut); err != nil {
		b.Fatal(err)
	}
}

func TestNoAllocations(t *testing.T) {
	q := open(t, vfs.NewMem(1), nil)
	buf := make([]byte, 0, 200)
	got := testing.AllocsPerRun(1000, func() {
		if err := q.Append(benchItem); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := q.Read(buf); !ok || err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("%v allocations for an item", got)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}
