package consensus

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
)

// diskOf is a disk with the directory d.
func diskOf(t *testing.T) *vfs.Mem {
	t.Helper()
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	return disk
}

func storeOn(t *testing.T, disk vfs.FS) *store {
	t.Helper()
	s, err := openStore(disk, "d/consensus", func() string { return "a1/7#1" }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The state of a node is written as it was, and read as it was.
func TestGolden_state(t *testing.T) {
	disk := diskOf(t)
	s := storeOn(t, disk)
	s.change(func(st *state) { st.Cluster, st.Pledge = "a1/7#1@2", "a2/8#3@4" })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.SetUint64([]byte("CurrentTerm"), 9))
	must(s.StoreLogs([]*raft.Log{
		{Index: 4, Term: 8, Type: raft.LogCommand, Data: []byte("V[]")},
		{Index: 5, Term: 9, Type: raft.LogCommand, Data: []byte("P"), AppendedAt: time.Unix(1e9, 0).UTC()},
		{Index: 6, Term: 9, Type: raft.LogNoop},
	}))
	must(s.DeleteRange(1, 4))
	servers := raft.Configuration{Servers: []raft.Server{{ID: "a1/7#1", Address: "a1/7#1"}}}
	k, err := s.Create(1, 4, 8, servers, 2, nil)
	must(err)
	_, err = k.Write([]byte(`{"index":4,"view":"W10="}`))
	must(err)
	must(k.Close())

	got, err := vfs.ReadFile(disk, "d/consensus")
	must(err)
	want := golden.Compare(t, "consensus-1", "b5dc2f53473bfcecaa4d1686e550a9853c2b0d3b439d720b7b6d04ced3dcf1b6", got)
	other := diskOf(t)
	must(vfs.WriteAtomic(other, "d/consensus", func(w io.Writer) error { _, err := w.Write(want); return err }))
	if diff := cmp.Diff(s.state, storeOn(t, other).state); diff != "" {
		t.Error(diff)
	}
}

// A file that is damaged is an error that says so.
func TestStore_aDamagedFile(t *testing.T) {
	disk := diskOf(t)
	storeOn(t, disk)
	whole, err := vfs.ReadFile(disk, "d/consensus")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, whole[:3], whole[:len(whole)-1], bytes.Replace(whole, []byte("a1"), []byte("a2"), 1)} {
		err := vfs.WriteAtomic(disk, "d/consensus", func(w io.Writer) error { _, err := w.Write(b); return err })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := openStore(disk, "d/consensus", nil, nil); !errors.Is(err, ErrState) {
			t.Errorf("%q: %v", b, err)
		}
	}
}

// CS4: what could not be stored is not said: the node is silent.
func TestCS4_aNodeThatCannotStoreIsSilent(t *testing.T) {
	disk := diskOf(t)
	s := storeOn(t, disk)
	disk.SetLimit(1)
	if err := s.SetUint64([]byte("CurrentTerm"), 3); err != nil {
		t.Error("raft panics at an error of the term")
	}
	if err := s.StoreLog(&raft.Log{Index: 1}); !s.silent() || !errors.Is(err, errClosed) {
		t.Errorf("silent %t, %v", s.silent(), err)
	}
}

// entriesOf are entries of one term.
func entriesOf(term uint64, indexes ...uint64) (of []*raft.Log) {
	for _, i := range indexes {
		of = append(of, &raft.Log{Index: i, Term: term, Type: raft.LogNoop})
	}
	return of
}

func takeSnapshot(t *testing.T, s *store, index, term uint64) {
	t.Helper()
	k, err := s.Create(1, index, term, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}

// CS4: a snapshot that raft began before another agent sent a newer one does not take its place.
func TestCS4_aNewerSnapshotStays(t *testing.T) {
	s := storeOn(t, diskOf(t))
	own, err := s.Create(1, 70, 1, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	takeSnapshot(t, s, 160, 2)
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Index != 160 {
		t.Errorf("%+v, %v", list, err)
	}
}

// CS4: entries that a snapshot of another agent has replaced are gone after a restart, though raft did not delete them
// before the process ended. Those that lead to the snapshot stay, for agents that are late.
func TestCS4_replacedEntriesAreGoneAfterARestart(t *testing.T) {
	for _, c := range []struct {
		snapshotTerm uint64
		want         int
	}{{2, 1}, {1, 4}} {
		disk := diskOf(t)
		s := storeOn(t, disk)
		if err := s.StoreLogs(entriesOf(1, 1, 2, 3, 4)); err != nil {
			t.Fatal(err)
		}
		takeSnapshot(t, s, 3, c.snapshotTerm)
		if got := len(storeOn(t, disk).state.Logs); got != c.want {
			t.Errorf("a snapshot of term %d: %d entries left, want %d", c.snapshotTerm, got, c.want)
		}
	}
}

// CS4: a log without some of its entries is an error that says so, in place of raft's panic.
func TestCS4_aLogWithAGapIsDamaged(t *testing.T) {
	for _, c := range []struct {
		snapshot uint64
		indexes  []uint64
		sound    bool
	}{{0, []uint64{1, 2}, true}, {0, []uint64{2}, false}, {90, []uint64{91, 92}, true}, {90, []uint64{92}, false},
		{90, []uint64{91, 93}, false}} {
		disk := diskOf(t)
		s := storeOn(t, disk)
		if c.snapshot > 0 {
			takeSnapshot(t, s, c.snapshot, 1)
		}
		if err := s.StoreLogs(entriesOf(1, c.indexes...)); err != nil {
			t.Fatal(err)
		}
		_, err := openStore(disk, "d/consensus", nil, nil)
		if (err == nil) != c.sound || err != nil && !errors.Is(err, ErrState) {
			t.Errorf("entries %v after the snapshot at %d: %v", c.indexes, c.snapshot, err)
		}
	}
}

// CS4: when a change was given up no later one is made: raft may not know that entries were not deleted.
func TestCS4_afterAChangeThatWasGivenUpNoneIsMade(t *testing.T) {
	disk := diskOf(t)
	s := storeOn(t, disk)
	if err := s.StoreLogs(entriesOf(1, 1, 2)); err != nil {
		t.Fatal(err)
	}
	disk.SetLimit(1)
	if err := s.DeleteRange(2, 2); !errors.Is(err, errClosed) {
		t.Errorf("the deletion: %v", err)
	}
	disk.SetLimit(-1)
	if err := s.StoreLogs(entriesOf(2, 2)); !errors.Is(err, errClosed) || len(s.state.Logs) != 2 {
		t.Errorf("the entry after it: %v, %d entries", err, len(s.state.Logs))
	}
}
