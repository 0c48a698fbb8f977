package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/fsck"
	"orbweaver/engine/rebuild"
)

// rebuildReport is what fsck --rebuild --json prints.
type rebuildReport struct {
	Before  *fsck.Report    `json:"before"`            // null where there was no frontier
	Indexes []string        `json:"indexes,omitempty"` // written, where nothing else was wrong
	Rebuilt *rebuild.Result `json:"rebuilt"`           // null where nothing else was wrong
	After   *fsck.Report    `json:"after"`
}

// crawlSettings reads the settings of the crawl as "orbweaver crawl --dir DIR" would.
func (c *fsckCmd) crawlSettings(w *world) (*crawlCmd, error) {
	args := []string{"crawl", "--dir", c.Dir}
	config, err := given(w.args, "config", nil)
	if err != nil {
		return nil, err
	}
	if config != "" {
		args = append(args, "--config", config)
	} else if _, err := os.Stat(filepath.Join(c.Dir, effectiveName)); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: give the settings of the crawl with --config", c.Dir, effectiveName)
	}
	crawl := &world{ctx: w.ctx, stdin: w.stdin, stdout: io.Discard, stderr: w.stderr}
	if err := crawl.check(crawl.parse(append(args, c.URLs...))); err != nil {
		return nil, err
	}
	return crawl.args.Selected().Target.Addr().Interface().(*crawlCmd), nil
}

// rebuild examines the crawl, rebuilds it unless it is sound, and examines it again.
func (c *fsckCmd) rebuild(w *world) error {
	var out rebuildReport
	before, err := c.examine(w)
	switch {
	case err == nil:
		out.Before = &before
	case !errors.Is(err, fsck.ErrNoCrawl):
		return err
	}
	if out.Before != nil && !c.JSON {
		before.Print(w.stdout)
	}
	last := out.Before
	switch {
	case out.Before != nil && before.OnlyIndexes():
		if out.Indexes, err = rebuild.WriteIndexes(w.ctx, engine.Disk(c.Dir), c.Dir); err != nil {
			return err
		}
		for _, name := range out.Indexes {
			if !c.JSON {
				fmt.Fprintln(w.stdout, "written:", name)
			}
		}
	case out.Before == nil || !before.Sound() || before.State == "":
		if out.Rebuilt, err = engine.Rebuild(w.ctx, c.crawl.cfg, c.crawl.seams, c.options(w)); err != nil {
			return c.refused(err)
		}
		if !c.JSON {
			out.Rebuilt.Print(w.stdout)
		}
	}
	if out.Rebuilt != nil || len(out.Indexes) > 0 {
		after, err := c.examine(w)
		if err != nil {
			return err
		}
		out.After, last = &after, &after
		if !c.JSON {
			after.Print(w.stdout)
		}
	}
	if c.JSON {
		if err := printJSON(w.stdout, &out); err != nil {
			return err
		}
	}
	return c.verdict(last)
}

func (c *fsckCmd) refused(err error) error {
	if errors.Is(err, rebuild.ErrNoArchive) || errors.Is(err, rebuild.ErrSeedsLost) {
		return usageError{err}
	}
	return err
}

// options tell about progress at most every few seconds.
func (c *fsckCmd) options(w *world) (o rebuild.Options) {
	if c.crawl.Agent != "" {
		o.Agent = ownership.Agent{ID: c.crawl.Agent, Capacity: c.crawl.Capacity}
	}
	if c.Quiet {
		return o
	}
	began := time.Now()
	o.Progress = func(p rebuild.Progress) {
		fmt.Fprintf(w.stderr, "rebuilding: %s: %s, %s of %s, %.0f s\n", p.Stage, p.File, human(p.Bytes), human(p.Total), time.Since(began).Seconds())
	}
	return o
}
