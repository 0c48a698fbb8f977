package crawl

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/dryrun"
	"orbweaver/engine/operate/inbox"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// dryFacts is what a dry run says besides what a crawl knows.
type dryFacts struct {
	lists dryrun.Sources // what the lists of filters were made of
	lacks []error        // what a crawl needs, and a dry run does not
}

// checkExplained reads what explain needs: filters and lists, and no more. The crawl may be one of another machine.
func (c *Command) checkExplained(inv *command.Invocation) (err error) {
	var bad command.Faults
	c.cfg = c.Config
	c.dry.lists, err = c.points(&c.cfg)
	bad.Add("", err)
	bad.Add("--budgets", c.budgets(&c.cfg.Order))
	guard, _, err := c.guard(c.Listen, nil)
	bad.Add("", err)
	switch {
	case err != nil:
	case c.Proxy == "", c.isSocks():
		c.seams.Allowed = guard.Check
	default:
		c.seams.Allowed = guard.Through
	}
	c.cfg.Seeds, err = seedSource(inv, nil, c.Seeds)
	bad.Add("", err)
	return bad.Err()
}

// rehearse returns what a crawl would refuse after its flags were checked, as far as that can be known without a
// request, and without a change of the disk.
func (c *Command) rehearse(ctx context.Context) error {
	var bad command.Faults
	disk, cfg := vfs.Disk(), c.cfg
	bad.Add("", receivers.CheckKeys(&c.Uploads))
	owner, err := inUse(cfg.Dir)
	bad.Add("", err)
	if owner == "" && !strings.HasPrefix(c.Listen, "unix:") { // a crawl that runs has the address
		bad.Add("", c.probe(ctx, cfg.Dir))
	}
	bad.Add("", fitFiles(c.seams.Log, &cfg))
	bad.Add("", fitMemory(c.seams.Log, &cfg, memoryAllowed()))
	_, err = inbox.Open(inbox.Options{FS: disk, Dir: cfg.Dir, Watcher: inbox.NoWatcher{}, Log: c.seams.Log})
	bad.Add("", err)
	_, err = disk.Size(cfg.Dir + "/" + layout.ManifestFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return bad.Err()
	}
	bad.Add("", rebuild.MayBegin(disk, cfg.Dir))
	if cfg.Seeds != nil {
		bad.Add("", admission.CheckSeeds(cfg.Seeds, c.seams.Log))
	}
	return bad.Err()
}

// dryRun tells what would become of each URL, and what became of it if the directory holds a crawl. It sends no packet
// and does not change the crawl directory.
func (c *Command) dryRun(inv *command.Invocation) error {
	if len(c.explain.URLs) == 0 {
		if err := c.rehearse(inv.Context); err != nil {
			return command.Misuse(err)
		}
	}
	for _, lack := range c.dry.lacks {
		fmt.Fprintf(inv.Stderr, "note: a crawl would be refused: %v\n", lack)
	}
	c.printPreset(inv.Stderr, inv)
	cfg := c.cfg.WithDefaults()
	x, err := dryrun.New(dryrun.Options{
		FS: vfs.Disk(), Dir: cfg.Dir, Seeds: cfg.Seeds, Filters: cfg.Filters, Sources: c.dry.lists, HasVia: cfg.Archive.Via,
		Admission: cfg.Admission, Traps: cfg.Traps, Allowed: c.seams.Allowed,
		Order: cfg.Order, Mining: cfg.Mining, Hook: cfg.Hook,
	})
	if err != nil {
		return err
	}
	asks, err := findWitness(inv.Context, c, cfg)
	if err != nil {
		return err
	}
	defer asks.close()
	out := bufio.NewWriter(inv.Stdout)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, raw := range c.URLs {
		e := Explained{Explanation: x.Explain(raw, c.Depth)}
		if e.Normal != "" {
			if e.Crawl, err = asks.ask(inv.Context, e.Normal); err != nil {
				return err
			}
			if e.Crawl != nil {
				settle(&e)
			}
		}
		if !c.JSON {
			writeExplanation(out, &e)
		} else if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return out.Flush()
}
