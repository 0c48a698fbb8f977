package ctl

import "orbweaver/internal/cli/command"

type ctlReloadCmd struct{}

// Help shows an example.
func (*ctlReloadCmd) Help() string {
	return `For one of several agents whose --agent-file was replaced. The agent reads the certificate and the gossip
keys, and continues. Agents that have seen the new certificate refuse the old one, also after a restart.

Example:
  orbweaver ctl reload --dir a1`
}

// Run has the file read again.
func (*ctlReloadCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "reload", nil) }
