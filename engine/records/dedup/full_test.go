package dedup

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// stubborn repeats a call until the disk accepts it, and returns the number of failures.
func stubborn(t *testing.T, call func() error) (refused int) {
	t.Helper()
	for ; ; refused++ {
		err := call()
		if err == nil {
			return refused
		}
		if !errors.Is(err, syscall.ENOSPC) || refused > 100 {
			t.Fatal(err)
		}
	}
}

// failing is a script in which hardly an operation on runs succeeds the first time, and none on entries for a while.
func failing(op faultfs.Op) *faultfs.Script {
	rules := []faultfs.Rule{{Op: op, Name: "entries", From: 3, Count: 40, Err: syscall.ENOSPC, Short: 100}}
	for from := 1; from < 3000; from += 3 + from%5 {
		rules = append(rules,
			faultfs.Rule{Op: op, Name: "run-*", From: from, Count: 2, Err: syscall.ENOSPC, Short: 100})
	}
	return faultfs.NewScript(rules...)
}

// TestY4_AFullDiskLosesNothing: time and again writes fail, of entries and of runs, some of them half-way, or files
// cannot be made, or read. Inserts are refused, or not; what was refused is not in the map, and the same call succeeds
// later.
func TestY4_AFullDiskLosesNothing(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.Write, faultfs.Open, faultfs.Read} {
		mem := vfs.NewMem(1)
		script := failing(op)
		if op == faultfs.Open {
			script.Clear()
		}
		m := open(t, faultfs.New(mem, script), nil)
		if op == faultfs.Open {
			script.Add(faultfs.Rule{Op: op, Name: "run-*", From: 2, Count: 50, Err: syscall.ENOSPC})
		}
		refused := 0
		for i := range uint64(400) {
			refused += stubborn(t, func() error {
				before := m.Len()
				_, fresh, err := m.Insert(digestOf(i), firstOf(i))
				if fresh == (err != nil) || m.Len() != before && err != nil {
					t.Fatalf("insert %d: fresh %v, error %v, %d digests, had %d", i, fresh, err, m.Len(), before)
				}
				return err
			})
			if most := bufferLimit*small.BufferBytes + 1000; len(m.log.buf) > most {
				t.Fatalf("%d bytes wait for the disk", len(m.log.buf))
			}
			for _, k := range []uint64{i, i / 2, 1000 + i} {
				stubborn(t, func() error {
					_, ok, err := m.Lookup(digestOf(k))
					if err == nil && ok != (k < 1000) {
						t.Fatalf("%d: %v", k, ok)
					}
					return err
				})
			}
			refused += stubborn(t, m.Tend)
		}
		if refused == 0 { // how many depends on the random seed of the file
			t.Fatalf("%v: the script had no effect", op)
		}
		script.Clear()
		for i := range uint64(400) {
			insert(t, m, i, false)
		}
		must(t, m.Check())
		checkpoint := saved(t, m)
		again := open(t, mem.KillClone(), checkpoint)
		for i := range uint64(410) {
			has(t, again, i, i < 400)
		}
	}
}

// A merge reads on in the middle of a segment, and every first try fails: each record comes once all the same.
func TestY4_ReadsThatFailWithinASegment(t *testing.T) {
	const n = (windowBlocks + 9) * blockRecords
	script := faultfs.NewScript()
	m := open(t, faultfs.New(vfs.NewMem(1), script), nil)
	m.hash = func(d Digest) uint64 { return 77<<segmentShift | binary.LittleEndian.Uint64(d[:])>>segmentBits }
	m.index.tables = newTables(n)
	for i := range uint64(2 * n) {
		_, _, err := m.Insert(benchDigest(i), First{})
		must(t, err)
		must(t, m.Tend())
	}
	for from := 1; from < 10; from += 2 {
		script.Add(faultfs.Rule{Op: faultfs.Read, Name: "run-*", From: from, Count: 1, Err: syscall.ENOSPC})
	}
	g := merged{sources: []*source{{r: m.index.runs.live[0]}}}
	refused := stubborn(t, func() error { return g.enter(77, nil) })
	var last slot
	for i := range n {
		v, from := g.least()
		if from < 0 || i > 0 && v.compare(last) <= 0 {
			t.Fatalf("record %d: %v after %v", i, v, last)
		}
		last = v
		refused += stubborn(t, func() error { return g.advance(from) })
	}
	if _, from := g.least(); from != -2 || refused != 2 {
		t.Fatalf("a record too many, or %d refused", refused)
	}
}

// What is inserted during a failing write comes after the data of that write.
func TestY4_AnInsertBesideAWriteThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem(1)
		m := open(
			t,
			faultfs.New(mem,
				faultfs.NewScript(faultfs.Rule{Op: faultfs.Write, Count: 1, Err: syscall.EIO, Delay: time.Minute})),
			nil,
		)
		var wg sync.WaitGroup
		for i := range uint64(6) {
			wg.Go(func() { insert(t, m, 7*i, true) })
			<-time.After(time.Second)
		}
		wg.Wait()
		must(t, m.Check())
		must(t, meets(mem, saved(t, m)))
	})
}

// The disk fills up between the checkpoint and its Sync: the Sync can be repeated.
func TestY4_SyncOnAFullDisk(t *testing.T) {
	mem := vfs.NewMem(1)
	script := faultfs.NewScript()
	m := open(t, faultfs.New(mem, script), nil)
	fill(t, m, 45)
	for i := uint64(1000); len(m.log.buf) == 0; i++ {
		insert(t, m, i, true)
	}
	c, err := m.Checkpoint()
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

// Runs that no Checkpoint names are removed at once, others by Release, which repeats failed removals.
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
