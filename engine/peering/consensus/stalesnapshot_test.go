package consensus

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/raft"

	"orbweaver/internal/vfs"
)

// follower is a node that a test leads by hand, as the agent a0.
type follower struct {
	t    *testing.T
	disk *vfs.Mem
	node *Node
}

const (
	handLeader = "a0/0#1"
	handLog    = handLeader + "@1"
)

func startFollower(t *testing.T, disk *vfs.Mem) *follower {
	t.Helper()
	nowhere := func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("not there") }
	n, err := Open(Options{FS: disk, File: "d/consensus", Self: "a1/0", Ask: nowhere, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &follower{t, disk, n}
}

func (f *follower) close() {
	f.t.Helper()
	if err := f.node.Close(); err != nil {
		f.t.Error(err)
	}
}

// say gives the follower one of raft's calls. It returns what the follower refuses.
func (f *follower) say(kind string, args any, data []byte, resp any) error {
	f.t.Helper()
	q := question{Kind: kind, From: handLeader, To: f.node.id, Cluster: handLog, Body: encode(args), Data: data}
	raw, err := f.node.Answer(f.t.Context(), "a0", encode(q))
	if err != nil {
		return err
	}
	a := new(answer)
	if err := errors.Join(decode(raw, a), decode(a.Body, resp)); err != nil {
		f.t.Fatal(err)
	}
	return nil
}

// appends appends the entries after prev, up to last, all of them committed at the leader.
func (f *follower) appends(prev, last uint64) bool {
	f.t.Helper()
	args := raft.AppendEntriesRequest{
		RPCHeader: headerOf(), Term: 1, PrevLogEntry: prev, PrevLogTerm: 1, LeaderCommitIndex: last,
	}
	for i := prev + 1; i <= last; i++ {
		args.Entries = append(args.Entries, &raft.Log{Index: i, Term: 1, Type: raft.LogCommand, Data: []byte{entryProof}})
	}
	var resp raft.AppendEntriesResponse
	if err := f.say(kindAppend, args, nil, &resp); err != nil {
		f.t.Fatal(err)
	}
	return resp.Success
}

// installs installs the snapshot at an index.
func (f *follower) installs(index uint64) (bool, error) {
	f.t.Helper()
	data := encode(view{Index: index, View: []byte("[]")})
	servers := raft.Configuration{Servers: []raft.Server{{ID: handLeader, Address: handLeader}}}
	args := raft.InstallSnapshotRequest{
		RPCHeader: headerOf(), SnapshotVersion: raft.SnapshotVersionMax, Term: 1, LastLogIndex: index, LastLogTerm: 1,
		Configuration: raft.EncodeConfiguration(servers), ConfigurationIndex: 1, Size: int64(len(data)),
	}
	var resp raft.InstallSnapshotResponse
	err := f.say(kindInstall, args, data, &resp)
	return resp.Success, err
}

func headerOf() raft.RPCHeader {
	return raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(handLeader), Addr: []byte(handLeader)}
}

// CS4: a snapshot that is late, older than entries that the agent has acknowledged, does not delete these.
func TestCS4_aLateSnapshotDeletesNoEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFollower(t, diskOf(t))
		if ok, err := f.installs(90); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if !f.appends(90, 100) {
			t.Fatal("the entries after a snapshot are refused")
		}
		if ok, err := f.installs(90); ok || err == nil {
			t.Errorf("the late snapshot: %t, %v", ok, err)
		}
		if !f.appends(100, 101) { // raft panicked here: the entries from 91 on were gone
			t.Error("the next entry is refused")
		}
		var entry raft.Log
		if err := f.node.store.GetLog(91, &entry); err != nil {
			t.Error(err)
		}
		f.close()
		startFollower(t, f.disk).close()
	})
}

// CS3: entries that follow a snapshot can come again, since their acknowledgement was lost. They were refused, so the
// leader sent the snapshot again, which deleted them.
func TestCS3_entriesAfterASnapshotCanComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFollower(t, diskOf(t))
		if ok, err := f.installs(90); !ok || err != nil {
			t.Fatal(ok, err)
		}
		for _, last := range []uint64{95, 95, 100} {
			if !f.appends(90, last) {
				t.Errorf("the entries up to %d are refused", last)
			}
		}
		f.close()
	})
}

// The same snapshot twice, since its acknowledgement was lost, and later ones are taken.
func TestCS4_aSnapshotCanComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFollower(t, diskOf(t))
		for _, index := range []uint64{90, 90, 160} {
			if ok, err := f.installs(index); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if !f.appends(160, 170) {
			t.Error("the entries after the snapshots are refused")
		}
		f.close()
	})
}
