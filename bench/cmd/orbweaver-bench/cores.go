package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"orbweaver/bench/throughput"
	"orbweaver/internal/cli/command"
)

type coresCommand struct {
	Most int           `help:"Most threads; 0 for the number of cores. More than cores stand in for contention." default:"0" placeholder:"N"`
	For  time.Duration `help:"How long each crawl is measured; there are two for each number of threads." default:"20s" placeholder:"TIME"`
	Dir  string        `help:"Crawl directory; replaced, and removed at the end." default:"./build/cores" placeholder:"DIR"`
	Seed int64         `help:"Which web." default:"1" placeholder:"N"`
	Out  string        `help:"Write JSON to this file besides: tools/plot draws it." placeholder:"FILE"`
	JSON bool          `help:"Print JSON."`
}

// Help says what it does.
func (*coresCommand) Help() string {
	return `Crawls with 1, 2, 4 and more threads that run Go code, from memory and over sockets. Prints pages/s, CPU
and lock wait. It lists the loops with one goroutine and the locks that a crawl has once, and the number of cores
that would keep each busy. A model (universal scalability law) says what 16, 32 and 64 cores would do.

Examples:
  orbweaver-bench cores
  orbweaver-bench cores --most 64 --for 30s`
}

// Run measures.
func (c *coresCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, web, err := newBenchOptions(inv, c.Dir)
	if err != nil {
		return err
	}
	const hosts, delay = 6000, 20 * time.Millisecond
	memory := &throughput.Fabricated{URLs: 1 << 40, Hosts: 1_000_000, IPs: 250_000, Seed: uint64(c.Seed)}
	web.World.Seed, web.World.Hosts, web.World.IPs, web.Seeds = uint64(c.Seed), hosts, hosts, hosts
	web.World.PagesPerHostMean, web.World.PagesPerHostMax, web.SkipJudge = 100, 200, true
	o.OnStart, o.SkipVerify = nil, true
	o.Fetchers, o.HostDelay, o.IPDelay = 512, delay, delay/10
	r, err := throughput.Cores(ctx, o, memory, web, c.threads(), c.For)
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := writeJSON(c.Out, r); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, r)
	}
	r.Print(inv.Stdout)
	return nil
}

// threads are the powers of two up to the most, which is the last.
func (c *coresCommand) threads() (all []int) {
	most := c.Most
	if most < 1 {
		most = runtime.NumCPU()
	}
	for n := 1; n < most; n *= 2 {
		all = append(all, n)
	}
	return append(all, most)
}
