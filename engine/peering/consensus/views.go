package consensus

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/hashicorp/raft"

	"orbweaver/internal/notify"
)

// view is an ownership view and its place in the log.
type view struct {
	Index uint64 `json:"index"`
	View  []byte `json:"view"`
}

// views is what the log says: the last view. It implements raft.FSM.
type views struct {
	changed chan struct{} // capacity 1: another view is there, or a lease

	mu    sync.Mutex
	last  view // guarded by mu
	count int  // guarded by mu: how many views came; a snapshot in place of some counts twice
}

// Entries of the log.
const (
	entryView  = 'V' // the view follows
	entryProof = 'P'
)

// now is the last view, and how many came.
func (v *views) now() (view, int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last, v.count
}

// wants says that a wish is for another view than the last one, and follows from that.
func (v *views) wants(w Wish) bool {
	last, _ := v.now()
	return w.Base == last.Index && (last.Index == 0 || !bytes.Equal(last.View, w.View))
}

// Apply implements raft.FSM. It gives the index of the view that holds at this place of the log.
func (v *views) Apply(l *raft.Log) any {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(l.Data) > 0 && l.Data[0] == entryView {
		v.last = view{Index: l.Index, View: bytes.Clone(l.Data[1:])}
		v.count++
		notify.Send(v.changed)
	}
	return v.last.Index
}

// Snapshot implements raft.FSM.
func (v *views) Snapshot() (raft.FSMSnapshot, error) {
	last, _ := v.now()
	return snapshot(encode(last)), nil
}

// Restore implements raft.FSM.
func (v *views) Restore(r io.ReadCloser) error {
	b, err := io.ReadAll(io.LimitReader(r, snapshotMost))
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	var last view
	if err := decode(b, &last); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last = last
	v.count += 2
	notify.Send(v.changed)
	return nil
}

// snapshot is a view that is written.
type snapshot []byte

// Persist implements raft.FSMSnapshot.
func (s snapshot) Persist(k raft.SnapshotSink) error {
	if _, err := k.Write(s); err != nil {
		return errors.Join(err, k.Cancel())
	}
	return k.Close()
}

// Release implements raft.FSMSnapshot.
func (s snapshot) Release() {}
