package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/operate/inbox"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/cli/process"
	"orbweaver/internal/cli/summary"
	"orbweaver/internal/vfs"
)

// componentOptions are the settings of the engine, and whether those in its directory are trusted. The type is not
// exported: package kong calls Validate of every component in an exported field, and the configuration is not complete
// yet. Check does it later.
type componentOptions struct {
	Config engine.Config `embed:""`
	Trust  `group:"common"`
}

// uploadOptions say where closed WARC files go. The type is not exported for the same reason.
type uploadOptions struct {
	Uploads upload.Options `embed:""`

	sending *receivers.Sending
}

// Command is the engine's configuration, and what a command adds to it: files, the network, the control port and the
// terminal.
type Command struct {
	componentOptions

	startOptions   `group:"common"`
	listOptions    `group:"scope"`
	Budgets        string `help:"With --visit ranked: file of registrable domains and their weights, one on each line: example.org, a tab and 12.5. A domain gets pages in proportion to its weight. 'graph rank' writes such a file. Other domains have the weight 1 for one domain that links to them, and 1,000 for 250 or more." placeholder:"FILE" group:"scope"`
	WarcDictionary string `help:"File with a dictionary for zstd, made by 'warc train'. Each WARC file begins with it. It makes small pages smaller." placeholder:"FILE" group:"archive"`

	networkOptions `group:"network"`
	controlOptions `group:"control"`
	logOptions     `group:"control"`
	JSON           bool `help:"Print the final report as JSON on stdout; with --dry-run, one object for each URL." group:"common"`

	uploadOptions `group:"upload"`

	agentOptions `group:"agents"`

	DryRun bool `help:"Send nothing and write nothing: print what would happen to each URL, and which rule decides." group:"common" basic:""`
	Depth  int  `help:"With --dry-run: number of links from a seed to the URLs." default:"0" placeholder:"N" group:"common"`

	URLs []string `arg:"" optional:"" name:"url" help:"Seeds." placeholder:"URL"`

	Rebuilds bool `kong:"-"` // for fsck --rebuild: the URLs that the archive has keep their form

	explain *ExplainCommand // whose flags say how the crawl is asked

	resumes bool          // crawl.toml is there
	cfg     engine.Config // Config, completed
	seams   engine.Seams
	policy  *addrguard.Guard // what may be connected to; nil before settings
	output  *console.Output  // of the crawl; nil if this is a dry run
	dry     dryFacts         // what a dry run says besides
}

// Help explains the course of a crawl, filters and presets, and shows examples.
func (*Command) Help() string { return longHelp() }

// ShortHelp implements command.ShortHelper.
func (*Command) ShortHelp() string { return shortHelp() }

// New returns the command with the defaults of a public crawl.
func New() Command {
	return Command{componentOptions: componentOptions{Config: engine.Polite()}, explain: new(ExplainCommand)}
}

// SettingsFile keeps the settings of the crawl in dir.
func (*Command) SettingsFile(dir string) string { return effectiveFile(dir) }

// Resume notes that the directory holds a crawl.
func (c *Command) Resume(kept command.KeptSettings) { c.resumes, c.kept = true, kept }

// Prepared gives the configuration and the surroundings of the engine, once check has made them.
func (c *Command) Prepared() (engine.Config, engine.Seams) { return c.cfg, c.seams }

// Check makes the engine's configuration from the flags.
func (c *Command) Check(inv *command.Invocation) (err error) {
	for _, list := range []*[]string{
		&c.Config.Fetch.Headers, &c.Config.Hook.Hooks, &c.Config.Filters.Stats, &c.Config.Archive.InfoFields,
		&c.Config.Seen.Others.From,
	} {
		*list = command.Given(*list)
	}
	if err := c.check(c.Config.Dir, c.resumes, c.isExplained()); err != nil {
		return err
	}
	if c.isExplained() {
		return c.checkExplained(inv)
	}
	c.cfg, c.seams, err = c.settings(inv)
	if c.DryRun && len(c.URLs) == 0 {
		err = errors.Join(errors.New("--dry-run: give the URLs to be told about as arguments"), err)
	}
	return err
}

