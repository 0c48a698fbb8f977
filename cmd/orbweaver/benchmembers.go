package main

import (
	"os"
	"os/signal"
	"syscall"

	"orbweaver/bench/gossip"
)

type benchMembersCmd struct {
	Sizes  []int    `help:"Agents in a group; several sizes are simulated one after the other." default:"10,100" placeholder:"N"`
	Agents count    `help:"Agents in all groups of one size together: small groups run many at a time." default:"100" placeholder:"N"`
	Deaths count    `help:"Agents that are killed in all groups of one size together." default:"20" placeholder:"N"`
	Quiet  duration `help:"Measure what they say to each other while nothing happens, for so long." default:"30s" placeholder:"TIME"`
	Pace   float64  `help:"Multiply all times of the agents: 1 is real time, more is slower." default:"4" placeholder:"FACTOR"`
	Seed   count    `help:"Which delays." default:"1" placeholder:"N"`
	JSON   bool     `help:"Print JSON."`
}

// Help says what it does.
func (*benchMembersCmd) Help() string {
	return "Groups of agents in one process, without sockets: how long it takes until all know that one was killed, and that it is back;\n" +
		"what an agent says while nothing happens; how even the shares of hosts are, and what a death moves. Groups that get too little CPU for\n" +
		"their pace take living agents for dead. A thousand agents take minutes of CPU to become a group: in virtual time\n" +
		"(go test ./bench/gossip -run Virtual -v -sizes 1000) that does not spoil the figures.\n\n" +
		"Examples:\n  orbweaver bench members\n  orbweaver bench members --sizes 1000 --deaths 3 --pace 20"
}

// Run measures.
func (c *benchMembersCmd) Run(w *world) error {
	ctx, stop := signal.NotifyContext(w.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := gossip.Options{Sizes: c.Sizes, Agents: int(c.Agents.n), Deaths: int(c.Deaths.n), Quiet: c.Quiet.d, Pace: c.Pace, Seed: uint64(c.Seed.n), Say: w.stderr}
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	r, err := gossip.Simulate(ctx, o)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(w.stdout, r)
	}
	r.Print(w.stdout)
	return nil
}
