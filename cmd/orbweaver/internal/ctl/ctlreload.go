package ctl

import "orbweaver/cmd/orbweaver/internal/command"

type ctlReloadCmd struct{}

// Help shows an example.
func (*ctlReloadCmd) Help() string {
	return "For one of several agents whose --agent-file was replaced: it takes the certificate and the gossip keys, and goes on. The other agents refuse\n" +
		"the certificate before it once they have seen the new one, also after a restart.\n\nExample:\n  orbweaver ctl reload --dir a1"
}

// Run has the file read again.
func (*ctlReloadCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "reload", nil) }
