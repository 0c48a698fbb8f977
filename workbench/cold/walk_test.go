package cold

import (
	"maps"
	"testing"

	"orbweaver/internal/vfs"
)

// A Walk passes each host that is in the store from its beginning until it is read: also if others are put and taken
// between its pieces. Collect waits for its end.
func TestWalk_passesWhatStaysInTheStore(t *testing.T) {
	s, err := Open(vfs.NewMem(1), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 600
	want := map[string]bool{}
	for i := range n {
		s.Put(key(i), make([]byte, 40))
		want[string(key(i))] = true
	}
	w, err := BeginWalk(s)
	if err != nil {
		t.Fatal(err)
	}
	got, taken := map[string]bool{}, 0
	for {
		more, err := w.Read()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		err = w.Each(func(key, _ []byte) error { got[string(key)] = true; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if taken += 30; taken > n { // from the end: many of them are still to come
			continue
		}
		for i := n - taken; i < n-taken+30; i++ {
			if willPass := w.WillPass(key(i)); willPass == got[string(key(i))] {
				t.Fatalf("host %d is read: %v, and will be passed: %v", i, !willPass, willPass)
			} else if willPass {
				delete(want, string(key(i)))
			}
			if _, found, err := s.Take(nil, key(i)); !found || err != nil {
				t.Fatal(i, err)
			}
			s.Put(key(n+i), nil)
			if w.WillPass(key(n + i)) {
				t.Fatal("a host that was put later will be passed")
			}
		}
		if moved, err := s.Collect(1 << 20); moved != 0 || err != nil {
			t.Fatal("Collect during a Walk:", moved, err)
		}
	}
	if !maps.Equal(got, want) || len(want) == n {
		t.Errorf("%d hosts were passed, want %d", len(got), len(want))
	}
	if w.End(); s.needsCollect() {
		if moved, err := s.Collect(1 << 20); moved == 0 || err != nil {
			t.Error("Collect after a Walk:", moved, err)
		}
	} else {
		t.Error("there is nothing to collect")
	}
}
