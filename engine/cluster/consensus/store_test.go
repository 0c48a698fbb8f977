package consensus

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"

	"orbweaver/bench/golden"
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
