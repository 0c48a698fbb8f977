package extsort_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
)

func sorter(t *testing.T, fsys vfs.FS) *extsort.Sorter {
	t.Helper()
	s, err := extsort.New(fsys, extsort.Options{File: "scratch/sort", MemoryBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// For any number of entries the result equals that of slices.Sort, including duplicates.
func TestSortedGivesWhatSortingInMemoryGives(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 1000, 2730, 2731, 10_000, 30_001} {
		fsys := vfs.NewMem(1)
		s := sorter(t, fsys)
		var want []extsort.Entry
		for range n {
			e := extsort.Entry{Hi: rng.Uint64N(uint64(n)), Lo: rng.Uint64N(3), Tag: rng.Uint64N(2)}
			want = append(want, e)
			if err := s.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, extsort.Compare)
		var got []extsort.Entry
		for e, err := range s.Sorted() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if !slices.Equal(got, want) || s.Len() != int64(n) {
			t.Errorf("%d entries: %d came back, Len is %d", n, len(got), s.Len())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if used := fsys.Used(); used != 0 {
			t.Errorf("%d entries: %d bytes are left on disk", n, used)
		}
	}
}

func TestAFullDiskIsToldAndWhoeverStopsEarlyMay(t *testing.T) {
	fsys := vfs.NewMem(1)
	fsys.SetLimit(100 << 10)
	s := sorter(t, fsys)
	var err error
	for i := uint64(0); i < 20_000 && err == nil; i++ {
		err = s.Add(extsort.Entry{Hi: i * 0x9e3779b97f4a7c15})
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	fsys.SetLimit(-1)
	s = sorter(t, fsys)
	for i := range uint64(10_000) {
		if err := s.Add(extsort.Entry{Hi: 10_000 - i}); err != nil {
			t.Fatal(err)
		}
	}
	for e := range s.Sorted() {
		if e.Hi != 1 {
			t.Errorf("the first is %d", e.Hi)
		}
		break
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
