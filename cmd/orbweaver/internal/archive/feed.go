package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/operate/feed"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// FeedCommand prints what is new, changed or gone in an archive.
type FeedCommand struct {
	crawl.Target
	Begin  string `name:"since" help:"Begin behind this cursor of an earlier answer, or at this time, such as 20260131 or 2026-01-31T12:00:00Z. Without it the feed begins with the oldest capture." placeholder:"CURSOR|TIME"`
	All    bool   `help:"Print captures without a change, too (kind unchanged)."`
	Limit  int64  `help:"Print at most this many changes." least:"0" placeholder:"N"`
	Follow bool   `help:"Go on while the crawl runs, until it ends or Ctrl-C."`
	Render bool   `help:"Print only the URLs of pages that a browser must draw, one a line, as Browsertrix takes them."`
	Most   int    `name:"render-most" help:"Print at most this many URLs of a site with --render; 0 for all." default:"100" least:"0" placeholder:"N"`
	Of     string `arg:"" exists:"directory" optional:"" name:"dir" help:"Crawl directory, directory of WARC files, or WACZ file, as with --dir." placeholder:"DIR"`
}

// Help shows examples.
func (*FeedCommand) Help() string {
	return `Prints a line of JSON for each capture that is new, has changed or is gone, in the order of the archive. The
last line has the kind end. Each line has a cursor: the next call goes on behind it, also after a restart or a
kill. A running crawl is asked; otherwise the files are read.

Kinds: new (first capture, or first after it was gone), changed, gone (404, 410 or given up after a capture),
unchanged (with --all). Errors of servers are no change.

Exit status: 0 printed, 1 it cannot be read, 2 wrong usage.

Examples:
  orbweaver feed crawl >changes.jsonl
  orbweaver feed crawl --since "$(tail -n 1 changes.jsonl | jq -r .cursor)" >>changes.jsonl
  orbweaver feed crawl --since 2026-01-31 --follow
  orbweaver feed crawl --render >browser.txt`
}

// followWait is how long a running crawl is asked to wait for a change.
const followWait = time.Minute

// errFollowLimit says that two flags exclude each other.
var errFollowLimit = errors.New("--limit ends the output, and --follow does not: give one of them")

var errRenderLimit = errors.New("--limit counts changes, and --render prints none: give --render-most")

// Run prints changes.
func (x *FeedCommand) Run(inv *command.Invocation) error {
	if x.Of != "" {
		x.Dir = x.Of
	}
	if x.Dir == warc.Stdin {
		return command.Misuse(warc.ErrStdinInput)
	}
	if x.Follow && x.Limit > 0 {
		return command.Misuse(errFollowLimit)
	}
	if x.Render && x.Limit > 0 {
		return command.Misuse(errRenderLimit)
	}
	if feed.IsCursor(x.Begin) {
		if _, err := feed.ParseCursor(x.Begin); err != nil {
			return command.Misuse(fmt.Errorf("--since: %w", err))
		}
	} else if _, err := lookup.ParseTime(x.Begin); x.Begin != "" && err != nil {
		return command.Misuse(fmt.Errorf("--since: %w", err))
	}
	client, err := x.Client()
	if err != nil {
		return command.Misuse(err)
	}
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := printer{FeedCommand: x, inv: inv, out: bufio.NewWriterSize(inv.Stdout, 64<<10), client: client}
	p.list = feed.RenderList{Out: p.out, Most: x.Most}
	err = p.print(ctx)
	if ctx.Err() != nil && x.Follow {
		err = nil // Ctrl-C is how it ends
	}
	return errors.Join(err, p.list.Flush(), p.out.Flush())
}

// printer prints a feed, from a running crawl or from files.
type printer struct {
	*FeedCommand

	inv    *command.Invocation
	out    *bufio.Writer
	client *control.Client
	cursor string // behind the last line that was printed
	list   feed.RenderList
}

// print asks the crawl, and reads the files when it does not run, or no longer.
func (p *printer) print(ctx context.Context) error {
	p.cursor = p.Begin
	for {
		err := p.printRunning(ctx)
		switch {
		case err == nil && !p.Follow || ctx.Err() != nil:
			return err
		case err == nil:
			continue
		case errors.Is(err, control.ErrNotRunning) && p.Address == "", errors.Is(err, control.ErrFeedCut):
			return p.printFiles(ctx)
		default:
			return p.Remedy(err)
		}
	}
}

