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

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/replay"
	"orbweaver/warc/waczfs"
)

// ViewCommand shows an archive to a browser.
type ViewCommand struct {
	crawl.Target
	crawl.Others
	Listen    string `help:"Loopback address of the pages: host:port, 0 for any free port." default:"127.0.0.1:0" placeholder:"ADDR"`
	Replayweb string `help:"Show the pages in ReplayWeb.page, too, which runs their scripts. DIR has its ui.js and sw.js, as npm installs them." placeholder:"DIR"`
	Of        string `arg:"" exists:"directory" optional:"" name:"dir" help:"Crawl directory, directory of WARC files, or WACZ file, as with --dir." placeholder:"DIR"`
}

// Help shows examples.
func (*ViewCommand) Help() string {
	return `Prints an address for a browser on this machine, and serves the archive there until Ctrl-C: the pages as
they were, with images, styles and links. The crawl may run meanwhile; what it stores is seen at once. Scripts of
the pages do not run, and nothing is loaded from the web. /cdx answers the CDX server API. Records of files that
were removed here (--upload-then delete) are read from the object store, one request each.

For pages that scripts fill, give ReplayWeb.page, a program of others that runs in the browser. Its licence is the
AGPL-3.0, so it is not part of this program. It is at an address of its own, which is printed, too. Scripts run there;
the policy of its pages forbids requests to other servers, but not that a page connects to one:
  npm install replaywebpage
  orbweaver view --replayweb node_modules/replaywebpage crawl

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
	o := replay.Options{
		Name: filepath.Base(x.Dir), Style: dashboard.Style(), Seeds: seedsOf([]string{x.Dir}), TitleOf: findTitle,
	}
	if isWACZ(x.Dir) {
		o.Seeds, o.Titles = pagesOf(receivers.Disk(), x.Dir)
	}
	listeners := []net.Listener{l}
	var p replay.PlayerOptions
	if x.Replayweb != "" {
		played, err := x.openPlayer(ctx, &p)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		listeners = append(listeners, played)
		p.Address, p.List = "http://"+played.Addr().String(), "http://"+l.Addr().String()
		o.Player = p.Address
	}
	h := replay.NewHandler(a, o, log)
	handlers := []http.Handler{h, replay.NewPlayer(h, p)}
	fmt.Fprintf(inv.Stdout, "The archive in %s, until Ctrl-C:\n  http://%s/\n", x.Dir, l.Addr())
	if o.Player != "" {
		fmt.Fprintf(inv.Stdout, "In ReplayWeb.page, with scripts:\n  %s/\n", o.Player)
	}
	ended := make(chan error, len(listeners))
	for i, l := range listeners {
		go func() {
			ended <- serve(ctx, l, handlers[i], log)
			stop()
		}()
	}
	for range listeners {
		err = errors.Join(err, <-ended)
	}
	return errors.Join(err, a.Close())
}

// serve answers until the context ends.
func serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler: h, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	closed := context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve says how it ended
	defer closed()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// openPlayer reads ReplayWeb.page, and listens for it at a free port. Packages are the archive if it is a WACZ.
func (x *ViewCommand) openPlayer(ctx context.Context, p *replay.PlayerOptions) (l net.Listener, err error) {
	if p.UI, p.Worker, err = replay.LoadPlayer(vfs.Disk(), filepath.ToSlash(x.Replayweb)); err != nil {
		return nil, command.Misuse(fmt.Errorf("--replayweb: %w", err))
	}
	disk := receivers.Disk()
	if name := filepath.ToSlash(x.Dir); len(x.With) == 0 && waczfs.IsFile(disk, name) {
		if p.Packages, err = waczfs.Homes(disk, name); err != nil {
			return nil, command.Misuse(err)
		}
		p.FS = disk
	}
	host, _, err := net.SplitHostPort(x.Listen)
	if err == nil {
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return l, nil
}
