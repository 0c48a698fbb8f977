package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/admission"
	"orbweaver/engine/explain"
	"orbweaver/engine/fetch/addrguard"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outage"
	"orbweaver/engine/report"
	"orbweaver/internal/vfs"
)

// componentOptions are the settings of the engine and of the name system. The type is not exported, since package kong calls
// Validate of every component in an exported field, before the configuration is complete. check does it later.
type componentOptions struct {
	Config engine.Config  `embed:""`
	DNS    dnsres.Options `embed:""`
}

// crawlCmd is the engine's configuration, and what a command adds to it: files, the network, the control port and the
// terminal.
type crawlCmd struct {
	componentOptions

	Seeds             []string `help:"File of seeds: one URL on each line, # comments, .gz read too, - for stdin. Repeatable." placeholder:"FILE" sep:"none"`
	ExcludeHosts      string   `help:"File of hosts to exclude: host, .suffix, *.suffix or CIDR, one on each line. A CIDR matches only URLs whose host is an address; --deny-net is about all connections." placeholder:"FILE"`
	IncludeHosts      string   `help:"File of hosts, in the same form: no other host is asked." placeholder:"FILE"`
	Surts             string   `help:"File of SURT prefixes, +http://(org,example, or - one on each line: the longest that matches decides. If the file has a +, a URL that matches none is refused." placeholder:"FILE"`
	HostRules         string   `help:"File of rules for single hosts, one on each line: host, .suffix, *.suffix or an address, then host-delay=TIME, max-per-host=N or exclude. The narrowest rule decides. A delay may be shorter than --host-delay; Crawl-delay still lengthens it." placeholder:"FILE"`
	ExcludeExtensions []string `help:"Endings of paths to exclude, such as jpg,png." placeholder:"EXT"`
	WarcDictionary    string   `help:"File with a dictionary for zstd, made by 'warc train'. Each WARC file begins with it. It makes small pages smaller." placeholder:"FILE"`

	Proxy     string   `help:"HTTP proxy that carries all requests. A user and a password in it (http://USER:PASSWORD@IP:PORT) are stored in crawl.toml, which only its owner can read. On the command line all users can see them: use ORBWEAVER_PROXY or --config." placeholder:"URL"`
	Resolver  []string `help:"Name servers: system; IP:PORT, repeatable; or hashed[:N], made-up addresses for runs with a proxy. A local caching resolver makes large crawls faster." default:"system" placeholder:"R"`
	AllowNet  []string `help:"Allow addresses and ports of this range that are refused by default, such as private ones. Ports that the Fetch standard blocks need --allow-port too. Repeatable." placeholder:"CIDR"`
	DenyNet   []string `help:"Never connect to this range, even if it is allowed: for example, your public address behind a NAT. Addresses of this machine need not be named. Repeatable." placeholder:"CIDR"`
	AllowPort []string `help:"Port that links may name besides the usual ones. Repeatable." placeholder:"PORT"`

	Listen   string `help:"Address for control and metrics: host:port, or unix:PATH. The default is a Unix socket in the crawl directory, for its owner only." placeholder:"ADDR"`
	Token    string `help:"File whose first line is the token that requests to --listen host:port need. By default a token is made for each run, in control.token of the crawl directory, where ctl finds it. Required if the address is not loopback. Nothing is encrypted." placeholder:"FILE"`
	Progress string `help:"Progress line: auto, plain or none. auto updates one line on a terminal." oneof:"auto,plain,none" default:"auto" placeholder:"MODE"`
	JSON     bool   `help:"Print the final report as JSON on stdout; with --dry-run, one object for each URL."`

	agentFlags `group:"agents"`

	DryRun bool `help:"Send nothing and write nothing: print what would happen to each URL, and which rule decides."`
	Depth  int  `help:"With --dry-run: number of links from a seed to the URLs." default:"0" placeholder:"N"`

	URLs []string `arg:"" optional:"" name:"url" help:"Seeds." placeholder:"URL"`

	resumes bool          // crawl.toml is there
	cfg     engine.Config // Config, completed
	seams   engine.Seams
	policy  *addrguard.Guard // what may be connected to; nil before settings
	words   *words           // of the crawl; nil if this is a dry run
	lists   explain.Sources  // what cfg.Filters.Lists were made of, if this is a dry run
}

// Help shows examples.
func (*crawlCmd) Help() string {
	return `The crawl ends when nothing is left, a limit is reached, or a signal comes: the first signal finishes the exchanges
under way, the second stops at once; the same command goes on from there. It also stops when only sites in trouble have queued URLs
(--stall-wait); the queue is kept, and the same command goes on. Exit status: 0 done, 1 failed (also when no server of a seed has
answered: the same command tries again), 2 wrong usage, 3 stalled with URLs queued and resumable, 130 stopped by a signal and
resumable.

Expressions are those of https://expr-lang.org. All five points know url, site, scheme, host, port, domain, path, query,
depth, hops, seed, in_host, in_domain and in_prefix; --fetch knows try and, with --warc-via, via; --follow knows kind, nofollow, via, via_host,
via_domain, same_host, same_domain, and status and content_type of the page; --parse and --store know status,
content_type, size and truncated; --store knows duplicate and, with --warc-via, via. docs/filters.md has more.

Examples:
  orbweaver crawl --contact https://example.org/crawl --scope domain --max-pages 10000 https://example.org/
  orbweaver crawl --dir crawl                                  # goes on with what is there
  orbweaver crawl --dir crawl --refresh                        # when it is finished: again, for what has changed
  orbweaver crawl --seeds seeds.txt.gz --config crawl.toml
  orbweaver crawl --proxy http://127.0.0.1:8080 --resolver hashed --seeds seeds.txt   # a simulated web
  orbweaver crawl --scope 'in_domain && depth <= 5' --follow 'kind != "image" && not nofollow' https://example.org/
  orbweaver crawl --surts surts.txt --exclude-extensions jpg,png,mp4 --store 'status == 200' --seeds seeds.txt
  orbweaver crawl --host-rules hosts.txt --seeds seeds.txt     # lines such as: .example.org host-delay=20s max-per-host=1000
  orbweaver crawl --dir crawl --dry-run --depth 2 https://example.org/a.jpg            # what would become of it, and why`
}