// query are the parameters of the next question.
func (p *printer) query() url.Values {
	values := url.Values{
		"since": {p.cursor}, "all": {strconv.FormatBool(p.All)}, "limit": {strconv.FormatInt(p.Limit, 10)},
	}
	if p.Follow {
		values.Set("wait", followWait.String())
	}
	return values
}

// errNoEnd is ErrFeedCut without a cause.
var errNoEnd = fmt.Errorf("%w: it has no last line", control.ErrFeedCut)

// printRunning prints an answer of the running crawl.
func (p *printer) printRunning(ctx context.Context) error {
	isWhole := false
	err := p.client.CopyFeed(ctx, p.query().Encode(), func(line []byte) error {
		var said feed.Change
		if err := json.Unmarshal(line, &said); err != nil {
			return fmt.Errorf("%w: %w", control.ErrFeedCut, err)
		}
		p.cursor = said.Cursor
		if isWhole = said.Kind == feed.End; isWhole && p.Follow {
			return errors.Join(p.list.Flush(), p.out.Flush())
		}
		if p.Render {
			return p.list.Add(&said)
		}
		_, err := p.out.Write(append(line, '\n'))
		return err
	})
	if err == nil && !isWhole {
		err = errNoEnd
	}
	return err
}

// printFiles prints what the files have.
func (p *printer) printFiles(ctx context.Context) (err error) {
	disk := receivers.Disk()
	dir := filepath.ToSlash(p.Dir)
	damage := damageNotes{out: p.inv.Stderr}
	from := lookup.Options{FS: disk, OnFault: damage.note}
	if crawl.IsFile(disk, dir) {
		from.Files, dir = []string{dir}, path.Dir(dir)
	} else {
		warcs, err := lookup.FindDir(disk, dir)
		if err != nil {
			return command.Misuse(fmt.Errorf("there is no crawl and no archive in %s: %w", p.Dir, err))
		}
		from.Dirs = []string{warcs}
	}
	_, _ = find(p.inv, disk, []string{p.Dir}) // says what is not read
	end, err := feed.EndOf(disk, dir)
	if err != nil {
		return err
	}
	own, done, err := feedDir(disk, dir)
	if err != nil {
		return err
	}
	archive := lookup.NewFiles(from)
	f := feed.New(feed.Options{
		Archive: archive, Growth: feed.Still{End: end},
		Log: feed.CrawlLog{FS: disk, Dir: dir},
		FS:  disk, Dir: own,
	})
	defer func() { err = errors.Join(err, f.Close(), archive.Close(), done()) }()
	values := p.query()
	values.Del("wait")
	q, err := feed.ParseQuery(ctx, f, values)
	if err != nil {
		return err
	}
	if p.Render {
		_, err = f.Read(ctx, q, p.list.Add)
	} else {
		err = feed.Write(ctx, f, q, p.out)
	}
	if err != nil {
		return err
	}
	return damage.err()
}

// feedDir returns a directory for the files of the feed: that of the crawl, if nothing else uses it and it can be
// written; otherwise one that done removes.
func feedDir(disk vfs.FS, dir string) (own string, done func() error, err error) {
	_, noLink := os.Readlink(dir + "/" + layout.FeedDir) // a link could lead to files of the reader
	if _, err := disk.Size(dir + "/" + layout.ManifestFile); err == nil && noLink != nil {
		lock, err := layout.Lock(disk, dir)
		if err == nil {
			own = dir + "/" + layout.FeedDir
			if err = disk.MkdirAll(own); err == nil {
				return own, lock.Close, nil
			}
			err = lock.Close()
		}
		if err != nil && !errors.Is(err, layout.ErrInUse) && !errors.Is(err, os.ErrPermission) &&
			!errors.Is(err, syscall.EROFS) {
			return "", nil, err
		}
	}
	own, err = os.MkdirTemp("", "orbweaver-feed-")
	if err != nil {
		return "", nil, err
	}
	return filepath.ToSlash(own), func() error { return os.RemoveAll(own) }, nil
}
