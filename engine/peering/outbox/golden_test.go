package outbox_test

import (
	"fmt"
	"testing"

	"orbweaver/engine/peering/outbox"
	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
)

// saved is a checkpoint with the bytes that belong to it.
type saved struct {
	Checkpoint outbox.Checkpoint `json:"cut"`
	InMemory   []byte            `json:"image"`
}

// The Outbox has items on disk, in memory, and in a batch that was not acknowledged. Its files and bytes must be those
// of the golden file. The golden file must open, and all items must be sent.
func TestGolden_queuesAndBytes(t *testing.T) {
	o := outbox.Options{Dir: "outbox", SegmentBytes: 4 << 10, BatchBytes: 700, BatchItems: 9}
	disk := vfs.NewMem(1)
	b, err := outbox.Open(disk, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	const items = 50
	item := func(i int) string { return fmt.Sprintf("http://host-%d.test/", i) }
	if _, err := b.EnsureAgent("agent"); err != nil {
		t.Fatal(err)
	}
	for i := range items {
		b.Put("agent", []byte(item(i)))
		if i == items/2 {
			if err := b.Spill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := b.TakeBatch("agent"); err != nil {
		t.Fatal(err)
	}
	var s saved
	if s.Checkpoint, s.InMemory, err = b.Checkpoint(); err == nil {
		err = b.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	const digest = "8827860fc201efb159b020fcb740379a73b5ded74c2788b420054d7ba48bb9be"
	restored, s := golden.CompareCheckpoint(t, "outbox-1.tar", digest, disk, s)
	if b, err = outbox.Open(restored, o, &s.Checkpoint, s.InMemory); err != nil {
		t.Fatal(err)
	}
	if _, err := b.EnsureAgent("agent"); err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for len(sent) < items {
		batch, err := b.TakeBatch("agent")
		if err != nil || batch == nil {
			t.Fatalf("%d items sent: %v", len(sent), err)
		}
		for got, err := range outbox.Items(batch.Bytes) {
			if err != nil {
				t.Fatal(err)
			}
			sent[string(got)]++
		}
		b.Acknowledge(batch)
	}
	for i := range items {
		if sent[item(i)] != 1 {
			t.Errorf("%s was sent %d times", item(i), sent[item(i)])
		}
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
