package dedup

import (
	"math/rand/v2"
	"testing"

	"orbweaver/internal/vfs"
)

// A walk in steps meets every entry once and in order, those that come meanwhile at its end; so it does after a
// checkpoint.
func TestWalkMeetsEveryEntryOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fsys := vfs.NewMem(1)
	m := open(t, fsys, nil)
	if next, over, err := m.Walk(0, 10, func(Digest) { t.Error("an entry of an empty map") }); err != nil || !over ||
		next != headBytes {
		t.Fatal(next, over, err)
	}
	count, met := uint64(0), uint64(0)
	at, over := int64(0), false
	for !over || count < 900 {
		for range rng.IntN(20) {
			if count < 900 {
				insert(t, m, count, true)
				count++
			}
		}
		var err error
		at, over, err = m.Walk(at, rng.IntN(25), func(d Digest) {
			if d != digestOf(met) {
				t.Fatalf("entry %d is another one", met)
			}
			met++
		})
		must(t, err)
	}
	if met != count {
		t.Errorf("%d of %d were met", met, count)
	}
	c, err := m.Checkpoint()
	must(t, err)
	must(t, m.Sync())
	again := 0
	_, over, err = open(t, fsys, &c).Walk(0, 1<<20, func(Digest) { again++ })
	if err != nil || !over || again != 900 {
		t.Error(again, over, err)
	}
}
