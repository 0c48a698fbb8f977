package bench

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"orbweaver/bench/throughput"
	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/cli/summary"
	"orbweaver/internal/simweb"
)

// DemoCommand is the command demo.
type DemoCommand struct {
	Dir      string `help:"Crawl directory; replaced." default:"./demo-crawl" placeholder:"DIR"`
	Small    bool   `help:"A few hundred pages in some ninety seconds, with every fault there is."`
	Seed     int64  `help:"Which web." default:"1" placeholder:"N"`
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

// Invocation is what the demo crawls: delays are short, so that it ends in about a minute.
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
	o, web, err := benchOptions(inv, c.Dir, c.Progress)
	if err != nil {
		return err
	}
	web.World = world
	o.HostDelay, o.IPDelay, o.Fetchers, o.GiveUp = hostDelay, ipDelay, 256, 10*time.Second // sites that fail never recover
	if !c.JSON && c.Progress != "none" {
		fmt.Fprintf(inv.Stderr, "a simulated web of %d hosts on %d addresses; host delay %v, IP delay %v; crawling into %s\n",
			world.Hosts, world.IPs, hostDelay, ipDelay, c.Dir)
	}
	r, err := throughput.Run(ctx, o)
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

// benchOptions are the options of demo and of all throughput benchmarks. The plain simulated web is their web; another
// one can take its place.
func benchOptions(
	inv *command.Invocation,
	dir, progress string,
) (o throughput.Options, web *throughput.Simulated, err error) {
	if err := disposable(dir); err != nil {
		return o, nil, command.Misuse(fmt.Errorf("--dir: %w", err))
	}
	program, err := os.Executable()
	if err != nil {
		return o, nil, fmt.Errorf("the file of this program is unknown: %w", err)
	}
	if err := forgetVariables(); err != nil {
		return o, nil, err
	}
	out := console.New(inv.Stderr)
	log := command.NewLog(out)
	process.RaiseFileLimit(log, 8192)
	web = &throughput.Simulated{Program: program, World: simweb.Plain()}
	return throughput.Options{
		Web: web, Dir: dir, Records: throughput.Records{Level: 1}, Version: inv.Version, Progress: out,
		Log: log, Usage: process.Usage,
		OnStart: func(e *engine.Engine) func() {
			out.Start()
			p := summary.StartProgress(inv.Context, out, progress, e)
			return func() {
				p.Close()
				out.Close()
				if progress != "none" {
					fmt.Fprintln(inv.Stderr, "the crawl has ended; reading the archive and judging it")
				}
			}
		},
	}, web, nil
}

// disposable refuses a directory that holds more than an earlier demo or benchmark, since it is removed.
func disposable(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case "report.json", "warc", "logs", "frontier":
		case crawl.SettingsName:
			return fmt.Errorf("%s holds a crawl; give another directory, since this one would be removed", dir)
		default:
			return fmt.Errorf(
				"%s holds %s, which no demo made; give another directory, since this one would be removed", dir, e.Name(),
			)
		}
	}
	return nil
}

// forgetVariables keeps what was said to this command from being read by the simulated web's process as said to it.
func forgetVariables() error {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, command.EnvPrefix+"_") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return nil
}
