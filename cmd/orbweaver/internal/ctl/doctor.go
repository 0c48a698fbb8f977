package ctl

import (
	"fmt"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/operate/operator"
	"orbweaver/internal/cli/command"
)

// DoctorCommand says what limits a running crawl.
type DoctorCommand struct {
	crawl.Target
	JSON bool `help:"Print JSON."`
}

// Help shows an example.
func (*DoctorCommand) Help() string {
	return `What limits a running crawl now: politeness, one huge host, failing sites, name servers, the network, fetch
workers, servers that do not answer, the processor, the disk, memory or descriptors. The strongest limit is
first, each with its figures, what to do, and what would change without it.

Example:
  orbweaver doctor --dir crawl`
}

// Run asks the crawl.
func (x *DoctorCommand) Run(inv *command.Invocation) error {
	c := Command{asked: asked{Target: x.Target}}
	var answer operator.Diagnoses
	if err := c.ask(inv, "doctor", nil, &answer); err != nil {
		return err
	}
	if x.JSON {
		return command.PrintJSON(inv.Stdout, answer)
	}
	for i, d := range answer.Diagnoses {
		fmt.Fprintf(inv.Stdout, "%d. %s\n", i+1, command.PlainText(d.Text))
		fmt.Fprintf(inv.Stdout, "   to do:      %s\n", command.PlainText(d.Remedy))
		if d.IfLifted != "" {
			fmt.Fprintf(inv.Stdout, "   without it: %s\n", command.PlainText(d.IfLifted))
		}
	}
	return nil
}
