package diskq

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// At every checkpoint, Each finds what Read would find, while the queue is in use. It returns an error if files of an
// old checkpoint are removed.
func TestEachReadsWhatACutHolds(t *testing.T) {
	disk := vfs.NewMem(1)
	q, err := Open(disk, Options{Dir: "q", SegmentBytes: 200}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var want []string
	var first Checkpoint
	read := func(c Checkpoint) (got []string, err error) {
		err = Each(disk, "q", c, func(item []byte) error { got = append(got, string(item)); return nil })
		return got, err
	}
	for n := range 40 {
		for k := range n % 5 {
			item := fmt.Sprintf("item %d of round %d", k, n)
			check(q.Append([]byte(item)))
			want = append(want, item)
		}
		if n%3 == 0 && len(want) > 1 {
			_, _, err := q.Read(nil)
			check(err)
			want = want[1:]
		}
		c, err := q.Checkpoint()
		check(err)
		if n == 5 {
			first = c
		}
		if got, err := read(c); err != nil || !slices.Equal(got, want) {
			t.Fatalf("round %d: %d items of %d: %v", n, len(got), len(want), err)
		}
	}
	stop := errors.New("stop")
	c, err := q.Checkpoint()
	check(err)
	if err := Each(disk, "q", c, func([]byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
	check(q.Sync())
	check(q.Release(c))
	if _, err := read(first); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a cut whose files are gone: %v", err)
	}
	c.Count++
	if _, err := read(c); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a cut with too many items: %v", err)
	}
	check(q.Close())
}
