package dedup

import (
	"slices"
	"testing"
)

// An offset is found in the filling and in the frozen table, and no more when the frozen table has become a run.
func TestTablesFindUntilTheRelease(t *testing.T) {
	tables := newTables(16)
	for i := range int64(16) {
		tables.filling.insert(uint64(i%4)<<40, i+1)
	}
	if !tables.filling.full() {
		t.Fatal("a table with as many digests as its limit is not full")
	}
	tables.freeze(17)
	tables.filling.insert(1<<40, 17)
	got := tables.appendOffsets(nil, 1<<40)
	slices.Sort(got)
	if want := []int64{2, 6, 10, 14, 17}; !slices.Equal(got, want) || tables.frozenEnd != 17 {
		t.Fatalf("offsets %v, want %v; the frozen entries end at %d", got, want, tables.frozenEnd)
	}
	merged := tables.release()
	if got := tables.appendOffsets(nil, 1<<40); !slices.Equal(got, []int64{17}) || tables.epoch != 1 {
		t.Errorf("after the release: offsets %v, epoch %d", got, tables.epoch)
	}
	merged.clear()
	tables.recycle(merged)
	tables.freeze(18)
	if tables.filling != merged || tables.spare != nil {
		t.Error("the empty table was not used again")
	}
}

// A table of another size, as Open makes it for many entries, is not used again.
func TestTablesDropATableOfAnotherSize(t *testing.T) {
	tables := newTables(16)
	tables.recycle(newTable(64))
	if want := tables.budget() / 2; tables.memory() != want {
		t.Errorf("%d bytes, want %d", tables.memory(), want)
	}
}
