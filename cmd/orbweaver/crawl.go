package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/engine"
	"orbweaver/engine/fetch"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/outage"
	"orbweaver/internal/vfs"
)

type crawlCmd struct {
	Dir          string   `help:"Crawl directory." default:"./crawl" placeholder:"DIR"`
	Seeds        []string `help:"File of seeds: one URL a line, # comments, .gz read too, - for stdin. Repeatable." placeholder:"FILE" sep:"none"`
	Refresh      bool     `help:"Begin a finished crawl again, from its seeds: servers are asked on the condition that a page has changed since it was stored (If-None-Match, If-Modified-Since), and what is unchanged becomes a revisit without a body. --max-pages, --max-per-host and --max-time count from then on. A crawl that is not finished goes on."`
	Scope        string   `help:"Which URLs enter the frontier: all; host, domain or prefix of the seeds; or an expression." default:"all" placeholder:"SCOPE"`
	ExcludeHosts string   `help:"File of hosts to stay away from: host, .suffix, *.suffix or CIDR, one a line. A CIDR fits only URLs whose host is an address; --deny-net is about all connections." placeholder:"FILE"`
	NoFollow     bool     `name:"nofollow" help:"Take no links that rel=nofollow, meta robots or X-Robots-Tag ask to leave alone (nofollow or none, for all robots or for orbweaver). noindex has no effect: it is about search results."`
	IncludeHosts string   `help:"File of hosts, in the same form: no others are asked." placeholder:"FILE"`
	Surts        string   `help:"File of SURT prefixes, +http://(org,example, or - one a line: the longest that fits decides; with a + in the file, what none fits is refused." placeholder:"FILE"`

	HostRules string `help:"File of rules for single hosts, one a line: host, .suffix, *.suffix or an address, then host-delay=TIME, max-per-host=N or exclude. The narrowest decides; a delay may be shorter than --host-delay, and Crawl-delay still lengthens it." placeholder:"FILE"`

	ExcludeExtensions []string `help:"Endings of paths to stay away from, such as jpg,png." placeholder:"EXT"`

	Fetch  string `help:"all, none, or an expression: which URLs, taken from the frontier, are asked for now." default:"all" placeholder:"EXPR"`
	Parse  string `help:"all, none, or an expression: which pages are searched for links." default:"all" placeholder:"EXPR"`
	Follow string `help:"all, none, or an expression: which links of a page lead on." default:"all" placeholder:"EXPR"`
	Store  string `help:"all, none, or an expression: which responses are kept." default:"all" placeholder:"EXPR"`

	HostDelay     duration `help:"Wait between two requests to a site." default:"4s" placeholder:"TIME"`
	IPDelay       duration `name:"ip-delay" help:"Wait between two requests to an IP address." default:"500ms" placeholder:"TIME"`
	CrawlDelayMax duration `help:"The longest Crawl-delay that is kept; robots.txt files that ask for more are told in the log and counted." default:"5m" placeholder:"TIME" least:"1"`

	Forms    bool `help:"Follow the action of forms that only read (method GET)."`
	Sitemaps bool `help:"Follow the sitemaps that robots.txt files name, packed ones and lists of URLs too."`

	Cookies   string   `help:"off; or site: what a site sets goes back to that site (scheme, host and port) and no other, 20 cookies and 4 KiB a site, in memory, forgotten when the crawl stops." oneof:"off,site" default:"off" placeholder:"MODE"`
	KeepAlive duration `help:"Keep a connection open for so long for the next request to its site; 0 for one connection a request. It saves work only if it is longer than --host-delay." default:"0" placeholder:"TIME"`
	Fetchers  count    `help:"Fetch workers." default:"1024" placeholder:"N" least:"1"`

	Proxy     string   `help:"HTTP proxy that carries all requests. A user and a password in it (http://USER:PASSWORD@IP:PORT) are kept in crawl.toml, which only its owner can read; on the command line all users can see them, so use ORBWEAVER_PROXY or --config." placeholder:"URL"`
	Resolver  []string `help:"system; IP:PORT, repeatable; or hashed[:N], made-up addresses for proxy runs." default:"system" placeholder:"R"`
	DNSTTLMin duration `name:"dns-ttl-min" help:"An address is believed for so long at least, whatever the name server says." default:"30s" placeholder:"TIME" least:"1"`
	DNSTTLMax duration `name:"dns-ttl-max" help:"An address is believed for so long at most." default:"1h" placeholder:"TIME" least:"1"`
	AllowNet  []string `help:"Lift the rules for addresses and ports for this range; ports of the Fetch standard's bad list need --allow-port as well. Repeatable." placeholder:"CIDR"`
	DenyNet   []string `help:"Never connect to this range, whatever else is allowed: your public address behind a NAT, for one. Addresses of this machine need not be named. Repeatable." placeholder:"CIDR"`
	AllowPort []string `help:"Port that links may name beside the usual ones. Repeatable." placeholder:"PORT"`
	TLS       string   `name:"tls" help:"tolerant: fetch despite certificate faults; strict: refuse." oneof:"tolerant,strict" default:"tolerant" placeholder:"MODE"`

	UserAgent string `help:"User-Agent; the default names version and contact." placeholder:"TEXT"`
	Contact   string `help:"URL or e-mail address where site owners reach you. Required for public crawls." placeholder:"URL"`
	Operator  string `help:"Who runs the crawl, for the archive's warcinfo." placeholder:"NAME"`

	MaxPages   count `help:"Stop after this many stored pages, unchanged ones included; 0 for no limit." default:"0" placeholder:"N"`
	MaxDepth   count `help:"Links from a seed; -1 for no limit." default:"-1" least:"-1" placeholder:"N"`
	MaxURL     size  `name:"max-url" help:"Length of the longest URL; longer ones are dropped and counted. At most 8KiB." default:"2KiB" placeholder:"SIZE" least:"16" most:"8192"`
	MaxPerHost count `help:"Stored pages of one site; 0 for no limit." default:"0" placeholder:"N"`

	MaxPerDomain      count    `help:"Stored pages of all sites of a registrable domain, as the public suffix list has it; 0 for no limit." default:"0" placeholder:"N"`
	MaxHostsPerDomain count    `help:"Sites of a registrable domain; 0 for no limit. Names beyond are not even looked up." default:"0" placeholder:"N"`
	MaxHostsPerIP     count    `name:"max-hosts-per-ip" help:"Sites of one IP address; 0 for no limit." default:"0" placeholder:"N"`
	IPv6Prefix        count    `name:"ipv6-prefix" help:"IPv6 addresses count as one IP address for delays, quotas and tarpits if their first N bits are equal, 32 to 128. All agents of a crawl should have the same." default:"64" least:"32" most:"128" placeholder:"N"`
	MaxPathRepeats    count    `help:"Leave URLs out whose path repeats the same one to four folders more than N times in a row; 0 for no limit. Not needed against endless paths, which --novelty bounds; set it if even the first pages of such paths are unwanted. 'orbweaver skipped' lists what is left out." default:"0" placeholder:"N"`
	StripParams       []string `help:"Parameters that links lose, in the query and behind semicolons: names, beginnings such as utm_*, or the lists session and tracking." placeholder:"NAME"`
	Novelty           string   `help:"on: URLs that look like a part of a trap (their pages repeat what the site said before) wait until the site has nothing else, and are left out only beyond --trap-floor; off: nothing waits, nothing is left out, and a crawl of an endless site does not end." oneof:"on,off" default:"on" placeholder:"MODE"`
	TrapFloor         count    `help:"How many delayed URLs of one part of a site are fetched at least before any is left out, and then only if the part repeats itself and has ever more URLs: ten times as many, if its payloads differ. Raise it if 'orbweaver skipped' lists pages that you want, and start the crawl again: they are queued again. Lower it if traps cost too much." default:"10000" placeholder:"N" least:"1" most:"1073741824"`

	MaxTime   duration `help:"Stop after this running time, earlier runs included; 0 for no limit." default:"0" placeholder:"TIME"`
	MaxDisk   size     `help:"Stop when archive, frontier and logs together have this size; 0 for no limit. The frontier of a small crawl has some 60 MiB, most of it reserved or cache." default:"0" placeholder:"SIZE"`
	MaxBody   size     `help:"Bytes kept of one body." default:"2MiB" placeholder:"SIZE" least:"1"`
	StallWait duration `help:"When every queued URL is of a site that fails or asks to slow down, go on trying for so long; then stop with the queue kept, state stalled, exit status 3. A site that names a time within it (Retry-After) is waited for. 0: stop at once. Delays are no trouble and are always waited for." default:"1h" placeholder:"TIME"`
	GiveUp    duration `help:"When a site that has answered before has failed for so long, its queued URLs are given up, each with a line in crawl.log. A site that has never answered, or a name that does not exist, is given up after its tries." default:"7d" placeholder:"TIME" least:"1"`

	WarcCompression string `help:"gzip, zstd or none." oneof:"gzip,zstd,none" default:"gzip" placeholder:"MODE"`
	WarcLevel       count  `help:"Compression level, 1 (fast) to 9." default:"1" placeholder:"N" least:"1" most:"9"`
	WarcSize        size   `help:"Size at which the next file is begun." default:"1GiB" placeholder:"SIZE" least:"1"`
	WarcDictionary  string `help:"File with a dictionary for zstd, as 'warc train' makes it: each archive file begins with it." placeholder:"FILE"`
	WarcMetadata    string `help:"Metadata records: auto, for captures of which there is more to tell than the other records say; all; or none." oneof:"auto,all,none" default:"auto" placeholder:"MODE"`
	WarcVia         bool   `help:"Keep with each queued URL the page that led to it, for metadata records: the frontier grows by its length for each."`
	WarcOutlinks    bool   `help:"List in metadata records what each page links to."`
	WarcDNS         string `name:"warc-dns" help:"Records of what name servers said: all or none." oneof:"all,none" default:"all" placeholder:"MODE"`

	WorkbenchMemory size     `help:"Memory for queued paths and idle hosts; what is beyond goes to disk." default:"256MiB" placeholder:"SIZE" least:"1"`
	CacheMemory     size     `help:"Memory of the fingerprint cache." default:"64MiB" placeholder:"SIZE" least:"1"`
	SieveMemory     size     `help:"Memory of the sieve's buckets." default:"64MiB" placeholder:"SIZE" least:"1"`
	SeenMemory      size     `help:"Memory of the index of payload digests." default:"192MiB" placeholder:"SIZE" least:"1"`
	NoveltyMemory   size     `help:"Memory of what sites have said, for --novelty." default:"32MiB" placeholder:"SIZE" least:"1"`
	Checkpoint      duration `help:"Time between two checkpoints." default:"30s" placeholder:"TIME" least:"1"`

	Listen   string `help:"Control and metrics: host:port, or unix:PATH; the default is a Unix socket in the crawl directory, for its owner alone." placeholder:"ADDR"`
	Token    string `help:"File whose first line is the token that requests to --listen host:port must bring. By default one is made for each run, in control.token of the crawl directory, where ctl finds it. Needed if the address is not loopback; nothing is encrypted." placeholder:"FILE"`
	Progress string `help:"auto, plain or none." oneof:"auto,plain,none" default:"auto" placeholder:"MODE"`
	JSON     bool   `help:"Print the final report as JSON on stdout; with --dry-run, an object a URL."`

	agentFlags `group:"agents"`

	DryRun bool  `help:"Ask nobody and write nothing: tell on stdout what would become of each URL, and which rule says so."`
	Depth  count `help:"With --dry-run: how many links the URLs are away from a seed." default:"0" placeholder:"N"`

	URLs []string `arg:"" optional:"" name:"url" help:"Seeds." placeholder:"URL"`

	resumes bool // crawl.toml is there
	cfg     engine.Config
	seams   engine.Seams
	policy  *fetch.Guard       // what may be connected to; nil before settings
	words   *words             // of the crawl; nil if this is a dry run
	lists   engine.ListSources // what cfg.Lists were made of, if this is a dry run
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
		seams.Log.Info("the crawl directory holds a crawl: it goes on; seeds that it knows are ignored", "dir", c.Dir)
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
	closeToOthers(seams.Log, c.Dir)
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
	r, err := engine.ReadReport(vfs.Disk(), c.Dir)
	if err != nil {
		return 0, 0 // a new crawl, or one whose report is lost
	}
	return r.HostsKnown, r.HostsCold
}

func (c *crawlCmd) explain(err error) error {
	if errors.Is(err, engine.ErrNoSeeds) {
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
	r, err := engine.ReadReport(vfs.Disk(), c.Dir)
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
