package sieve

import (
	"errors"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// A bucket has several drawers, and the disk fails when some of them are decided. The sieve can take a checkpoint, be
// opened again and be flushed. No URL is missing, and none is emitted twice.
func TestAFlushThatFailsBetweenDrawersGoesOnThere(t *testing.T) {
	o := Options{Dir: "sieve", BucketBytes: 4 << 20}
	const n = 20_000
	for read := 1; ; read++ {
		mem := vfs.NewMem(uint64(read))
		script := faultfs.NewScript()
		s := open(t, faultfs.New(mem, script), o, nil)
		for from := range uint64(2) { // two runs
			addAll(s, upTo(n * (1 + 2*from))[n*2*from:]...)
			flush(t, s)
		}
		var fresh []uint64
		for i := range uint64(n) {
			addAll(s, i*4, i*2, i*4) // some in each run, some new, the last twice
			switch {
			case i*4 >= n && i*4 < 2*n || i*4 >= 3*n:
				fresh = append(fresh, i*4)
			}
			if j := i * 2; j >= n && j < 2*n && j%4 != 0 {
				fresh = append(fresh, j)
			}
		}
		script.Add(faultfs.Rule{Op: faultfs.Read, From: read, Count: 1, Err: syscall.EIO})
		if _, err := s.Flush(func([]byte) error { return nil }); err == nil {
			if read < 3 {
				t.Fatalf("%d reads are all", read)
			}
			return
		} else if !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		b := s.buckets.frozen
		t.Logf("read %d: %d of %d drawers were decided", read, b.decided, len(b.entries.all))
		balanced(t, s)
		must(t, s.Check())
		c := durable(t, s)
		again := open(t, mem.KillClone(), o, c)
		must(t, again.Check())
		want(t, flush(t, again), urls(fresh...))
		want(t, flush(t, s), urls(fresh...))
		balanced(t, s)
		must(t, s.Check())
	}
}
