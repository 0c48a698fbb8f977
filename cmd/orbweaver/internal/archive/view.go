package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/page/parse"
	"orbweaver/warc"
	"orbweaver/warc/replay"
)

// ViewCommand shows an archive to a browser.
type ViewCommand struct {
	crawl.Target
	crawl.Others
	Listen string `help:"Loopback address of the pages: host:port, 0 for any free port." default:"127.0.0.1:0" placeholder:"ADDR"`
	Of     string `arg:"" exists:"directory" optional:"" name:"dir" help:"Crawl directory, directory of WARC files, or WACZ file, as with --dir." placeholder:"DIR"`
}

// Help shows examples.
func (*ViewCommand) Help() string {
	return `Prints an address for a browser on this machine, and serves the archive there until Ctrl-C: the pages as
they were, with images, styles and links. The crawl may run meanwhile; what it stores is seen at once. Scripts of
the pages do not run, and nothing is loaded from the web. /cdx answers the CDX server API. Records of files that
were removed here (--upload-then delete) are read from the object store, one request each.

Examples:
  orbweaver view crawl
  orbweaver view site.wacz`
}

// findTitle finds the title of a page in the first part of its body.
func findTitle(body, contentType []byte) string {
	r, err := parse.NewScanner(parse.Options{}).Scan(body, contentType)
	if err != nil {
		return ""
	}
	return string(r.Title)
}

// errNotLoopback says that an address is not this machine's own.
var errNotLoopback = errors.New("--listen: the archive is shown on loopback alone, since there is no login")

// Run serves pages until a signal.
func (x *ViewCommand) Run(inv *command.Invocation) error {
	if !crawl.IsLoopback(x.Listen) {
		return command.Misuse(errNotLoopback)
	}
	if x.Of != "" {
		x.Dir = x.Of
	}
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	objects := receivers.NewObjects(ctx, inv.Version)
	defer objects.Close()
	log := slog.New(slog.NewTextHandler(inv.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, err := x.OpenArchive(&x.Others, objects, func(f *warc.Fault) {
		log.Warn("a part of the archive cannot be read", "file", f.File, "offset", f.Offset, "reason", f.Error())
	})
	if err != nil {
		return command.Misuse(err)
	}
	_, _ = find(inv, receivers.Disk(), []string{x.Dir}) // says what is not read
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", x.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	server := &http.Server{
		Handler: replay.NewHandler(a, replay.Options{
			Name: filepath.Base(x.Dir), Style: dashboard.Style(), Seeds: seedsOf([]string{x.Dir}), TitleOf: findTitle,
		}, log), ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	fmt.Fprintf(inv.Stdout, "The archive in %s, until Ctrl-C:\n  http://%s/\n", x.Dir, l.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err = <-served:
		return err
	case <-ctx.Done():
	}
	err = server.Close()
	<-served //nolint:errcheck // it says that the server is closed
	return err
}
