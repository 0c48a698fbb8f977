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
	if next, over, err := m.Walk(0, WalkAll, 10, func(Digest) { t.Error("an entry of an empty map") }); err != nil ||
		!over || next != headBytes {
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
		at, over, err = m.Walk(at, WalkAll, rng.IntN(25), func(d Digest) {
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
	_, over, err = open(t, fsys, &c).Walk(0, WalkAll, 1<<20, func(Digest) { again++ })
	if err != nil || !over || again != 900 {
		t.Error(again, over, err)
	}
}

// A walk to a checkpoint meets what was there then, and waits for the next one at its end.
func TestWalk_endsAtACheckpoint(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	next, met := int64(0), uint64(0)
	for _, count := range []uint64{0, 1, 40, 300} {
		for n := m.Len(); n < count; n++ {
			insert(t, m, n, true)
		}
		c, err := m.Checkpoint()
		must(t, err)
		for n := count; n < count+25; n++ {
			insert(t, m, n, n >= m.Len())
		}
		for over := false; !over; {
			next, over, err = m.Walk(next, c.Length, 7, func(d Digest) {
				if d != digestOf(met) {
					t.Fatalf("entry %d is another one", met)
				}
				met++
			})
			must(t, err)
		}
		if want := max(count, met); met != want || next > max(c.Length, headBytes) {
			t.Errorf("%d of %d entries, up to %d of %d", met, want, next, c.Length)
		}
	}
	if next, over, err := m.Walk(1<<40, WalkAll, 1, func(Digest) { t.Error("behind the end") }); err != nil || !over ||
		next != 1<<40 {
		t.Error(next, over, err)
	}
}
