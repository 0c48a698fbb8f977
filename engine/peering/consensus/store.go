package consensus

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/raft"

	"orbweaver/internal/vfs"
)

// ErrState says that the file of the state is damaged.
var ErrState = errors.New("consensus: the state of this agent is damaged")

// state is all that a node must not forget. It is small, since the log is compacted all the time.
type state struct {
	ID       string             `json:"id"`                // raft ID
	Cluster  string             `json:"cluster,omitempty"` // names the log; empty if there is none yet
	Pledge   string             `json:"pledge,omitempty"`  // the log that this node has promised to join
	Stable   map[string][]byte  `json:"stable"`
	Logs     []*raft.Log        `json:"logs"` // without gaps
	Snapshot *raft.SnapshotMeta `json:"snapshot,omitempty"`
	View     []byte             `json:"view,omitempty"` // content of the snapshot
}

// store keeps the state in one file, which each change writes again. It implements raft's three stores.
//
// Raft panics if a term cannot be stored. So a write that fails is tried again after Options.Retry. Until it succeeds
// the node says nothing to other agents: a leader whose disk is full is replaced. When Retry gives up, that
// is so to the end.
type store struct {
	fs    vfs.FS
	name  string
	retry func(ctx context.Context, err error) error
	lock  chan struct{} // capacity 1: held by a change. It may take long, so it is no mutex

	mu    sync.Mutex
	state state           // guarded by mu: what is durable. What it refers to is never changed
	ctx   context.Context //nolint:containedctx // guarded by mu: of the node from Start on, since raft's stores have none
	stuck bool            // guarded by mu: the last write has failed
	ended bool            // guarded by mu: Retry has given up, so nothing is written any more
}

// openStore reads the state; a node without one begins with a new one.
func openStore(
	fsys vfs.FS, name string, fresh func() string, retry func(context.Context, error) error,
) (*store, error) {
	s := &store{fs: fsys, name: name, retry: retry, lock: make(chan struct{}, 1)}
	b, err := vfs.ReadFile(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.state = state{ID: fresh(), Stable: map[string][]byte{}}
		return s, s.write(&s.state)
	case err != nil:
		return nil, fmt.Errorf("consensus: %w", err)
	}
	end := max(len(b)-4, 0)
	if end == 0 || crc32.Checksum(b[:end], castagnoli()) != binary.LittleEndian.Uint32(b[end:]) ||
		json.Unmarshal(b[:end], &s.state) != nil {
		return nil, fmt.Errorf("%w: %s", ErrState, name)
	}
	if s.state.Stable == nil {
		s.state.Stable = map[string][]byte{}
	}
	s.state.dropReplaced()
	if !s.state.isWhole() {
		return nil, fmt.Errorf("%w: %s: entries of the log are missing", ErrState, name)
	}
	return s, nil
}

// dropReplaced drops the entries that a snapshot of another agent has replaced. The process ended before raft did that.
// They may be of a leader that was not followed.
func (st *state) dropReplaced() {
	if st.Snapshot == nil || slices.ContainsFunc(st.Logs, func(l *raft.Log) bool {
		return l.Index == st.Snapshot.Index && l.Term == st.Snapshot.Term
	}) {
		return
	}
	st.Logs = slices.DeleteFunc(st.Logs, func(l *raft.Log) bool { return l.Index <= st.Snapshot.Index })
}

// isWhole says that each entry after the snapshot is there, up to the last one. Raft panics at one that is not.
func (st *state) isWhole() bool {
	next := uint64(1)
	if st.Snapshot != nil {
		next = st.Snapshot.Index + 1
	}
	for _, l := range st.Logs {
		if l.Index > next {
			return false
		}
		if l.Index == next {
			next++
		}
	}
	return true
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// write makes a state durable.
func (s *store) write(st *state) error {
	body := encode(st)
	body = binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, castagnoli()))
	err := vfs.WriteAtomic(s.fs, s.name, func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	})
	if err != nil {
		return fmt.Errorf("consensus: %w", err)
	}
	return nil
}

// change changes the state durably. If it cannot, the node is silent from then on.
func (s *store) change(change func(*state)) {
	s.lock <- struct{}{}
	defer func() { <-s.lock }()
	s.mu.Lock()
	next, ctx, ended := s.state, s.ctx, s.ended
	s.mu.Unlock()
	if ended {
		return
	}
	next.Stable, next.Logs = maps.Clone(next.Stable), slices.Clone(next.Logs)
	change(&next)
	for {
		err := s.write(&next)
		s.mu.Lock()
		if s.stuck = err != nil; !s.stuck {
			s.state = next
		}
		s.mu.Unlock()
		if err == nil {
			return
		}
		if s.retry == nil || ctx == nil || s.retry(ctx, err) != nil {
			s.end()
			return
		}
	}
}

