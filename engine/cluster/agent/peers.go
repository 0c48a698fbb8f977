package agent

import (
	"context"
	"slices"

	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// peers is the network, to which a question has a deadline.
type peers struct{ cluster.Network }

// askInTime puts a question to another agent, which has recovery.Patience to answer.
func (p peers) askInTime(ctx context.Context, to string, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	return p.Ask(ctx, to, question)
}

// isThere says that an agent is there, with the data that it had.
func (p peers) isThere(instance string) bool {
	return slices.ContainsFunc(p.Agents(), func(a ownership.Agent) bool { return a.Instance() == instance })
}
