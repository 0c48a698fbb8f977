package consensus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

// rpcTime is how long an answer of another node is waited for.
const rpcTime = 2 * time.Second

// snapshotMost is the largest snapshot that is read.
const snapshotMost = 4 << 20

// transport brings raft's calls to the other nodes, over Options.Ask. Addresses are raft IDs.
type transport struct {
	id    string
	calls *calls
	raft  *raft.Raft // from Start on
	rpcs  chan raft.RPC
	ctx   context.Context //nolint:containedctx // from Start to Close: raft's calls have none
	ended chan struct{}
}

// rpc is one of raft's calls.
func (t *transport) rpc(kind string, to raft.ServerAddress, args, resp any, data []byte) error {
	q := &question{Kind: kind, To: string(to), Body: encode(args), Data: data}
	a, err := t.calls.call(t.ctx, lineOf(string(to)), q, rpcTime)
	if err != nil {
		return err
	}
	if a.ID != string(to) || a.Cluster != q.Cluster || len(a.Body) == 0 {
		return fmt.Errorf("consensus: %s has another log", a.ID)
	}
	return decode(a.Body, resp)
}

// answer gives a call of another node to raft.
func (t *transport) answer(ctx context.Context, q *question) (body json.RawMessage, err error) {
	reply := make(chan raft.RPCResponse, 1)
	call := raft.RPC{RespChan: reply}
	if call.Command, err = read(q); err != nil {
		return nil, err
	}
	if args, ok := call.Command.(*raft.InstallSnapshotRequest); ok {
		call.Reader = &snapshotReader{raft: t.raft, index: args.LastLogIndex, data: bytes.NewReader(q.Data)}
	}
	select {
	case t.rpcs <- call:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.ended:
		return nil, errClosed
	}
	select {
	case r := <-reply:
		if r.Error != nil {
			return nil, fmt.Errorf("consensus: %w", r.Error)
		}
		return encode(r.Response), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-t.ended:
		return nil, errClosed
	}
}

// errLate says that a snapshot is older than the log of this node.
var errLate = errors.New("consensus: a snapshot that came late")

// snapshotReader is the content of a snapshot that another node sends. It refuses a snapshot that ends before the log.
// Raft would install it: it would delete acknowledged entries, and panic at the next one. Two goroutines of a leader
// can send snapshots to an agent that was removed and added again, and the older one may come last. Raft reads between
// two calls, so the log does not grow meanwhile.
type snapshotReader struct {
	raft  *raft.Raft
	index uint64
	data  *bytes.Reader
}

// Read implements io.Reader.
func (r *snapshotReader) Read(b []byte) (int, error) {
	if last := r.raft.LastIndex(); r.index < last {
		return 0, fmt.Errorf("%w: it ends at entry %d, the log at %d", errLate, r.index, last)
	}
	return r.data.Read(b)
}

// read reads one of raft's calls. What raft would panic at is refused.
func read(q *question) (command any, err error) {
	sound := true
	switch q.Kind {
	case kindAppend:
		args := new(raft.AppendEntriesRequest)
		command, err = args, decode(q.Body, args)
		sound = err != nil || readable(args.Entries)
	case kindInstall:
		args := new(raft.InstallSnapshotRequest)
		command, err = args, decode(q.Body, args)
		sound = err != nil || isConfiguration(args.Configuration) && args.Size == int64(len(q.Data))
	case kindVote:
		args := new(raft.RequestVoteRequest)
		command, err = args, decode(q.Body, args)
	case kindPreVote:
		args := new(raft.RequestPreVoteRequest)
		command, err = args, decode(q.Body, args)
	case kindNow:
		args := new(raft.TimeoutNowRequest)
		command, err = args, decode(q.Body, args)
	}
	if err == nil && !sound {
		err = fmt.Errorf("%w: an entry of the log, or a snapshot", ErrMessage)
	}
	return command, err
}

// readable says that raft can decode some entries, which it does not check itself.
func readable(entries []*raft.Log) bool {
	for _, l := range entries {
		if l == nil || l.Type > raft.LogConfiguration || l.Type == raft.LogConfiguration && !isConfiguration(l.Data) {
			return false
		}
	}
	return true
}

func isConfiguration(b []byte) (is bool) {
	defer func() { is = recover() == nil && is }()
	return len(raft.DecodeConfiguration(b).Servers) > 0
}

// Consumer implements raft.Transport.
func (t *transport) Consumer() <-chan raft.RPC { return t.rpcs }

// LocalAddr implements raft.Transport.
func (t *transport) LocalAddr() raft.ServerAddress { return raft.ServerAddress(t.id) }

// AppendEntriesPipeline implements raft.Transport: there is none.
func (t *transport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// AppendEntries implements raft.Transport.
func (t *transport) AppendEntries(
	_ raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse,
) error {
	return t.rpc(kindAppend, to, args, resp, nil)
}

// RequestVote implements raft.Transport.
func (t *transport) RequestVote(
	_ raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse,
) error {
	return t.rpc(kindVote, to, args, resp, nil)
}

// RequestPreVote implements raft.WithPreVote.
func (t *transport) RequestPreVote(
	_ raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse,
) error {
	return t.rpc(kindPreVote, to, args, resp, nil)
}

// InstallSnapshot implements raft.Transport.
func (t *transport) InstallSnapshot(
	_ raft.ServerID, to raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse,
	data io.Reader,
) error {
	b, err := io.ReadAll(io.LimitReader(data, snapshotMost))
	if err != nil {
		return errors.Join(errClosed, err)
	}
	return t.rpc(kindInstall, to, args, resp, b)
}

// EncodePeer implements raft.Transport.
func (t *transport) EncodePeer(_ raft.ServerID, addr raft.ServerAddress) []byte { return []byte(addr) }

// DecodePeer implements raft.Transport.
func (t *transport) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }

// SetHeartbeatHandler implements raft.Transport: heartbeats go where all calls go.
func (t *transport) SetHeartbeatHandler(func(raft.RPC)) {}

// TimeoutNow implements raft.Transport.
func (t *transport) TimeoutNow(
	_ raft.ServerID, to raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse,
) error {
	return t.rpc(kindNow, to, args, resp, nil)
}