// end has the store write nothing more. A change that followed one that was not made would leave gaps in the log.
func (s *store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// begin gives the store the context of the node.
func (s *store) begin(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
}

// silent says that the node must say nothing now: what it would say may not be durable.
func (s *store) silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck
}

// names are the parts of the state that this package uses itself.
func (s *store) names() (id, cluster, pledge string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.ID, s.state.Cluster, s.state.Pledge
}

// Set implements raft.StableStore.
func (s *store) Set(key, val []byte) error {
	s.change(func(st *state) { st.Stable[string(key)] = bytes.Clone(val) })
	return nil
}

// Get implements raft.StableStore.
func (s *store) Get(key []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.state.Stable[string(key)]), nil
}

// SetUint64 implements raft.StableStore.
func (s *store) SetUint64(key []byte, val uint64) error {
	if was, _ := s.GetUint64(key); was == val && val != 0 {
		return nil
	}
	return s.Set(key, binary.BigEndian.AppendUint64(nil, val))
}

// GetUint64 implements raft.StableStore.
func (s *store) GetUint64(key []byte) (uint64, error) {
	b, err := s.Get(key)
	if len(b) != 8 {
		return 0, err
	}
	return binary.BigEndian.Uint64(b), err
}

// FirstIndex implements raft.LogStore.
func (s *store) FirstIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.state.Logs) == 0 {
		return 0, nil
	}
	return s.state.Logs[0].Index, nil
}

// LastIndex implements raft.LogStore.
func (s *store) LastIndex() (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.state.Logs) == 0 {
		return 0, nil
	}
	return s.state.Logs[len(s.state.Logs)-1].Index, nil
}

// GetLog implements raft.LogStore. The entry at which the snapshot ends is known without its content: a leader that got
// no answer sends the entries after it again, and raft asks for the term of the entry before these. Without an answer
// raft would have the leader send the snapshot again, and with it delete the entries after it.
func (s *store) GetLog(index uint64, log *raft.Log) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.state.Logs {
		if l.Index == index {
			*log = *l
			return nil
		}
	}
	if end := s.state.Snapshot; end != nil && end.Index == index {
		*log = raft.Log{Index: end.Index, Term: end.Term, Type: raft.LogNoop}
		return nil
	}
	return raft.ErrLogNotFound
}

// StoreLog implements raft.LogStore.
func (s *store) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs implements raft.LogStore.
func (s *store) StoreLogs(logs []*raft.Log) error {
	s.change(func(st *state) {
		for _, l := range logs {
			own := *l
			st.Logs = append(st.Logs, &own)
		}
	})
	if s.silent() {
		return errClosed
	}
	return nil
}

// DeleteRange implements raft.LogStore.
func (s *store) DeleteRange(low, high uint64) error {
	s.change(func(st *state) {
		var left []*raft.Log
		for _, l := range st.Logs {
			if l.Index < low || l.Index > high {
				left = append(left, l)
			}
		}
		st.Logs = left
	})
	if s.silent() {
		return errClosed
	}
	return nil
}

// IsMonotonic implements raft.MonotonicLogStore.
func (s *store) IsMonotonic() bool { return true }

// Create implements raft.SnapshotStore.
func (s *store) Create(
	version raft.SnapshotVersion, index, term uint64, c raft.Configuration, at uint64, _ raft.Transport,
) (raft.SnapshotSink, error) {
	return &sink{store: s, meta: raft.SnapshotMeta{
		Version: version, ID: fmt.Sprintf("%d-%d", term, index), Index: index, Term: term,
		Configuration: c.Clone(), ConfigurationIndex: at,
	}}, nil
}

// List implements raft.SnapshotStore.
func (s *store) List() ([]*raft.SnapshotMeta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Snapshot == nil {
		return nil, nil
	}
	meta := *s.state.Snapshot
	return []*raft.SnapshotMeta{&meta}, nil
}

// Open implements raft.SnapshotStore.
func (s *store) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Snapshot == nil || s.state.Snapshot.ID != id {
		return nil, nil, fmt.Errorf("%w: no snapshot %s", ErrState, id)
	}
	meta := *s.state.Snapshot
	return &meta, io.NopCloser(bytes.NewReader(s.state.View)), nil
}

// sink takes a snapshot.
type sink struct {
	store *store
	meta  raft.SnapshotMeta
	data  []byte
}

func (k *sink) Write(b []byte) (int, error) {
	k.data = append(k.data, b...)
	return len(b), nil
}

func (k *sink) ID() string { return k.meta.ID }

func (k *sink) Cancel() error { return nil }

// Close makes the snapshot durable. It keeps a newer one, which another agent may have sent while raft took this one.
func (k *sink) Close() error {
	k.meta.Size = int64(len(k.data))
	k.store.change(func(st *state) {
		if st.Snapshot == nil || st.Snapshot.Index <= k.meta.Index {
			st.Snapshot, st.View = &k.meta, k.data
		}
	})
	if k.store.silent() {
		return errClosed
	}
	return nil
}
