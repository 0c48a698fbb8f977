package trials

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orbweaver/internal/cli/command"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial"
)

// DemoCommand is the command demo.
type DemoCommand struct {
	Dir      string `help:"Crawl directory; replaced." default:"./demo-crawl" placeholder:"DIR"`
	Small    bool   `help:"Crawl a few hundred pages with all kinds of faults, in some 90 seconds."`
	Seed     int64  `help:"Seed of the simulated web." default:"1" placeholder:"N"`
	Progress string `help:"auto, plain or none." oneof:"auto,plain,none" default:"auto" placeholder:"MODE"`
	JSON     bool   `help:"Print JSON."`
}

// Help says what it does.
func (*DemoCommand) Help() string {
	return `Serves a simulated web of 500 hosts on 200 addresses on loopback, crawls it with the real engine, verifies
the archive and compares it with the simulated web. It needs nothing else, and connects to loopback only.

Examples:
  orbweaver demo
  orbweaver warc ls demo-crawl/warc/*.warc.gz | less
  orbweaver fsck demo-crawl`
}

// world is what the demo crawls: delays are short, so that it ends in about a minute.
func (c *DemoCommand) world() (simweb.Config, time.Duration, time.Duration) {
	world := simweb.Plain()
	hostDelay, ipDelay := 400*time.Millisecond, 50*time.Millisecond
	world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = 500, 200, 48, 110
	if c.Small {
		world = simweb.Faulty()
		world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = 40, 15, 12, 40
		world.Faults.NoHost = 0 // behind a proxy every name has an address
		world.Faults.Stall, world.Faults.StallMid = 0, 0
		world.HTTPSShare = 0.2
		world.Timing.CrawlDelay = 200 * time.Millisecond
		hostDelay, ipDelay = 50*time.Millisecond, 10*time.Millisecond
	}
	world.Seed = uint64(c.Seed)
	return world, hostDelay, ipDelay
}

// Run crawls the simulated web.
func (c *DemoCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	world, hostDelay, ipDelay := c.world()
	o, web, err := Options(inv, c.Dir, c.Progress)
	if err != nil {
		return err
	}
	web.World = world
	o.HostDelay, o.IPDelay, o.Fetchers, o.GiveUp = hostDelay, ipDelay, 256, 10*time.Second // sites that fail never recover
	if !c.JSON && c.Progress != "none" {
		fmt.Fprintf(inv.Stderr, "a simulated web of %d hosts on %d addresses; host delay %v, IP delay %v; crawling into %s\n",
			world.Hosts, world.IPs, hostDelay, ipDelay, c.Dir)
	}
	r, err := trial.Run(ctx, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err := command.ShowResult(inv, r, c.JSON); err != nil || c.JSON {
		return err
	}
	fmt.Fprintf(inv.Stderr, "look at its pages in a browser: orbweaver view %s\n", c.Dir)
	return nil
}
