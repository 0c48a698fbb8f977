package rooms

import (
	"io"
	"testing"
)

func TestVirtualize(t *testing.T) {
	dir := t.TempDir() + "/queues"
	r, err := Virtualize(t.Context(), Options{URLs: 30_000, Hosts: 1000, Dir: dir, Seed: 1, Say: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	r.Print(t.Output())
	if len(r.Runs) != 4 || len(r.Runs[0].Points) != 1 || r.Runs[0].Points[0].Items != 30_000 {
		t.Errorf("%+v", r)
	}
}

// The paths are what they are said to be: 60 bytes, and the same again from the same seed.
func TestPaths(t *testing.T) {
	m, total := newPathMaker(1), 0
	const n = 20_000
	rng := dice{state: 3}
	var dir, item []byte
	for i := range uint64(n) {
		host := rng.below(500)
		dir = m.appendDirectory(dir[:0], host, &rng)
		item = m.appendPage(item[:0], host, i, 3, dir)
		if again := newPathMaker; i == 0 && string(again(1).appendPage(nil, host, i, 3, dir)) != string(item) {
			t.Fatal("another item")
		}
		total += len(item) - 3
	}
	if mean := float64(total) / n; mean < 58 || mean > 64 {
		t.Errorf("a path has %.1f bytes on average", mean)
	}
}
