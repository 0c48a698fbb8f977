package diskq

import (
	"errors"
	"testing"

	"orbweaver/internal/vfs"
)

// Read returns the largest item that Append accepts, also after a restart and after a block that is nearly full. An
// item with one byte more is refused, and the queue is unchanged.
func TestTheLargestItemIsReadAndOneByteMoreIsRefused(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	large := make([]byte, MaxItem+1)
	sizes := []int{blockTarget - 4, MaxItem, 1}
	for _, size := range sizes {
		if err := q.Append(large[:size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Append(large); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes are taken: %v", len(large), err)
	}
	cut, err := q.Checkpoint()
	if err == nil {
		err = errors.Join(q.Sync(), q.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	q = open(t, disk, &cut)
	for _, want := range sizes {
		if item, ok, err := q.Read(nil); err != nil || !ok || len(item) != want {
			t.Fatalf("an item of %d bytes comes back with %d: %v", want, len(item), err)
		}
	}
}
