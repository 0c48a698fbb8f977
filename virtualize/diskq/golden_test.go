package diskq_test

import (
	"fmt"
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// The segments of a queue, some of whose items were read, have the checked-in bytes. After Open it has the other items
// in order.
func TestGolden_segments(t *testing.T) {
	o := diskq.Options{Dir: "queue", SegmentBytes: 512}
	disk := vfs.NewMem(1)
	q, err := diskq.Open(disk, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	item := func(i int) string { return fmt.Sprintf("item %d of the queue", i) }
	for i := range 90 {
		if err := q.Append([]byte(item(i))); err != nil {
			t.Fatal(err)
		}
		if i%30 == 29 { // a checkpoint ends a block
			if _, err := q.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 7 {
		if _, ok, err := q.Read(nil); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	cut, err := q.Checkpoint()
	if err == nil {
		err = q.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	back, cut := golden.CompareCheckpoint(t, "queue-1.tar",
		"e5ae515b06d2bd392ed10dc3fd527569b387cdc85d9a8abbcf3531178eef5c46", disk, cut)
	if q, err = diskq.Open(back, o, &cut); err != nil {
		t.Fatal(err)
	}
	for i := 7; i < 90; i++ {
		if got, ok, err := q.Read(nil); string(got) != item(i) || !ok || err != nil {
			t.Fatalf("item %d is %q, %v, %v", i, got, ok, err)
		}
	}
	if _, more, err := q.Read(nil); more || err != nil {
		t.Error(more, err)
	}
}
