package main

import (
	"errors"
	"fmt"

	"orbweaver/engine/fsck"
	"orbweaver/internal/vfs"
)

type fsckCmd struct {
	Dir   string `arg:"" help:"Crawl directory." placeholder:"DIR"`
	JSON  bool   `help:"Print JSON."`
	Quiet bool   `help:"Do not say what is being examined."`
}

// Help shows examples.
func (*fsckCmd) Help() string {
	return `Reads a crawl directory that no process uses, and changes nothing in it: the checkpoint and all files it names, the
journal, every record of the archive with its digests, the indexes, and whether the counters are true. Errors are broken
promises; notes are what going on with the crawl will put in order. Exit status: 0 sound, 1 not sound.

Examples:
  orbweaver fsck crawl
  orbweaver fsck --json crawl | jq '.findings[] | select(.severity == "error")'`
}

// Run checks.
func (c *fsckCmd) Run(w *world) error {
	o := fsck.Options{}
	if !c.Quiet {
		o.Progress = func(what string) { fmt.Fprintln(w.stderr, "checking", what) }
	}
	r, err := fsck.Check(w.ctx, vfs.Disk(), c.Dir, o)
	if errors.Is(err, fsck.ErrNoCrawl) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if err := printJSON(w.stdout, r); err != nil {
			return err
		}
	} else {
		r.Print(w.stdout)
	}
	if !r.Sound() {
		return fmt.Errorf("%s is not sound: %d faults", c.Dir, r.Errors)
	}
	return nil
}
