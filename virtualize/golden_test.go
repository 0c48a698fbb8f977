package virtualize_test

import (
	"fmt"
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

// The log and the index have the checked-in bytes: several segments, packed items, items that are not yet in blocks,
// and an index of two sections. After Open each queue has the same items.
func TestGolden_logAndIndex(t *testing.T) {
	o := virtualize.Options{Dir: "queues", SegmentBytes: 8 << 10, BufferBytes: 4 << 10}
	disk := vfs.NewMem(1)
	v, err := virtualize.Open(disk, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	const queues, items = 9, 150
	item := func(q, i int) string { return fmt.Sprintf("/section-%d/page-%d.html?id=%d", q, i, i*i) }
	var cut virtualize.Checkpoint
	for i := range items {
		for q := range queues {
			if err := v.Append(uint64(q), []byte(item(q, i))); err != nil {
				t.Fatal(err)
			}
		}
		if i == items/2 || i == items-1 {
			image, err := v.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if cut, err = image.Write(); err != nil {
				t.Fatal(err)
			}
		}
		if i == items/2 {
			if _, err := v.Take(3, 20, func([]byte) {}); err != nil {
				t.Fatal(err)
			}
			if _, err := v.Drop(4); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := v.Sync(); err != nil {
		t.Fatal(err)
	}
	back, cut := golden.CompareCheckpoint(t, "queues-2.tar",
		"658afd12b3c46fadc9a0683bfd4876af662c4594a27bf24ba062c0d927344d47", disk, cut)
	if v, err = virtualize.Open(back, o, &cut); err != nil {
		t.Fatal(err)
	}
	if err := v.Check(); err != nil {
		t.Error(err)
	}
	first := map[int]int{3: 20, 4: items/2 + 1}
	for q := range queues {
		i := first[q]
		if _, err := v.Take(uint64(q), items, func(b []byte) {
			if string(b) != item(q, i) {
				t.Errorf("queue %d, item %d: %q", q, i, b)
			}
			i++
		}); err != nil || i != items {
			t.Errorf("queue %d ends with item %d: %v", q, i, err)
		}
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
}
