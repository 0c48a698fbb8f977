package main

import (
	"fmt"
	"io"
	"slices"

	"orbweaver/bench/hostile"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/trials"
	"orbweaver/internal/simweb"
)

// simCommand is the simulated web of orbweaver with hostile hosts in it.
type simCommand struct {
	trials.SimCommand

	Hostile      []string `help:"Serve hostile hosts beside the others: cases by their ids, as H01; list prints those there are. Case H01 has the host h01.test." placeholder:"ID,..."`
	HostileHosts int      `help:"So many hosts of each case: h01.test, h01-1.test, h01-2.test ..." default:"1" placeholder:"N"`
}

// Help shows examples.
func (*simCommand) Help() string {
	return `Serves the simulated web like orbweaver sim, and can show hostile servers to any crawler, on loopback only. The
list says what a case does, and what a crawler should do.

Examples:
  orbweaver-bench sim --hostile list
  orbweaver-bench sim --hostile H01,H06 --hosts 10
  curl --proxy http://127.0.0.1:8080 http://h01.test/`
}

// Run serves until an interrupt.
func (c *simCommand) Run(inv *command.Invocation) error {
	if slices.Equal(c.Hostile, []string{"list"}) {
		return listHostile(inv.Stdout)
	}
	if len(c.Hostile) == 0 {
		return c.SimCommand.Run(inv)
	}
	web, err := hostile.New(c.Hostile...)
	if err != nil {
		return command.Misuse(err)
	}
	return c.Serve(inv, []simweb.Guest{web}, web.Seeds(c.HostileHosts))
}

// listHostile prints the cases that can be played.
func listHostile(out io.Writer) error {
	played := hostile.Cases()
	for _, e := range hostile.Catalogue {
		if played[e.ID] == nil {
			continue
		}
		if _, err := fmt.Fprintf(out, "%s  %s\n     %s\n", e.ID, e.What, e.Expected); err != nil {
			return err
		}
	}
	return nil
}
