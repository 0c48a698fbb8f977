package main

import (
	"os"
	"os/signal"
	"syscall"

	"orbweaver/bench/components"
	"orbweaver/internal/cli/command"
)

// componentFlags are the flags of all component benchmarks.
type componentFlags struct {
	URLs  int64  `name:"urls" help:"URLs at the end; the component is measured at a million and at every power of ten after it." default:"10_000_000" placeholder:"N"`
	Hosts int64  `help:"Hosts over which the URLs are spread." default:"1_000_000" placeholder:"N"`
	Dir   string `help:"Directory for the files; must not exist, and is removed at the end." default:"./build/bench" placeholder:"DIR"`
	Seed  int64  `help:"Seed of all random draws." default:"1" placeholder:"N"`
	JSON  bool   `help:"Print JSON."`
}

// measure measures a component and prints the result. memory is in bytes; 0 for the default.
func (f *componentFlags) measure(inv *command.Invocation, name string, memory int64) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := components.Measure(ctx, name, components.Options{
		URLs: f.URLs, Hosts: f.Hosts, Memory: memory, Dir: f.Dir, Seed: uint64(f.Seed), Progress: inv.Stderr,
	})
	if err != nil {
		return err
	}
	if f.JSON {
		return command.PrintJSON(inv.Stdout, r)
	}
	r.Print(inv.Stdout)
	return nil
}

type sieveCommand struct {
	componentFlags `embed:""`
	SieveMemory    int64 `type:"size" help:"Memory of the sieve's buckets." default:"64MiB" placeholder:"SIZE" least:"1"`
}

// Help describes the measurement.
func (*sieveCommand) Help() string {
	return "Adds a stream of URLs, half of them known, while another goroutine flushes and makes checkpoints. --hosts " +
		"is not used.\n\n" +
		"Examples:\n  orbweaver-bench sieve\n  orbweaver-bench sieve --urls 1_000_000_000 --sieve-memory 1GiB"
}

// Run measures.
func (c *sieveCommand) Run(inv *command.Invocation) error {
	return c.measure(inv, "sieve", c.SieveMemory)
}

type cacheCommand struct {
	componentFlags `embed:""`
	CacheMemory    int64 `type:"size" help:"Memory of the largest cache; each smaller one has a quarter of the next." default:"256MiB" placeholder:"SIZE" least:"65536"`
}

// Help describes the measurement.
func (*cacheCommand) Help() string {
	return "Looks up the links of a web in caches of four sizes: look-ups a second in one goroutine and in two, hits " +
		"beside those of a\n" +
		"true LRU, and the cost of a restart.\n\n" +
		"Examples:\n  orbweaver-bench cache\n  orbweaver-bench cache --urls 100_000_000 --hosts 10_000_000 --cache-memory " +
		"1GiB"
}

// Run measures.
func (c *cacheCommand) Run(inv *command.Invocation) error {
	return c.measure(inv, "cache", c.CacheMemory)
}

type dedupCommand struct {
	componentFlags `embed:""`
	Memory         int64 `type:"size" help:"Memory of the index." default:"192MiB" placeholder:"SIZE" least:"1"`
}

// Help describes the measurement.
func (*dedupCommand) Help() string {
	return "Counts digests where other benchmarks count URLs: --urls is the number of digests at the end. 10^8 take 14 " +
		"GB of disk.\n\n" +
		"Example:\n  orbweaver-bench dedup --urls 100_000_000"
}

// Run measures.
func (c *dedupCommand) Run(inv *command.Invocation) error { return c.measure(inv, "dedup", c.Memory) }

type virtualizeCommand struct {
	componentFlags `embed:""`
}

// Help describes the measurement.
func (*virtualizeCommand) Help() string {
	return "Appends bursts of URLs to random queues, takes them 64 at a time, does both beside Collect, makes " +
		"checkpoints, and opens\n" +
		"the last one.\n\nExample:\n  orbweaver-bench virtualize --urls 100_000_000 --hosts 10_000_000"
}

// Run measures.
func (c *virtualizeCommand) Run(inv *command.Invocation) error {
	return c.measure(inv, "virtualize", 0)
}

type workbenchCommand struct {
	componentFlags `embed:""`
	Cold           bool `help:"Measure hosts that leave the workbench for the disk, and return."`
}

// Help describes the measurement.
func (*workbenchCommand) Help() string {
	return "The workbench with the engine's own Sites: the memory of an idle host; the cost of a Visit, alone and with " +
		"4,000 workers\n" +
		"between the queues; how long checkpoints take and stop others, and how long loading takes. With --cold: the " +
		"memory and disk of\n" +
		"a host that is on disk, and the cost of its way there and back. --urls is not used.\n\n" +
		"Examples:\n  orbweaver-bench workbench\n  orbweaver-bench workbench --hosts 10_000_000\n  orbweaver-bench " +
		"workbench --cold"
}

// Run measures.
func (c *workbenchCommand) Run(inv *command.Invocation) error {
	if c.Cold {
		return c.measure(inv, "workbench --cold", 0)
	}
	return c.measure(inv, "workbench", 0)
}
