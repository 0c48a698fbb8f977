package ctl

import (
	"strings"
	"testing"

	"orbweaver/engine/cluster"
)

// Agents that were told to wait, and banned ones with the reason, stand below the table.
func TestPeersThatAreBanned(t *testing.T) {
	var out strings.Builder
	p := &cluster.StatusReport{Self: "a1", MessagesHeld: 3, Strangers: 4, Agents: []cluster.AgentReport{
		{
			ID: "a1", State: cluster.AgentAlive,
		}, {ID: "a2", State: cluster.AgentAlive, Received: 2_000_000, ToldToWait: 70, NotTaken: 5, Banned: "2026-11-22T10:00:00Z", BannedFor: "it floods", Refused: 9}}}
	if err := writePeers(&out, p); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"quota    a2 has sent 2000000 URLs, and was told 70 times to wait\n",
		"banned   a2 until 2026-11-22T10:00:00Z: it floods; 9 letters and questions were refused since\n",
		"quota    others told this agent 3 times to wait\n",
		"ignored  5 statements of a2, which has no authority to make them; the rest of its letters was taken\n",
		"refused  4 letters and questions of agents that are not members of this crawl\n",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q lacks %q", out.String(), line)
		}
	}
}
