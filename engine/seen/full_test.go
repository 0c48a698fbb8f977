package seen

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// TestN4_AFullDiskLosesNothing: for a while every write fails, of entries and of runs, some of them half-way. Inserts are
// refused, or not; what was refused is not in the map, and the same call succeeds later.
func TestN4_AFullDiskLosesNothing(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.Write, faultfs.Open} {
		mem := vfs.NewMem(1)
		rules := []faultfs.Rule{{Op: op, Name: "run-*", From: 8, Count: 60, Err: syscall.ENOSPC, Short: 100}}
		if op == faultfs.Write {
			rules = append(rules, faultfs.Rule{Op: op, Name: "entries", From: 3, Count: 40, Err: syscall.ENOSPC, Short: 100})
		}
		m := open(t, faultfs.New(mem, faultfs.NewScript(rules...)), nil)
		refused := 0
		for i := range uint64(400) {
			for {
				before := m.Len()
				_, fresh, err := m.Insert(digestOf(i), firstOf(i))
				if err == nil && fresh {
					break
				}
				if !errors.Is(err, syscall.ENOSPC) || m.Len() != before {
					t.Fatalf("insert %d: fresh %v, error %v, %d digests", i, fresh, err, m.Len())
				}
				has(t, m, i, false)
				refused++
			}
			has(t, m, i, true)
			has(t, m, i/2, true)
			if err := m.Tend(); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		}
		if st := m.Stats(); refused == 0 || st.WriteErrors < 60 {
			t.Fatalf("%d refused, stats %+v", refused, st)
		}
		for i := range uint64(400) {
			insert(t, m, i, false)
		}
		must(t, m.Check())
		cut := saved(t, m)
		again := open(t, mem.KillClone(), cut)
		for i := range uint64(410) {
			has(t, again, i, i < 400)
		}
	}
}

// The disk fills up between the cut and its Sync: the Sync can be repeated.
func TestN4_SyncOnAFullDisk(t *testing.T) {
	mem := vfs.NewMem(1)
	script := faultfs.NewScript()
	m := open(t, faultfs.New(mem, script), nil)
	fill(t, m, 45)
	for i := uint64(1000); len(m.entries.buf) == 0; i++ {
		insert(t, m, i, true)
	}
	c, err := m.Cut()
	must(t, err)
	script.Add(faultfs.Rule{Op: faultfs.Write, Count: 2, Err: syscall.ENOSPC, Short: 9})
	for range 2 {
		if err := m.Sync(); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	must(t, m.Sync())
	must(t, meets(mem.KillClone(), &c))
}

// Runs that are of no use any more go when they may: at once if no cut names them, else with Release, which tries again
// what could not be removed.
func TestRunsGoWhenNoCutNamesThem(t *testing.T) {
	mem := vfs.NewMem(1)
	script := faultfs.NewScript()
	m := open(t, faultfs.New(mem, script), nil)
	fill(t, m, 200)
	if files := len(content(t, mem)); files > 1+m.Stats().Runs+1 {
		t.Fatalf("%d files for %d runs", files, m.Stats().Runs)
	}
	first := saved(t, m)
	must(t, m.Release(*first))
	for i := range uint64(400) {
		insert(t, m, 200+i, true)
		must(t, m.Tend())
	}
	must(t, meets(mem.KillClone(), first))
	second := saved(t, m)
	script.Add(faultfs.Rule{Op: faultfs.Remove, Count: 1, Err: syscall.EIO})
	if err := m.Release(*second); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Release: %v", err)
	}
	must(t, m.Release(*second))
	for _, r := range first.Runs {
		_, err := mem.Size(runName(small.Dir, r.Serial))
		kept := false
		for _, s := range second.Runs {
			kept = kept || s.Serial == r.Serial
		}
		if errors.Is(err, fs.ErrNotExist) == kept {
			t.Fatalf("run %d of %+v, then %+v: %v", r.Serial, first, second, err)
		}
	}
	must(t, meets(mem.KillClone(), second))
}
