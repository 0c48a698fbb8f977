package ctl

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// UICommand serves the dashboard of a crawl that listens on its socket.
type UICommand struct {
	crawl.Target
	Listen string `help:"Loopback address of the dashboard: host:port, 0 for any free port." default:"127.0.0.1:0" placeholder:"ADDR"`
	Of     string `arg:"" exists:"directory" optional:"" name:"dir" help:"Crawl directory, as with --dir." placeholder:"DIR"`
}

// Help shows an example.
func (*UICommand) Help() string {
	return `Prints an address for a browser on this machine, and serves the dashboard there until Ctrl-C. The address
logs in one browser; the next one is printed when it was used. The crawl may stop and run again meanwhile. A
crawl with --listen host:port has the dashboard at that address, too.

Example:
  orbweaver ui crawl`
}

// errNotLoopback says that an address is not this machine's own.
var errNotLoopback = errors.New("--listen: the dashboard listens on loopback alone; " +
	"start the crawl with --listen and --token for other machines")

// Run serves pages until a signal.
func (c *UICommand) Run(inv *command.Invocation) error {
	if !crawl.IsLoopback(c.Listen) {
		return command.Misuse(errNotLoopback)
	}
	if c.Of != "" {
		c.Dir = c.Of
	}
	client, err := c.Client()
	if err != nil {
		return err
	}
	if _, err := client.Status(inv.Context); err != nil {
		if _, err := report.Read(vfs.Disk(), c.Dir); errors.Is(err, os.ErrPermission) {
			return err // it would show nothing
		}
		fmt.Fprintln(inv.Stderr, "orbweaver:", command.MessageOf(c.Remedy(err)))
		fmt.Fprintln(inv.Stderr, "The dashboard shows its last state, if there is one, and waits for it.")
	}
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	say := fmt.Sprintf("The dashboard of %s, until Ctrl-C. This address logs in one browser:", c.Dir)
	s, err := control.ListenPages(ctx, control.Pages{
		Options: control.Options{
			Address: c.Listen, Log: slog.New(slog.NewTextHandler(inv.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
			History: control.HistoryFile{FS: vfs.Disk(), Name: c.Dir + "/" + layout.HistoryFile, Crawl: c.Dir},
		},
		Crawl: client,
		NewLogin: func(addr, code string) {
			fmt.Fprintf(inv.Stdout, "%s\n  http://%s/#login=%s\n", say, addr, code)
			say = "A browser has logged in. For another one:"
		},
	})
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	<-ctx.Done()
	return s.Close()
}
