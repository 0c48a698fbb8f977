package seen

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"

	"github.com/google/go-cmp/cmp"
)

var small = Options{File: "frontier/seen", BufferBytes: 300}

func digestOf(i uint64) Digest { return sha1.Sum(fmt.Appendf(nil, "page %d", i)) }

// firstOf is a record like any other; some URIs are longer than one read.
func firstOf(i uint64) First {
	f := First{
		URI:  fmt.Sprintf("http://host.example/%d%s", i, strings.Repeat("x", int(i%7*i%900))),
		Date: time.Date(2026, 2, 3, 4, 5, int(i%60), int(i%1000), time.UTC),
	}
	copy(f.RecordID[:], fmt.Sprintf("record %9d", i))
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, fsys vfs.FS, cut *Cut) *Map {
	t.Helper()
	m, err := Open(fsys, small, cut)
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	return m
}

// insert inserts number i, and checks freshness.
func insert(t testing.TB, m *Map, i uint64, wantFresh bool) {
	t.Helper()
	f, fresh, err := m.Insert(digestOf(i), firstOf(i))
	must(t, err)
	if fresh != wantFresh {
		t.Fatalf("insert %d: fresh is %v", i, fresh)
	}
	if diff := cmp.Diff(firstOf(i), f); diff != "" {
		t.Fatalf("insert %d: %s", i, diff)
	}
}

func has(t testing.TB, m *Map, i uint64, want bool) {
	t.Helper()
	f, ok, err := m.Lookup(digestOf(i))
	must(t, err)
	if ok != want {
		t.Fatalf("look-up of %d says %v", i, ok)
	}
	if ok && !cmp.Equal(f, firstOf(i)) {
		t.Fatalf("look-up of %d: %s", i, cmp.Diff(firstOf(i), f))
	}
}

func TestN1_OnlyTheWholeDigestCounts(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	// All digests have one hash, so that the file alone can tell them apart.
	m.hash = func(Digest) uint64 { return 1 << 63 }
	for i := range uint64(40) {
		has(t, m, i, false)
		insert(t, m, i, true)
		insert(t, m, i/2, false)
	}
	for i := range uint64(50) {
		has(t, m, i, i < 40)
	}
	if m.Stats().Collisions == 0 {
		t.Fatal("nothing collided")
	}
	must(t, m.Check())
}

func TestN2_OneOfManyWins(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	const workers, digests = 6, 400
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
				if i%100 == 0 {
					if _, err := m.Cut(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if fresh.Load() != digests || m.Len() != digests {
		t.Fatalf("%d fresh, %d in the map, of %d", fresh.Load(), m.Len(), digests)
	}
	must(t, m.Check())
}

// TestN3_ModelWithCrashes: random inserts, cuts and crashes against a set.
func TestN3_ModelWithCrashes(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		disk := vfs.NewMem(seed)
		m, err := Open(disk, small, nil)
		must(t, err)
		model, cutModel := map[uint64]bool{}, map[uint64]bool{}
		var cut *Cut
		for range 600 {
			switch n := rng.IntN(100); {
			case n < 70:
				i := rng.Uint64N(400)
				insert(t, m, i, !model[i])
				model[i] = true
			case n < 90:
				i := rng.Uint64N(400)
				has(t, m, i, model[i])
			case n < 94:
				c, err := m.Cut()
				must(t, err)
				must(t, m.Sync())
				cut, cutModel = &c, clone(model)
			case n < 95:
				must(t, m.Check())
			case n < 96 || cut == nil:
			default:
				if n < 98 {
					disk = disk.KillClone()
				} else {
					disk = disk.CrashClone(rng)
				}
				must(t, m.Close())
				m, err = Open(disk, small, cut)
				must(t, err)
				model = clone(cutModel)
				must(t, m.Check())
			}
			if m.Len() != uint64(len(model)) {
				t.Fatalf("seed %d: %d digests, the model has %d", seed, m.Len(), len(model))
			}
		}
		must(t, m.Close())
	}
}

func clone(m map[uint64]bool) map[uint64]bool {
	c := map[uint64]bool{}
	for k := range m {
		c[k] = true
	}
	return c
}

func TestN3_DamageBeforeTheCutIsAnErrorBehindItIsCutOff(t *testing.T) {
	disk := vfs.NewMem(1)
	m := open(t, disk, nil)
	for i := range uint64(5) {
		insert(t, m, i, true)
	}
	cut, err := m.Cut()
	must(t, err)
	whole, err := vfs.ReadFile(disk, small.File)
	must(t, err)
	rewrite := func(b []byte) {
		f, err := disk.Create(small.File)
		must(t, err)
		_, err = f.Write(b)
		must(t, err)
		must(t, f.Close())
	}
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		rewrite(bad)
		if _, err := Open(disk, small, &cut); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		rewrite(whole[:i])
		if _, err := Open(disk, small, &cut); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("file of %d bytes: %v", i, err)
		}
	}
	for _, tail := range [][]byte{whole[8:], whole[8:30], []byte("x")} {
		rewrite(append(bytes.Clone(whole), tail...))
		m := open(t, disk, &cut)
		if size, _ := disk.Size(small.File); size != cut.Length || m.Len() != 5 {
			t.Fatalf("%d bytes and %d digests after %d bytes of tail", size, m.Len(), len(tail))
		}
	}
	cut.Count++
	if _, err := Open(disk, small, &cut); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a wrong count: %v", err)
	}
	if _, err := Open(vfs.NewMem(1), small, &cut); err == nil || errors.Is(err, ErrCorrupt) {
		t.Fatalf("a missing file: %v", err)
	}
}

