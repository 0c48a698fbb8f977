package crawl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
	case c.Proxy == "":
		c.seams.Allowed = guard.Check
	default:
		c.seams.Allowed = guard.Through
	}
	c.cfg.Seeds, err = seedSource(inv, nil, c.Seeds)
	bad.Add("", err)
	return bad.Err()
}

// dryRun tells what would become of each URL. It sends no packet and does not touch the crawl directory.
func (c *Command) dryRun(inv *command.Invocation) error {
	cfg := c.cfg.WithDefaults()
	x, err := explain.New(explain.Options{
		FS: vfs.Disk(), Dir: cfg.Dir, Seeds: cfg.Seeds, Filters: cfg.Filters, Sources: c.lists, HasVia: cfg.Archive.Via,
		Admission: cfg.Admission, Traps: cfg.Traps, Allowed: c.seams.Allowed,
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(inv.Stdout)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	for _, url := range c.URLs {
		e := x.Explain(url, c.Depth)
		if !c.JSON {
			writeExplanation(out, e)
		} else if err := lines.Encode(e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeExplanation writes the verdict on a line of its own, and a line for each check.
func writeExplanation(out io.Writer, e explain.Explanation) {
	fmt.Fprintf(out, "%s %s", e.Verdict, command.PlainText(e.URL))
	if e.By != "" {
		fmt.Fprintf(out, " by %s", e.By)
	}
	fmt.Fprintln(out)
	for _, c := range e.Checks {
		fmt.Fprintf(out, "  %-20s %-9s  %s\n", c.Name, c.Answer, c.Says)
	}
}