// check makes the engine's configuration from the flags.
func (c *crawlCmd) check(w *world) (err error) {
	if c.DryRun {
		return c.checkDryRun(w)
	}
	c.cfg, c.seams, err = c.settings(w)
	return err
}

// Run crawls.
func (c *crawlCmd) Run(w *world) error {
	if c.DryRun {
		return c.dryRun(w)
	}
	cfg, seams := c.cfg, c.seams
	if c.resumes && len(c.Seeds)+len(c.URLs) > 0 {
		seams.Log.Info("the crawl directory holds a crawl: it goes on; seeds that it knows are ignored", "dir", c.Config.Dir)
	}
	c.words.start()
	defer c.words.Close()
	signal.Ignore(syscall.SIGPIPE) // who reads what we say may go away; the crawl stays
	if err := fitFiles(seams.Log, &cfg); err != nil {
		return err
	}
	if err := fitMemory(seams.Log, &cfg, memoryAllowed()); err != nil {
		return err
	}
	known, onDisk := c.hostsBefore()
	setMemoryLimit(cfg, known, onDisk)
	c.warnOfPassword(w, seams.Log)
	c.warnOfProxy(seams.Log)
	closeToOthers(seams.Log, c.Config.Dir)
	seat, err := c.sit(w.ctx, &seams)
	if err != nil {
		return err
	}
	defer seat.close()
	if c.Agent != "" {
		c.refuseOwn(c.seat.Gossip.String(), c.seat.Post.String())
	}
	e, err := engine.Open(cfg, seams)
	if err != nil {
		return c.explain(err)
	}
	err = c.crawl(w, e, cfg, seat, seams.Log)
	return errors.Join(err, e.Close())
}

// hostsBefore is how many hosts the crawl that is resumed knows, and how many of them are on disk: opening it brings
// the others into memory.
func (c *crawlCmd) hostsBefore() (known, onDisk int64) {
	r, err := report.Read(vfs.Disk(), c.Config.Dir)
	if err != nil {
		return 0, 0 // a new crawl, or one whose report is lost
	}
	return r.HostsKnown, r.HostsCold
}

func (c *crawlCmd) explain(err error) error {
	if errors.Is(err, admission.ErrNoSeeds) {
		return usageError{err}
	}
	return err
}

// crawl runs an open engine with its control socket, its progress line and its signals.
func (c *crawlCmd) crawl(w *world, e *engine.Engine, cfg engine.Config, seat sitting, log *slog.Logger) error {
	if err := c.writeEffective(w); err != nil {
		return err
	}
	server, err := c.listen(w.ctx, e, seat.reload, log)
	if err != nil {
		return err
	}
	c.refuseOwn(server.Addr())
	if c.Progress != "none" {
		fmt.Fprintln(c.words, memoryPlan(cfg))
	}
	ctx, stop := signals(w.ctx, e, log)
	progress := startProgress(ctx, c.words, isTerminal(w.stderr), c.Progress, e)
	endMemory := followMemory(cfg, e)
	err = e.Run(ctx)
	endMemory()
	stop()
	progress.Close()
	err = errors.Join(err, server.close())
	if errors.Is(err, outage.ErrFullAtStop) {
		return errors.Join(errStopped, err)
	}
	if err != nil {
		return err
	}
	r, err := report.Read(vfs.Disk(), c.Config.Dir)
	if err != nil {
		return err
	}
	c.words.Close()
	if err := printReport(w, r, c.JSON, c.Progress == "none"); err != nil {
		return err
	}
	switch r.State {
	case lifecycle.Stopped:
		return errStopped
	case lifecycle.Stalled:
		return errStalled
	case lifecycle.Failed:
		return fmt.Errorf("%s; the same command tries again", r.Reason)
	default:
		return nil
	}
}

// signals turns the first signal into an orderly stop and the second into one at once. A hang-up, which is what a
// closed terminal sends, is a signal like the others; under nohup it is none.
func signals(parent context.Context, e *engine.Engine, log *slog.Logger) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		first := true
		for s := range c {
			if first {
				log.Info("stopping: exchanges under way are finished; a second signal stops at once", "signal", s.String())
				cancel()
			} else {
				log.Info("stopping at once", "signal", s.String())
				e.Abort()
			}
			first = false
		}
	}()
	return ctx, func() {
		signal.Stop(c)
		close(c)
		<-done
		cancel()
	}
}
