package agent

import (
	"log/slog"
	"testing"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/settings"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// fewAgents is a network with some agents.
type fewAgents struct {
	cluster.Network
	there []ownership.Agent
}

func (c *fewAgents) Agents() []ownership.Agent { return c.there }

// An agent has the list of another one that leaves, and nothing is queued for that agent. It speaks for the leaving
// agent when that has left, not before, and no more when it has failed.
func TestLostAgents_speakForAgentsThatHaveLeft(t *testing.T) {
	fsys := vfs.NewMem(1)
	box, err := outbox.Open(fsys, outbox.Options{Dir: "outbox"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	known, err := recovery.OpenFetched(fsys, "fetched", 1<<16, 1<<12, nil)
	if err != nil {
		t.Fatal(err)
	}
	here, other := ownership.Agent{ID: "a1", Capacity: 1, Store: 1}, ownership.Agent{ID: "a2", Capacity: 1, Store: 2}
	network := &fewAgents{there: []ownership.Agent{here, other}}
	frontier := &admission.Frontier{HashSeed: 1, HostRules: new(settings.HostRules)}
	p := &agent{
		network: peers{network}, self: here, views: ownership.NewTimeline(hostGrace),
		files: files{outbox: box, fetched: known},
		parts: Parts{Log: slog.New(slog.DiscardHandler), Frontier: frontier},
	}
	at := func(stage leave.Stage) {
		p.leaving = p.newLeaveRegister()
		p.lost = lostAgents{
			network: p.network, members: &p.members, leaving: p.leaving, outbox: box, fetched: known,
			senders: newSenders(senderOptions{}), frontier: frontier,
		}
		if stage > leave.Asking {
			if _, _, err := p.leaving.Note(other.ID, append([]byte{byte(stage)}, other.Instance()...)); err != nil {
				t.Fatal(err)
			}
		}
		p.pages = p.newPages()
	}
	c, err := ownership.NewView(ownership.Consistent, []ownership.Agent{here}, []ownership.Agent{here, other}, 1, "a1")
	if err != nil {
		t.Fatal(err)
	}
	url := []byte("http://a.test/")
	fp := recovery.Key(urlx.Fingerprint(2, url))
	known.Inherit(cluster.FetchedList{Seed: 2, Instance: other.Instance()}, fp[:16])
	for _, step := range []struct {
		name  string
		do    func()
		speak bool
	}{
		{"it leaves", func() { at(leave.Announced) }, false},
		{"it has nothing left", func() { at(leave.Done) }, true},
		{"it has left, and is forgotten", func() { at(leave.Asking) }, true},
		{"it leaves, and has failed", func() { at(leave.Announced); network.there = network.there[:1] }, false},
		{"that is forgotten, too", func() { at(leave.Asking) }, false},
	} {
		step.do()
		if err := p.lost.reroute(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if speaks, err := p.pages.Has(url); err != nil || speaks != step.speak {
			t.Errorf("%s: it speaks for it: %v, %v", step.name, speaks, err)
		}
	}
}
