package dedup

import (
	"testing"
	"time"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
)

// An entry is what it was, and is read as it was.
func TestGolden_entry(t *testing.T) {
	const offset = 4711
	want := First{
		URI:      "http://host.test/page",
		Date:     time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC),
		RecordID: [16]byte{1, 2, 3, 15: 16},
	}
	b := golden.Compare(t, "entry-2", "1cd8d68c72aa418194f87acda61c6a6bf544107f66fb8aa739cac5c7c78b382c",
		appendEntry(nil, offset, digestOf(1), want))
	if d, f, fault := decodeEntry(b, offset); d != digestOf(1) || f != want || fault != "" {
		t.Errorf("%x, %+v, %s", d, f, fault)
	}
}

// The files of a map with several runs open, and it knows the same digests. Each map has a seed of its own, so new
// files are not compared.
func TestGolden_entriesAndRuns(t *testing.T) {
	const digests = 34
	disk := vfs.NewMem(1)
	m := open(t, disk, nil)
	fill(t, m, digests)
	back, checkpoint := golden.ReadCheckpoint(t, "seen-2.tar",
		"07673ab5bc158d24f45daa4f6f205dcf2ba2c9f8fbe8657b65dcec38692af5de", disk, *saved(t, m))
	m = open(t, back, &checkpoint)
	must(t, m.Check())
	for i := range uint64(digests + 10) {
		has(t, m, i, i < digests)
	}
	insert(t, m, digests, true)
}
