package ctl

import (
	"strings"
	"testing"

	"orbweaver/engine/state/cluster"
)

// Agents over their quota, and banned agents with the reason, stand below the table.
func TestAgents_quotasAndBansStandBelowTheTable(t *testing.T) {
	over := cluster.AgentReport{
		ID: "a2", State: cluster.AgentAlive, URLsReceived: 2_000_000, MessagesOverQuota: 70, StatementsRefused: 5,
		BannedUntil: "2026-11-22T10:00:00Z", BanReason: "it floods", MessagesRefused: 9,
	}
	p := &cluster.StatusReport{
		Self: "a1", MessagesDeferred: 3, UnknownSendersRefused: 4,
		Agents: []cluster.AgentReport{{ID: "a1", State: cluster.AgentAlive}, over},
	}
	var out strings.Builder
	if err := writeAgents(&out, p); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"quota    a2 sent 2000000 URLs; 70 of its messages were deferred\n",
		"banned   a2 until 2026-11-22T10:00:00Z: it floods; 9 messages and requests refused\n",
		"quota    3 messages of this agent were deferred by other agents\n",
		"ignored  5 statements of a2, which has no authority to make them; the rest of the messages counted\n",
		"refused  4 messages and requests of senders that are not members of this cluster\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q lacks %q", out.String(), line)
		}
	}
}