// isExplained reports whether explain asks, and nothing is crawled.
func (c *Command) isExplained() bool { return len(c.explain.URLs) > 0 }

// Run crawls.
func (c *Command) Run(inv *command.Invocation) error {
	if c.DryRun {
		return c.dryRun(inv)
	}
	cfg, seams := c.cfg, c.seams
	if err := receivers.CheckKeys(&c.Uploads); err != nil {
		return command.Misuse(err)
	}
	if owner, err := inUse(c.Config.Dir); err == nil && owner != "" { // sooner than that its address is in use
		return layout.UsedBy(owner, c.Config.Dir)
	}
	if err := c.probe(inv.Context, c.Config.Dir); err != nil {
		return err
	}
	if err := receivers.CheckStore(inv.Context, &c.Uploads, inv.Version, seams.Log); err != nil {
		return err
	}
	c.warnOfLimit(seams.Log)
	c.output.Start()
	defer c.output.Close()
	signal.Ignore(syscall.SIGPIPE) // the crawl goes on if the reader of its output ends
	if err := fitFiles(seams.Log, &cfg); err != nil {
		return err
	}
	if err := fitMemory(seams.Log, &cfg, memoryAllowed()); err != nil {
		return err
	}
	known, onDisk := hostsBefore(c.Config.Dir)
	setMemoryLimit(cfg, known, onDisk)
	c.warnOfPassword(inv, seams.Log)
	c.warnOfProxy(seams.Log)
	closeToOthers(seams.Log, c.Config.Dir)
	peers, err := c.openPeering(inv.Context, c.Config.Dir, &seams)
	if err != nil {
		return err
	}
	defer peers.close()
	if c.Agent != "" {
		refuseOwn(c.policy, c.peering.GossipAddr.String(), c.peering.MessageAddr.String())
	}
	files, err := inbox.Open(inbox.Options{FS: seams.FS, Dir: c.Config.Dir, Watcher: inbox.DiskWatcher{}, Log: seams.Log})
	if err != nil {
		return err
	}
	seams.Inbox = files
	c.sending = receivers.New(seams.FS, c.Config.Dir, &c.Uploads, inv.Version, seams.Log)
	seams.Uploads = c.sending
	e, err := engine.Open(cfg, seams)
	if err != nil {
		if errors.Is(err, admission.ErrNoSeeds) {
			err = command.Misuse(err)
		}
		return err
	}
	if err = c.sending.Start(inv.Context); err == nil {
		err = c.crawl(inv, e, cfg, peers, files)
		c.sending.Stop()
	}
	return errors.Join(err, e.Close())
}

// warnOfLimit says that new seeds are of no use to a crawl that has as many pages as it may have.
func (c *Command) warnOfLimit(log *slog.Logger) {
	r, err := report.Read(vfs.Disk(), c.Config.Dir)
	if most := c.cfg.Limits.MaxPages; err == nil && c.resumes && most > 0 && summary.DocumentsOf(r) >= most &&
		!c.Config.Refresh {
		log.Warn("the crawl in this directory has reached --max-pages: raise it to fetch more, or give another --dir",
			"dir", c.Config.Dir, "max_pages", most, "pages", summary.DocumentsOf(r), "urls_queued", r.URLsQueued)
	}
}

// hostsBefore is how many hosts the crawl that is resumed knows, and how many of them are on disk: opening it brings
// the others into memory.
func hostsBefore(dir string) (known, onDisk int64) {
	r, err := report.Read(vfs.Disk(), dir)
	if err != nil {
		return 0, 0 // a new crawl, or one whose report is lost
	}
	return r.HostsKnown, r.HostsCold
}

