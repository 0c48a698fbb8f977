package derivation

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"orbweaver/derive"
	"orbweaver/derive/quality"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// QualityCommand is the command quality.
type QualityCommand struct {
	Picture string `help:"Also draw the curves: an SVG file." placeholder:"FILE"`
	Workers int    `help:"WARC files read at a time; 0: one for each processor." default:"0" least:"0" most:"1024" placeholder:"N"`
	reading

	JSON  bool `help:"Print one object as JSON: area, at_20_percent, gain and tau have a value for each order, curves the part at 0, 1 ... 100 % of the pages."`
	Quiet bool `help:"Show no progress on a terminal."`

	Names []string `arg:"" exists:"file or directory" name:"archive" help:"Crawl directories, directories of WARC files, or WARC files of one crawl." placeholder:"ARCHIVE"`
}

// Help shows examples.
func (*QualityCommand) Help() string {
	return `Measures the order of visits of a crawl from its archive. It is compared with breadth-first, depth-first and
random order of the same pages, and with the omniscient order, which has the most important page first.

  area    mean part of all PageRank that the first pages have: 0.5 for a random order
  20 %    the part that the first fifth of the pages has
  gain    where the area lies between breadth-first, 0, and omniscient, 1
  tau     Kendall's rank correlation with breadth-first: 1 for the same order

Pages are HTML documents and redirects with a status from 200 to 399, by their first capture. Ranks are those of the
graph of these pages. Temporary files take 12 bytes for each link, below TMPDIR.

Exit status: 0 if all is well, 1 if a record was damaged or a file was left out: all others were used.

Examples:
  orbweaver quality crawl
  orbweaver quality --json crawl | jq .gain
  orbweaver quality --picture order.svg crawl-1 crawl-2`
}

// Check implements command.Checker.
func (c *QualityCommand) Check(*command.Invocation) error {
	if slices.Contains(c.Names, warc.Stdin) {
		return warc.ErrStdinInput
	}
	return nil
}

// Run measures.
func (c *QualityCommand) Run(inv *command.Invocation) (err error) {
	dir, err := os.MkdirTemp("", "orbweaver-quality-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dir = filepath.ToSlash(dir)
	line := console.StartStatus(inv.Stderr, c.Quiet)
	defer line.Close()
	product := quality.New(vfs.Disk(), dir)
	read, err := c.pass(inv, line, c.Names, derive.Options{
		Dir: dir, Products: []derive.Product{product}, Workers: c.Workers,
	})
	crawl := product.Crawl()
	if crawl != nil {
		defer func() { err = errors.Join(err, crawl.Close()) }()
	}
	if err != nil {
		return err
	}
	r, err := crawl.Measure(inv.Context, func(round int) {
		line.SetStatus(console.Status{Reason: fmt.Sprintf("PageRank, round %d", round)})
	})
	line.Close()
	if err != nil {
		return err
	}
	if c.Picture != "" {
		draw := func(w io.Writer) error { return drawQuality(w, r) }
		if err := vfs.WriteAtomic(vfs.Disk(), filepath.ToSlash(c.Picture), draw); err != nil {
			return fmt.Errorf("--picture: %w", err)
		}
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		err = r.Print(inv.Stdout)
	}
	fmt.Fprint(inv.Stderr, unfinished(read))
	return errors.Join(err, c.errUnread(inv, read))
}
