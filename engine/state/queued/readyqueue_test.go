package queued

import (
	"fmt"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// page and image return items of their class.
func page(n int) []byte { return Append(nil, &URL{Rest: fmt.Appendf(nil, "page %d", n)}) }

func image(n int) []byte {
	return Append(nil, &URL{Embeds: 1, Rest: fmt.Appendf(nil, "image %d", n)})
}

func open(t *testing.T, disk vfs.FS, at *ReadyCheckpoint) *ReadyQueue {
	t.Helper()
	q, err := OpenReady(disk, diskq.Options{}, "crawl", at)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func appendAll(t *testing.T, q *ReadyQueue, items ...[]byte) {
	t.Helper()
	for _, item := range items {
		if err := q.Append(item); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll empties a queue.
func readAll(t *testing.T, q *ReadyQueue) (all []string) {
	t.Helper()
	for {
		item, ok, err := q.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return all
		}
		all = append(all, string(MustDecode(item).Rest))
	}
}

// Urgent items come first, and each class in its order. A checkpoint has both.
func TestQueue_urgentItemsComeFirstAlsoAfterACheckpoint(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	appendAll(t, q, page(1), image(1), page(2), image(2))
	if item, ok, err := q.Read(nil); !ok || err != nil || string(item) != string(image(1)) {
		t.Errorf("first: %q %v", item, err)
	}
	urgent, err := q.Urgent.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	others, err := q.Others.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, q, image(3))
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q = open(t, disk, &ReadyCheckpoint{Urgent: &urgent, Others: others})
	if err := q.Check(); err != nil || q.Len() != 3 {
		t.Errorf("%d items: %v", q.Len(), err)
	}
	if got := fmt.Sprint(readAll(t, q)); got != "[image 2 page 1 page 2]" {
		t.Error(got)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// A checkpoint of a version with one queue has all its items in it. Urgent items that a killed run has written since
// are removed.
func TestQueue_goesOnFromACheckpointWithOneQueue(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	appendAll(t, q, page(1))
	others, err := q.Others.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, q, image(1))
	if _, err := q.Urgent.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q = open(t, disk, &ReadyCheckpoint{Others: others})
	appendAll(t, q, image(2))
	if got := fmt.Sprint(readAll(t, q)); got != "[image 2 page 1]" {
		t.Error(got)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}
