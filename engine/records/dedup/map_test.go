package dedup

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

func TestY1_OnlyTheWholeDigestCounts(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	// All digests have one of two hashes, so that the entries alone can tell them apart: in tables, in runs, in both.
	m.hash = func(d Digest) uint64 { return 1<<63 + uint64(d[0]&1) }
	for i := range uint64(120) {
		has(t, m, i, false)
		insert(t, m, i, true)
		insert(t, m, i/2, false)
		must(t, m.Tend())
	}
	for i := range uint64(150) {
		has(t, m, i, i < 120)
	}
	if st := m.Stats(); st.Collisions == 0 || st.Runs == 0 {
		t.Fatalf("nothing collided: %+v", st)
	}
	must(t, m.Check())
}

func TestY2_OneOfManyWins(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	const workers, digests = 6, 1000
	var fresh atomic.Int64
	var winners [digests]atomic.Pointer[string]
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range uint64(digests) {
				f, isFresh, err := m.Insert(digestOf(i), First{URI: fmt.Sprintf("worker %d page %d", w, i)})
				if err != nil {
					t.Error(err)
					return
				}
				if isFresh {
					fresh.Add(1)
				}
				if !winners[i].CompareAndSwap(nil, &f.URI) && *winners[i].Load() != f.URI {
					t.Errorf("digest %d is of %q and of %q", i, *winners[i].Load(), f.URI)
				}
				if err := m.Tend(); err != nil {
					t.Error(err)
				}
				if w > 0 || i%100 != 0 {
					continue
				}
				c, err := m.Checkpoint()
				if err := errors.Join(err, m.Sync(), m.Release(c)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if fresh.Load() != digests || m.Len() != digests {
		t.Fatalf("%d fresh, %d in the map, of %d", fresh.Load(), m.Len(), digests)
	}
	if st := m.Stats(); st.Merges < 10 {
		t.Fatalf("hardly a merge: %+v", st)
	}
	must(t, m.Check())
}

// What was in the map before is found by all while a merge moves it, record by record.
func TestY1_AMergeHidesNothing(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	const n = 400
	fill(t, m, n)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for k := range uint64(4 * n) {
				if f, ok, err := m.Lookup(digestOf(k % n)); err != nil || !ok || f.URI != firstOf(k%n).URI {
					t.Errorf("%d: %v, %v", k%n, ok, err)
				}
			}
		})
	}
	for i := range uint64(n) {
		if _, fresh, err := m.Insert(digestOf(n+i), firstOf(n+i)); err != nil || !fresh {
			t.Errorf("%d: %v, %v", n+i, fresh, err)
		}
		if err := m.Tend(); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// Of a hundred new digests hardly one is looked for on the disk, and there are few runs, few writes, little memory.
func TestWhatADigestCosts(t *testing.T) {
	t.Parallel()
	m, err := Open(vfs.NewMem(1), Options{Dir: "seen", MemoryBytes: 2 << 20}, nil)
	must(t, err)
	defer func() { must(t, m.Close()) }()
	const n = 60_000
	for i := range uint64(n) {
		if _, fresh, err := m.Insert(benchDigest(i), First{URI: "http://host.example/"}); err != nil || !fresh {
			t.Fatal(i, fresh, err)
		}
		must(t, m.Tend())
	}
	st := m.Stats()
	tables := int64(2 * m.index.tables.limit * slotsPerDigest * slotBytes)
	per := float64(st.MemoryBytes-tables) / n
	t.Logf("%.2f bytes of memory, %.2f of disk, %.2f writes, %.4f errors", per, float64(st.RunBytes)/n,
		float64(st.Merged)/n, float64(st.FilterErrors)/n)
	if per > 1.6 || tables > m.index.memoryBytes/tableShare {
		t.Errorf("%.2f bytes of memory for a digest, and %d of tables", per, tables)
	}
	if st.FilterErrors*100 > n || st.Merged > 8*n || st.Runs > 6 || st.RunBytes > 22*n {
		t.Errorf("%d digests: %+v", n, st)
	}
	if st.BlocksRead > st.FilterErrors+st.FilterErrors/20 {
		t.Errorf("%d blocks read for %d errors", st.BlocksRead, st.FilterErrors)
	}
}

// With less memory the filters err more often; nothing else changes.
func TestMemoryIsAnOption(t *testing.T) {
	t.Parallel()
	const n, tableMax = 30_000, 1024
	var errs []uint64
	for _, filters := range []int64{12 << 10, 24 << 10, 48 << 10} {
		memory := filters + 2*tableMax*slotsPerDigest*slotBytes
		m, err := Open(vfs.NewMem(1), Options{Dir: "seen", MemoryBytes: memory}, nil)
		must(t, err)
		m.index.tables = newTables(tableMax)
		for i := range uint64(n) {
			if _, fresh, err := m.Insert(benchDigest(i), First{}); err != nil || !fresh {
				t.Fatal(i, fresh, err)
			}
			must(t, m.Tend())
		}
		st := m.Stats()
		// The filters of each segment end with a word.
		if st.MemoryBytes > memory+int64(st.Runs)*segments*24 {
			t.Errorf("%d bytes in use of %d", st.MemoryBytes, memory)
		}
		errs = append(errs, st.FilterErrors)
		must(t, m.Check())
		must(t, m.Close())
	}
	if errs[0] < 2*errs[1] || errs[1] < 2*errs[2] || errs[2]*100 > n {
		t.Errorf("%d errors", errs)
	}
}

func TestClosedAndRefused(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	if _, _, err := m.Insert(Digest{}, First{URI: strings.Repeat("u", URIBytesMax+1)}); !errors.Is(err, ErrURI) {
		t.Fatalf("a long URI: %v", err)
	}
	if _, _, err := m.Insert(Digest{}, First{Date: time.Unix(1<<40, 0)}); !errors.Is(err, ErrDate) {
		t.Fatalf("a far date: %v", err)
	}
	for i, when := range []time.Time{{}, time.Unix(-1, 999), time.Unix(secondsMax, 5)} {
		d := digestOf(uint64(i))
		_, _, err := m.Insert(d, First{Date: when})
		must(t, err)
		if f, ok, err := m.Lookup(d); err != nil || !ok || !f.Date.Equal(when) {
			t.Fatalf("%v came back as %v, %v, %v", when, f.Date, ok, err)
		}
	}
	must(t, m.Close())
	if _, _, err := m.Lookup(Digest{}); !errors.Is(err, ErrClosed) {
		t.Fatalf("Lookup: %v", err)
	}
	if _, err := m.Checkpoint(); !errors.Is(err, ErrClosed) {
		t.Fatalf("Checkpoint: %v", err)
	}
	must(t, m.Tend())
	if err := (Options{BufferBytes: -1, MemoryBytes: 1}).Validate(); err == nil ||
		len(strings.Split(err.Error(), "\n")) != 3 {
		t.Fatalf("want three faults, have %v", err)
	}
}

func TestALookUpAllocatesNothing(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	fill(t, m, 100)
	i := uint64(1 << 30)
	if n := testing.AllocsPerRun(1000, func() {
		i++
		if _, ok, err := m.Lookup(benchDigest(i)); ok || err != nil {
			t.Fatal(ok, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
