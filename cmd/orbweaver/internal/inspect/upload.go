package inspect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// UploadCommand is the command upload.
type UploadCommand struct {
	Dir      string `arg:"" exists:"directory" help:"Crawl directory." placeholder:"DIR"`
	Target   string `name:"upload" help:"Bucket to send to, in place of the one in crawl.toml: s3://BUCKET/PREFIX." placeholder:"S3URL"`
	Endpoint string `name:"upload-endpoint" help:"Object store, in place of the one in crawl.toml." placeholder:"URL"`
	Then     string `name:"upload-then" help:"keep or delete the WARC files that the bucket has, in place of what crawl.toml says." placeholder:"MODE"`

	crawl.Trust

	FetchBack bool `help:"The other way: bring WARC files that were removed here (--upload-then delete) back from the bucket."`
	JSON      bool `help:"Print JSON."`

	options upload.Options
}

// Help shows examples.
func (*UploadCommand) Help() string {
	return `Sends the closed WARC files of a crawl that no process runs, and that have no receipt yet: to the bucket of
--upload, and to the command of --on-warc-close. The settings are those of crawl.toml in the directory, or
of --config. A fault that may pass is waited for; a signal ends it. The same command continues.
Exit status: 0 all files are sent; 1 a file is damaged or refused, so it is not sent (no such bucket, no
access, what answers is no object store); 130 a signal ended it.

With --fetch-back, each file appears when it is whole and has the SHA-256 of its receipt. The next run of a
crawl with --upload-then delete removes it again.

Examples:
  orbweaver upload crawl
  orbweaver upload --upload-then delete crawl
  orbweaver upload --fetch-back crawl
  orbweaver upload --upload s3://other/archive --upload-endpoint https://s3.example.org crawl`
}

// Check finds the settings of the crawl.
func (c *UploadCommand) Check(inv *command.Invocation) (err error) {
	c.options, err = uploadOptions(inv, c.Dir, map[string]string{
		"--upload": c.Target, "--upload-endpoint": c.Endpoint, "--upload-then": c.Then,
	}, c.Trust)
	return err
}

// uploadOptions are those of a crawl, or of flags that are given in their place.
func uploadOptions(inv *command.Invocation, dir string, given map[string]string, trust crawl.Trust) (
	upload.Options, error,
) {
	more := trust.Args()
	for name, value := range given {
		if value != "" {
			more = append(more, name, value)
		}
	}
	settings, err := crawlSettings(inv, dir, false, more...)
	if err != nil {
		return upload.Options{}, err
	}
	return settings.Uploads, receivers.CheckKeys(&settings.Uploads)
}

// uploadReport is what upload --json prints.
type uploadReport struct {
	*upload.Stats

	FilesLeft int64 `json:"files_left"`
}

// errDamaged is returned if a file is not what its line in the manifest says.
var errDamaged = errors.New("damaged WARC files were not sent: see 'orbweaver fsck'")

// Run sends.
func (c *UploadCommand) Run(inv *command.Invocation) (err error) {
	if c.FetchBack && c.options.Target == "" {
		return command.Misuse(errors.New("--fetch-back: give the bucket with --upload"))
	}
	if c.options.IsOff() {
		return command.Misuse(errors.New("nothing to send to: neither --upload nor --on-warc-close is set"))
	}
	fsys := engine.Disk(c.Dir)
	if m, err := manifest.Read(fsys, c.Dir+"/"+layout.FrontierDir); err != nil {
		return err
	} else if m == nil {
		return command.Misuse(fmt.Errorf("%s holds no crawl with a checkpoint", c.Dir))
	}
	lock, err := layout.Lock(fsys, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c.options.Wait = math.MaxInt64
	if c.FetchBack {
		return c.fetchBack(ctx, inv, fsys)
	}
	log := slog.New(slog.NewTextHandler(inv.Stderr, nil))
	if err := receivers.CheckStore(ctx, &c.options, inv.Version, log); err != nil {
		return err
	}
	s := receivers.New(fsys, c.Dir, &c.options, inv.Version, log)
	defer s.Stop()
	if err := s.Start(inv.Context); err != nil {
		return err
	}
	left := s.Finish(ctx)
	r := uploadReport{s.Stats(), left}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		err = r.print(inv)
	}
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = command.ErrStopped
	case r.Damaged[upload.Store] > 0:
		err = errDamaged
	case left > 0:
		err = r.refusal()
	}
	return err
}

// fetchBack brings files back from the bucket.
func (c *UploadCommand) fetchBack(ctx context.Context, inv *command.Invocation, fsys vfs.FS) error {
	removed, err := receipts.Removed(fsys, c.Dir)
	if err != nil {
		return err
	}
	store, err := receivers.OpenStore(&c.options, inv.Version)
	if err != nil {
		return err
	}
	defer store.Close()
	var r fetchReport
	for i := range removed {
		if err := store.FetchBack(ctx, fsys, c.Dir, &removed[i]); err != nil {
			return fmt.Errorf("%s came back: %w", plural.Count(r.Files, "WARC file"), err)
		}
		r.Files++
		r.Bytes += removed[i].Length
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, r)
	}
	_, err = fmt.Fprintf(inv.Stdout, "%s fetched back, %s\n", plural.Count(r.Files, "WARC file"),
		plural.Bytes(r.Bytes))
	return err
}

// fetchReport is what upload --fetch-back --json prints.
type fetchReport struct {
	Files int64 `json:"files_fetched"`
	Bytes int64 `json:"bytes_fetched"`
}

// refusal is the error of an upload that has ended with files left: a receiver refuses them.
func (r *uploadReport) refusal() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(r.Errors)) {
		all = append(all, fmt.Errorf("%s: %s", name, r.Errors[name]))
	}
	return fmt.Errorf("%s left: %w", plural.Count(r.FilesLeft, "file"), errors.Join(all...))
}

func (r *uploadReport) print(inv *command.Invocation) error {
	for _, name := range []string{upload.Store, upload.Command} {
		n, ok := r.Files[name]
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s: %s sent, %s; %s left", name, plural.Count(n, "WARC file"),
			plural.Bytes(r.Bytes[name]), plural.Count(r.Waiting[name], "file"))
		if n := r.RemovedFiles[name]; n > 0 {
			text += fmt.Sprintf("; %s removed here, %s", plural.Count(n, "file"), plural.Bytes(r.RemovedBytes[name]))
		}
		_, err := fmt.Fprintln(inv.Stdout, text)
		if err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
	}
	return nil
}
