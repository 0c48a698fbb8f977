package agent

import (
	"testing"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/ownership"
)

// What an agent has heard of others that leave it knows after a resume: who has nothing left then has left, though it
// is not there any more to say so again, and what it has fetched is not fetched once more. And it knows how far it is
// itself.
func TestLeavers_aCutRemembersHowFarTheyAre(t *testing.T) {
	const self, goes, gone = "a1/1", "a2/2", "a3/3"
	before := &agent{instance: self, leavers: leavers{going: map[string]byte{goes: leaveGoing, gone: leaveGone},
		stage: leaveGoing, self: true}}
	cut := &cluster.Checkpoint{
		Agents: []ownership.Agent{{ID: "a1", Store: 1}}, IsLeaving: before.IsLeaving(), AnnouncedLeave: before.isGoing(self),
		LeavingAgents: before.leavers.lines(leaveGoing), DoneAgents: before.leavers.lines(leaveGone),
	}
	after := &agent{instance: self, leavers: leavers{going: map[string]byte{}, left: map[string]bool{}}}
	after.leavers.resume(cut, self)
	if !after.isGoing(self) || !after.isGoing(goes) || after.hasLeft(goes) || !after.hasLeft(gone) {
		t.Errorf("resumed: %v, %d", after.leavers.going, after.leavers.stage)
	}
	after.staying([]ownership.Agent{{ID: "a1", Store: 1}, {ID: "a4", Store: 4}})
	if after.hasLeft(goes) || !after.hasLeft(gone) || after.isGoing(gone) {
		t.Errorf("neither is there: %v, %v", after.leavers.going, after.leavers.left)
	}
}
