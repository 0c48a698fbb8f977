package inspect

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine"
	"orbweaver/engine/layout"
	"orbweaver/engine/manifest"
	"orbweaver/engine/upload"
	"orbweaver/internal/plural"
)

// UploadCommand is the command upload.
type UploadCommand struct {
	Dir      string `arg:"" help:"Crawl directory." placeholder:"DIR"`
	Target   string `name:"upload" help:"Bucket to send to, in place of the one in crawl.toml: s3://BUCKET/PREFIX." placeholder:"S3URL"`
	Endpoint string `name:"upload-endpoint" help:"Object store, in place of the one in crawl.toml." placeholder:"URL"`
	JSON     bool   `help:"Print JSON."`

	options upload.Options
}

// Help shows examples.
func (*UploadCommand) Help() string {
	return `Sends the closed WARC files of a crawl that no process runs, and that have no receipt yet: to the bucket of
--upload, and to the command of --on-warc-close. The settings are those of crawl.toml in the directory, or
of --config. It tries again until all files are sent; a signal ends it. The same command continues.
Exit status: 0 all files are sent; 130 a signal ended it.

Examples:
  orbweaver upload crawl
  orbweaver upload --upload s3://other/archive --upload-endpoint https://s3.example.org crawl`
}

// Check finds the settings of the crawl.
func (c *UploadCommand) Check(inv *command.Invocation) (err error) {
	c.options, err = uploadOptions(inv, c.Dir, c.Target, c.Endpoint)
	return err
}

// uploadOptions are those of a crawl, or of what is given in their place.
func uploadOptions(inv *command.Invocation, dir, target, endpoint string) (upload.Options, error) {
	var more []string
	if target != "" {
		more = append(more, "--upload", target)
	}
	if endpoint != "" {
		more = append(more, "--upload-endpoint", endpoint)
	}
	settings, err := crawlSettings(inv, dir, more...)
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

// Run sends.
func (c *UploadCommand) Run(inv *command.Invocation) (err error) {
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
	log := slog.New(slog.NewTextHandler(inv.Stderr, nil))
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
	if err == nil && left > 0 {
		err = command.ErrStopped
	}
	return err
}

func (r *uploadReport) print(inv *command.Invocation) error {
	for _, name := range []string{upload.Store, upload.Command} {
		n, ok := r.Files[name]
		if !ok {
			continue
		}
		_, err := fmt.Fprintf(inv.Stdout, "%s: %s sent, %s; %s left\n", name, plural.Count(n, "WARC file"),
			command.FormatBytes(r.Bytes[name]), plural.Count(r.Waiting[name], "file"))
		if err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
	}
	return nil
}
