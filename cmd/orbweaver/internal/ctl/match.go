package ctl

import (
	"errors"
	"fmt"
	"net/url"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/engine/hosts"
)

// match prints which sites a host rule would be for. The error says why the crawl would refuse the rule.
func (c *Command) match(inv *command.Invocation, rule string) error {
	var m hosts.Match
	if err := c.ask(inv, "match", url.Values{"rule": {rule}}, &m); err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, m)
	}
	fmt.Fprintf(inv.Stdout, "%s: %d known sites with %d queued URLs\n", command.PlainText(m.Rule), m.Sites, m.Queued)
	for _, site := range m.Largest {
		fmt.Fprintf(inv.Stdout, "  %s\n", command.PlainText(site))
	}
	if m.OnDisk > 0 {
		fmt.Fprintf(inv.Stdout, "%d idle sites on disk are not compared\n", m.OnDisk)
	}
	if m.Fault != "" {
		return errors.New("the crawl would refuse this rule: " + m.Fault)
	}
	return nil
}