// crawl runs an open engine with its control socket, its progress line and its signals.
func (c *Command) crawl(
	inv *command.Invocation,
	e *engine.Engine,
	cfg engine.Config,
	peers peerConnection,
	files *inbox.Inbox,
) error {
	log := c.seams.Log
	before, berr := report.Read(vfs.Disk(), c.Config.Dir)
	hadEnded := berr == nil && before.State == lifecycle.Finished && !c.Config.Refresh
	if err := c.writeEffective(inv); err != nil {
		return err
	}
	o := e.Operator()
	server, err := c.listen(inv.Context, c.Config.Dir, c.seams.FS, o, control.Options{
		Reload: peers.reload, Log: log, Captures: o.Captures, Feed: o.Feed,
	})
	if err != nil {
		return err
	}
	refuseOwn(c.policy, server.Addr())
	if c.progress() != summary.ProgressNone {
		fmt.Fprintln(c.output, firstLine(&cfg, c.resumes))
		c.printPreset(c.output, inv)
	}
	log.Debug("memory limits", memoryPlan(cfg)...)
	ctx, stop := signals(inv.Context, func() {
		e.Abort()
		c.sending.Abort()
	}, e.Report, log)
	supervisor, err := process.FindSupervisor(os.Getenv)
	if err != nil {
		log.Warn("the service manager cannot be told how the crawl is", "error", err)
	}
	reporter := startReporter(ctx, serviceOptions{
		Supervisor: supervisor, Crawl: e, Checkpoint: cfg.Intervals.Checkpoint, Log: log,
	})
	progress := summary.StartProgress(ctx, c.output, c.progress(), e)
	endMemory, endInbox := followMemory(cfg, e), runInbox(ctx, files, e, log)
	err = e.Run(ctx)
	endInbox()
	endMemory()
	var unsent int64
	if err == nil {
		unsent = c.sending.Finish(ctx)
	}
	stop()
	reporter.Close()
	progress.Close()
	err = errors.Join(err, server.close())
	if errors.Is(err, outage.ErrFullAtStop) {
		return errors.Join(command.ErrStopped, err)
	}
	if err != nil {
		return err
	}
	r, err := report.Read(vfs.Disk(), c.Config.Dir)
	if err != nil {
		return err
	}
	if r.Uploads = c.sending.Stats(); r.Uploads != nil { // some files were sent after the end
		if err := report.Write(c.seams.FS, c.Config.Dir, r); err != nil {
			return err
		}
	}
	writeReports(inv.Context, c.Config.Dir, log)
	r.WarnTruncated(log, c.Config.Dir)
	c.output.Close()
	if hadEnded && r.State == lifecycle.Finished && r.URLsAdmitted == before.URLsAdmitted {
		fmt.Fprintln(inv.Stderr, nothingToDo(c.Config.Dir, r.Reason))
	}
	if err := summary.PrintReport(inv, c.Config.Dir, r, c.JSON, c.Quiet); err != nil {
		return err
	}
	err = endOf(&r, c.Config.Dir, unsent)
	if err != nil && !errors.Is(err, command.ErrUnsent) && !c.JSON && !c.Quiet {
		return command.Told(err) // by the summary
	}
	return err
}

// nothingToDo says that a crawl was finished before this run. What is left beyond a limit is in the summary.
func nothingToDo(dir, reason string) string {
	ended := "is finished"
	if lifecycle.IsLimit(reason) {
		ended = "has ended at its limit (" + reason + ")"
	}
	return fmt.Sprintf("nothing to do: the crawl in %s %s; --refresh crawls it again", dir, ended)
}

// endOf is what a crawl ends with: nil if it is done and its archive is sent.
func endOf(r *report.Report, dir string, unsent int64) error {
	switch r.State {
	case lifecycle.Stopped:
		return command.ErrStopped
	case lifecycle.Stalled:
		return command.ErrStalled
	case lifecycle.Failed:
		return fmt.Errorf("%s; the same command tries again", r.Reason)
	default:
		if unsent > 0 {
			return fmt.Errorf("%w: 'orbweaver upload %s' sends it", command.ErrUnsent, dir)
		}
		return nil
	}
}

// signals turns the first signal into an orderly stop and the second into one at once. A hang-up, which is what a
// closed terminal sends, is a signal like the others; under nohup it is none.
func signals(
	parent context.Context, abort func(), current func() report.Report, log *slog.Logger,
) (context.Context, func()) {
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
				log.Info("stopping: exchanges under way are finished; a second signal stops at once", "signal", s.String(),
					"exchanges", current().ActiveFetches, "at_most", lifecycle.DrainMax.String())
				cancel()
			} else {
				log.Info("stopping at once", "signal", s.String())
				abort()
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
