package inspect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
)

// rebuildReport is what fsck --rebuild --json prints.
type rebuildReport struct {
	Before  *fsck.Report    `json:"before"`            // null where there was no frontier
	Indexes []string        `json:"indexes,omitempty"` // written, where nothing else was wrong
	Rebuilt *rebuild.Result `json:"rebuilt"`           // null where nothing else was wrong
	After   *fsck.Report    `json:"after"`
}

// crawlSettings reads the settings of the crawl as "orbweaver crawl --dir DIR" would.
func crawlSettings(inv *command.Invocation, dir string, rebuilds bool, more ...string) (*crawl.Command, error) {
	args := []string{"crawl", "--dir", dir}
	config, err := command.GivenText(inv.Args, "config")
	if err != nil {
		return nil, err
	}
	if config != "" {
		args = append(args, "--config", config)
	} else if _, err := os.Stat(filepath.Join(dir, layout.SettingsFile)); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: give the settings of the crawl with --config", dir, layout.SettingsFile)
	}
	var grammar struct {
		command.Sources
		Crawl crawl.Command `cmd:""`
	}
	grammar.Crawl = crawl.New()
	grammar.Crawl.Rebuilds = rebuilds
	nested := inv.Nested(io.Discard)
	if err := nested.Check(nested.Parse(&grammar, append(args, more...))); err != nil {
		return nil, err
	}
	return &grammar.Crawl, nil
}

// rebuild examines the crawl, rebuilds it unless it is sound, and examines it again.
func (c *FsckCommand) rebuild(inv *command.Invocation) error {
	var out rebuildReport
	before, err := c.examine(inv)
	switch {
	case err == nil:
		out.Before = &before
	case !errors.Is(err, fsck.ErrNoCrawl):
		return err
	}
	if out.Before != nil && !c.JSON {
		before.Print(command.Plain(inv.Stdout))
	}
	last := out.Before
	switch {
	case out.Before != nil && before.OnlyIndexes():
		if out.Indexes, err = rebuild.WriteIndexes(inv.Context, engine.Disk(c.Dir), c.Dir); err != nil {
			return err
		}
		for _, name := range out.Indexes {
			if !c.JSON {
				fmt.Fprintln(inv.Stdout, "written:", name)
			}
		}
	case out.Before == nil || !before.Sound() || before.State == "":
		cfg, seams := c.crawl.Prepared()
		o := c.options(inv)
		if o.With, err = c.Dirs(seams.FS); err != nil {
			return err
		}
		if out.Rebuilt, err = engine.Rebuild(inv.Context, cfg, seams, o); err != nil {
			return c.refused(err)
		}
		if !c.JSON {
			out.Rebuilt.Print(command.Plain(inv.Stdout))
		}
	}
	if out.Rebuilt != nil || len(out.Indexes) > 0 {
		after, err := c.examine(inv)
		if err != nil {
			return err
		}
		out.After, last = &after, &after
		if !c.JSON {
			after.Print(command.Plain(inv.Stdout))
		}
	}
	if c.JSON {
		if err := command.PrintJSON(inv.Stdout, &out); err != nil {
			return err
		}
	}
	return c.verdict(last)
}

func (c *FsckCommand) refused(err error) error {
	if errors.Is(err, rebuild.ErrNoArchive) || errors.Is(err, rebuild.ErrSeedsLost) {
		return command.Misuse(err)
	}
	return err
}

// options tell about progress at most every few seconds.
func (c *FsckCommand) options(inv *command.Invocation) (o rebuild.Options) {
	if c.crawl.Agent != "" {
		o.Agent = ownership.Agent{ID: c.crawl.Agent, Capacity: c.crawl.Capacity}
	}
	if c.Quiet {
		return o
	}
	began := time.Now()
	o.Progress = func(p rebuild.Progress) {
		fmt.Fprintf(
			inv.Stderr, "rebuilding: %s: %s, %s of %s, %.0f s\n", p.Stage, p.File, plural.Bytes(p.Bytes),
			plural.Bytes(p.Total), time.Since(began).Seconds(),
		)
	}
	return o
}
