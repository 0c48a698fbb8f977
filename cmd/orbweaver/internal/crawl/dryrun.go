package crawl

import (
	"bufio"
	"encoding/json"
	"errors"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/engine/explain"
	"orbweaver/internal/vfs"
)

// checkDryRun reads what a dry run needs: filters, lists and seeds, and no more. The URLs are those to be told about.
func (c *Command) checkDryRun(inv *command.Invocation) (err error) {
	var bad command.Faults
	if len(c.URLs) == 0 {
		bad.Add("--dry-run", errors.New("give the URLs to be told about as arguments"))
	}
	c.cfg = c.Config
	c.lists, err = c.points(&c.cfg)
	bad.Add("", err)
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

// dryRun tells what would become of each URL, and what became of it if the directory holds a crawl. It sends no packet
// and does not change the crawl directory.
func (c *Command) dryRun(inv *command.Invocation) error {
	cfg := c.cfg.WithDefaults()
	x, err := explain.New(explain.Options{
		FS: vfs.Disk(), Dir: cfg.Dir, Seeds: cfg.Seeds, Filters: cfg.Filters, Sources: c.lists, HasVia: cfg.Archive.Via,
		Admission: cfg.Admission, Traps: cfg.Traps, Allowed: c.seams.Allowed,
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
