package consensus

import (
	"testing"

	"github.com/hashicorp/raft"
)

// FuzzRead reads calls of raft: what it would panic at is refused.
func FuzzRead(f *testing.F) {
	servers := raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{ID: "a", Address: "a"}}})
	entries := []*raft.Log{{Index: 1, Type: raft.LogConfiguration, Data: servers}, {Index: 2, Data: []byte("P")}}
	f.Add(kindAppend, encode(raft.AppendEntriesRequest{Entries: entries}))
	bad := []*raft.Log{{Type: raft.LogConfiguration, Data: []byte("x")}}
	f.Add(kindAppend, encode(raft.AppendEntriesRequest{Entries: bad}))
	f.Add(kindInstall, encode(raft.InstallSnapshotRequest{Configuration: servers}))
	f.Add(kindVote, encode(raft.RequestVoteRequest{Term: 3}))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		command, err := read(&question{Kind: kind, Body: body})
		if err != nil {
			return
		}
		switch c := command.(type) {
		case *raft.AppendEntriesRequest:
			for _, l := range c.Entries {
				if l.Type == raft.LogConfiguration {
					raft.DecodeConfiguration(l.Data)
				}
			}
		case *raft.InstallSnapshotRequest:
			raft.DecodeConfiguration(c.Configuration)
		}
	})
}
