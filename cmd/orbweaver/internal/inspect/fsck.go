package inspect

import (
	"errors"
	"fmt"
	"os"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/operate/upload"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// FsckCommand is the command fsck.
type FsckCommand struct {
	Dir     string   `arg:"" exists:"directory" help:"Crawl directory." placeholder:"DIR"`
	URLs    []string `arg:"" optional:"" name:"url" help:"With --rebuild: seeds, beside those that are left of the old frontier." placeholder:"URL"`
	Rebuild bool     `help:"If the crawl is not sound, make frontier, indexes and counters again from the WARC files."`
	Remote  bool     `help:"Also compare each closed WARC file with its object in the bucket of --upload."`
	Temp    string   `help:"Directory for the lists of fingerprints that do not fit in memory; the default is the system's." placeholder:"DIR"`
	JSON    bool     `help:"Print JSON."`
	Quiet   bool     `help:"Show no progress on a terminal."`

	crawl.Others
	crawl.Trust

	remote upload.Options // with --remote
	crawl  *crawl.Command // with --rebuild: the settings of the crawl
}

// Help shows examples.
func (*FsckCommand) Help() string {
	return `Checks a crawl directory that no process uses, and changes nothing: the checkpoint and all files it names,
the journal, every record of the archive with its digests, the indexes, whether every URL is in one place
and every finished page has its record, and whether the counters are right. Errors mean that data is damaged
or missing. Notes need no action: the crawl repairs what they name when it resumes. Exit status: 0 sound, 1 not sound.

With --rebuild, a crawl that is not sound gets a new frontier from its WARC files alone, and is checked
again. Damaged records are removed from the archive, and their pages are fetched again. The old file is kept
as .damaged, a torn end as .torn, the old frontier as frontier.broken-N. The settings are those of
crawl.toml, or of --config. Then "orbweaver crawl --dir DIR" resumes the crawl. It prints what an archive
cannot tell.

Examples:
  orbweaver fsck crawl
  orbweaver fsck --json crawl | jq '.findings[] | select(.severity == "error")'
  orbweaver fsck --with crawl-2025 crawl                   # also find the payloads that are in another archive
  orbweaver fsck --remote crawl                            # the archive and the bucket of --upload
  orbweaver fsck --rebuild crawl
  orbweaver fsck --rebuild crawl https://example.org/     # a seed that was lost with the frontier
  orbweaver fsck --rebuild --with crawl-2025 crawl         # pages with payloads in that archive are not fetched again`
}

// Check finds the settings of the crawl, if they are needed.
func (c *FsckCommand) Check(inv *command.Invocation) (err error) {
	if c.Remote && c.Rebuild {
		return errors.New("--remote and --rebuild exclude each other")
	}
	if c.Remote {
		c.remote, err = uploadOptions(inv, c.Dir, nil, c.Trust)
		if err == nil && c.remote.Target == "" {
			err = fmt.Errorf("--remote: the crawl in %s has no --upload", c.Dir)
		}
		return err
	}
	if !c.Rebuild {
		if len(c.URLs) > 0 {
			return fmt.Errorf("unexpected argument %s: seeds are for --rebuild", c.URLs[0])
		}
		return nil
	}
	c.crawl, err = crawlSettings(inv, c.Dir, true, append(c.Args(), c.URLs...)...)
	return err
}

// Run checks, and rebuilds if asked to.
func (c *FsckCommand) Run(inv *command.Invocation) error {
	if c.Rebuild {
		return c.rebuild(inv)
	}
	r, err := c.examine(inv)
	if errors.Is(err, fsck.ErrNoCrawl) {
		return command.Misuse(err)
	}
	if err != nil {
		return err
	}
	if c.Remote {
		if err := c.compareRemote(inv, &r); err != nil {
			return err
		}
	}
	if c.JSON {
		if err := command.PrintJSON(inv.Stdout, r); err != nil {
			return err
		}
	} else {
		r.Print(command.Plain(inv.Stdout))
	}
	return c.verdict(&r)
}

// compareRemote holds the archive against the bucket.
func (c *FsckCommand) compareRemote(inv *command.Invocation, r *fsck.Report) error {
	store, err := receivers.OpenStore(&c.remote, inv.Version)
	if err != nil {
		return err
	}
	defer store.Close()
	progress, end := console.Progress(inv.Stderr, "comparing", c.Quiet)
	defer end()
	found, checked, err := store.Compare(inv.Context, vfs.Disk(), c.Dir, progress)
	if err != nil {
		return err
	}
	r.AddArea(fsck.Area{Name: "bucket", Checked: int64(checked), Unit: "WARC files"})
	for _, d := range found {
		f := fsck.Finding{Area: "bucket", File: d.File, Severity: fsck.Note, Text: d.Text}
		if d.IsFault {
			f.Severity = fsck.Error
		}
		r.Add(f)
	}
	return nil
}

func (c *FsckCommand) verdict(r *fsck.Report) error {
	if !r.Sound() {
		return fmt.Errorf("%s is not sound: %s", c.Dir, plural.Count(r.Errors, "error"))
	}
	return nil
}

// examine checks the directory, with a temporary one for what does not fit in memory.
func (c *FsckCommand) examine(inv *command.Invocation) (r fsck.Report, err error) {
	temp, err := os.MkdirTemp(c.Temp, "orbweaver-fsck-")
	if err != nil {
		return r, fmt.Errorf("--temp: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	o := fsck.Options{Temp: vfs.Disk(), TempDir: temp}
	if o.With, err = c.Dirs(vfs.Disk()); err != nil {
		return r, err
	}
	progress, end := console.Progress(inv.Stderr, "checking", c.Quiet)
	defer end()
	o.Progress = progress
	return fsck.Check(inv.Context, vfs.Disk(), c.Dir, o)
}
