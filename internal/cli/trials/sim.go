package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/trial/load"
	"orbweaver/internal/vfs"
)

// SimCommand is the command sim.
type SimCommand struct {
	webOptions

	serverOptions

	SeedsFile string `help:"Write seeds, one a line." placeholder:"FILE"`
	SeedCount int    `help:"Number of seeds." default:"100" placeholder:"N"`
	Log       string `help:"Write arrivals, one JSON object a line." placeholder:"FILE"`

	verdictOptions
	UntilEOF bool `name:"until-eof" help:"End when standard input ends, too."`
	JSON     bool `help:"Print JSON: addresses at the start, the summary at the end."`
}

// webOptions describe the simulated web.
type webOptions struct {
	World  string `help:"File that describes the world in JSON." placeholder:"FILE"`
	Faulty bool   `help:"A web with every fault instead of a plain one."`
	Seed   int64  `help:"Seed of the random numbers." default:"1" placeholder:"N"`
	Hosts  int    `help:"Hosts." default:"1000" placeholder:"N" least:"1"`
	IPs    int    `name:"ips" help:"Addresses that the hosts share; 0 for one to four hosts." default:"0" placeholder:"N"`
	Pages  int    `help:"Mean number of pages of a host." default:"20" placeholder:"N" least:"1"`
	Most   int    `help:"Pages of the largest host." default:"1000" placeholder:"N" least:"1"`
}

// serverOptions are the addresses that it is served on.
type serverOptions struct {
	Proxy  []string `help:"Serve as HTTP proxy on this loopback address; give it several times for several, since each takes some 28,000 connections. ADDR@FILE is on the loopback of another network namespace, such as /proc/PID/ns/net (Linux)." default:"127.0.0.1:8080" placeholder:"ADDR"`
	HTTP   string   `name:"http" help:"Serve directly by Host field." placeholder:"ADDR"`
	TLS    string   `name:"tls" help:"Serve directly inside TLS." placeholder:"ADDR"`
	DNS    string   `name:"dns" help:"Answer DNS questions, UDP and TCP." placeholder:"ADDR"`
	Direct bool     `help:"Open every address of the world on every port of it; addresses are then 127.x.y.z."`
	Plain  bool     `help:"No pauses: latency, slow pages and stalls take no time."`
}

// verdictOptions are for the verdict on a crawl, at the end.
type verdictOptions struct {
	Judge       []string      `help:"At the end, compare this crawl directory with the simulated web; give it once for each agent of a crawl that has several." placeholder:"DIR" sep:"none"`
	HostDelay   time.Duration `help:"Delay of a host that the verdict expects." default:"4s" placeholder:"TIME"`
	IPDelay     time.Duration `name:"ip-delay" help:"Delay of an address that the verdict expects." default:"500ms" placeholder:"TIME"`
	Partial     bool          `help:"The crawl was not meant to end."`
	Complete    bool          `help:"Without --judge: the crawl was meant to end, so compare what was answered with all that can be reached."`
	UnderWay    int           `name:"in-flight" help:"Answered pages that may be missing from a crawl that reached a limit." default:"0" placeholder:"N"`
	DigestEvery int           `help:"Compare every Nth payload." default:"1" placeholder:"N"`
}

// Help shows examples.
func (*SimCommand) Help() string {
	return `Serves a simulated web on loopback only, always the same for the same seed. It ends at an interrupt. Then it
prints the clients, whether they kept politeness and robots.txt, and the order of requests as quality does. With
--judge it also prints coverage and overlap of the archive, or of the archives of all agents together.

Examples:
  orbweaver sim --hosts 500 --ips 200 --seeds-file seeds.txt --judge crawl --host-delay 400ms --ip-delay 50ms
  orbweaver crawl --scope all --proxy http://127.0.0.1:8080 --resolver hashed:200 --seeds seeds.txt --host-delay 400ms`
}

// Run serves until an interrupt.
func (c *SimCommand) Run(inv *command.Invocation) error { return c.Serve(inv, nil, nil) }

// Serve serves guests as well: hosts that the simulated web does not draw, with further seeds of theirs.
func (c *SimCommand) Serve(inv *command.Invocation, guests []simweb.Guest, seeds []string) error {
	world, err := c.config()
	if err != nil {
		return command.Misuse(err)
	}
	o := load.SimOptions{
		World: world, Seeds: c.SeedCount, SeedsFile: c.SeedsFile, LogFile: c.Log, JSON: c.JSON, Complete: c.Complete,
		Listen: load.Options{HTTP: c.HTTP, TLS: c.TLS, DNS: c.DNS, Direct: c.Direct, Plain: c.Plain},
		Promise: judge.Promise{
			HostDelay: c.HostDelay, IPDelay: c.IPDelay, Partial: c.Partial, UnderWay: c.UnderWay,
			DigestEvery: c.DigestEvery,
		},
	}
	o.Guests, o.More = guests, seeds
	if len(c.Proxy) > 0 {
		o.Listen.Proxy, o.Listen.More = c.Proxy[0], c.Proxy[1:]
	}
	if len(c.Judge) > 0 {
		o.Promise.Archives = len(c.Judge)
		o.Archive = func() (judge.Crawled, error) { return captures.OfAgents(vfs.Disk(), archives(c.Judge)...) }
	}
	process.RaiseFileLimit(command.NewLog(inv.Stderr), 8192)
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.UntilEOF {
		go func() { // ends with the process: nothing can interrupt a read of standard input
			_, _ = io.Copy(io.Discard, inv.Stdin)
			cancel()
		}()
	}
	return load.RunCommand(ctx, o, inv.Stdout, inv.Stderr)
}

// archives are where crawl directories keep theirs.
func archives(dirs []string) []string {
	names := make([]string, 0, len(dirs))
	for _, dir := range dirs {
		names = append(names, filepath.Join(dir, layout.ArchiveDir))
	}
	return names
}

// config is the world that the flags describe.
func (c *SimCommand) config() (simweb.Config, error) {
	if c.World != "" {
		var world simweb.Config
		b, err := os.ReadFile(c.World)
		if err != nil {
			return world, fmt.Errorf("--world: %w", err)
		}
		if err := json.Unmarshal(b, &world); err != nil {
			return world, fmt.Errorf("--world: %s: %w", c.World, err)
		}
		return world, nil
	}
	world := simweb.Plain()
	if c.Faulty {
		world = simweb.Faulty()
	}
	world.Seed, world.Hosts, world.IPs = uint64(c.Seed), c.Hosts, c.IPs
	world.PagesPerHostMean, world.PagesPerHostMax = c.Pages, c.Most
	if c.Direct {
		world.AddrBase = "127.1.0.0"
	}
	return world, nil
}