func TestN4_AFullDiskLosesNothing(t *testing.T) {
	mem := vfs.NewMem(1)
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Write, From: 2, Count: 40, Err: syscall.ENOSPC, Short: 100})
	m := open(t, faultfs.New(mem, script), nil)
	refused := 0
	for i := range uint64(200) {
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
	}
	if refused == 0 || m.Stats().WriteErrors != 40 {
		t.Fatalf("%d refused, stats %+v", refused, m.Stats())
	}
	for i := range uint64(200) {
		insert(t, m, i, false)
	}
	cut, err := m.Cut()
	must(t, err)
	must(t, m.Check())
	again := open(t, mem.KillClone(), &cut)
	for i := range uint64(210) {
		has(t, again, i, i < 200)
	}
}

func TestSyncFailsForEver(t *testing.T) {
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Count: 1, Err: syscall.EIO})
	m := open(t, faultfs.New(vfs.NewMem(1), script), nil)
	insert(t, m, 1, true)
	_, err := m.Cut()
	must(t, err)
	for range 2 {
		if err := m.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("Sync: %v", err)
		}
	}
	if _, err := m.Cut(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Cut: %v", err)
	}
}

func TestMemoryPerDigest(t *testing.T) {
	var tab table
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 300_000
	for i := range int64(n) {
		tab.insert(rng.Uint64(), i+1)
		if i > n/2 && i%1000 == 0 {
			if per := float64(tab.slots*slotBytes) / float64(tab.count); per < 16 || per > 24 {
				t.Fatalf("%.1f bytes per digest at %d", per, i)
			}
		}
	}
}

func TestClosedAndRefused(t *testing.T) {
	m := open(t, vfs.NewMem(1), nil)
	if _, _, err := m.Insert(Digest{}, First{URI: strings.Repeat("u", URIBytesMax+1)}); !errors.Is(err, ErrURI) {
		t.Fatalf("a long URI: %v", err)
	}
	must(t, m.Close())
	if _, _, err := m.Lookup(Digest{}); !errors.Is(err, ErrClosed) {
		t.Fatalf("Lookup: %v", err)
	}
	if _, err := m.Cut(); !errors.Is(err, ErrClosed) {
		t.Fatalf("Cut: %v", err)
	}
	if err := (Options{BufferBytes: -1}).Validate(); err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Fatalf("want two faults, have %v", err)
	}
}
