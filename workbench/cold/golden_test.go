package cold_test

import (
	"fmt"
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
	"orbweaver/workbench/cold"
)

// A log of hosts, some of them taken, has the checked-in bytes. After Open it has the other hosts.
func TestGolden_log(t *testing.T) {
	o := cold.Options{Dir: "cold", Seed: 7, SegmentBytes: 1 << 10}
	disk := vfs.NewMem(1)
	s, err := cold.Open(disk, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := func(i int) []byte { return fmt.Appendf(nil, "http://host-%d.test", i) }
	form := func(i int) string { return fmt.Sprintf("what is known of host %d", i) }
	for i := range 40 {
		s.Put(key(i), []byte(form(i)))
	}
	for i := range 5 {
		if _, found, err := s.Take(nil, key(i*3)); !found || err != nil {
			t.Fatal(found, err)
		}
	}
	cut := s.Checkpoint()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	back, cut := golden.CompareCheckpoint(t, "cold-1.tar",
		"e233a0d4babc7698d26e005a9f4bc800a7caebf72b41b4e6843062e6f81de7a5", disk, cut)
	if s, err = cold.Open(back, o, &cut); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	for i := range 40 {
		got, found, err := s.Take(nil, key(i))
		if wasTaken := i%3 == 0 && i < 15; err != nil || found == wasTaken || found && string(got) != form(i) {
			t.Errorf("host %d: %q, %v, %v", i, got, found, err)
		}
	}
}
