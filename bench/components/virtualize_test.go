package components

import "testing"

// A path has 60 bytes on average, and depends on the seed alone.
func TestPaths(t *testing.T) {
	m, total := newPathMaker(1), 0
	const n = 20_000
	rng := splitmix{state: 3}
	var dir, item []byte
	for i := range uint64(n) {
		host := rng.below(500)
		dir = m.appendDirectory(dir[:0], host, &rng)
		item = m.appendPage(item[:0], host, i, 3, dir)
		if i == 0 && string(newPathMaker(1).appendPage(nil, host, i, 3, dir)) != string(item) {
			t.Fatal("a second path maker with the same seed makes another path")
		}
		total += len(item) - 3
	}
	if mean := float64(total) / n; mean < 58 || mean > 64 {
		t.Errorf("a path has %.1f bytes on average", mean)
	}
}
