package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orbweaver/engine"
	"orbweaver/engine/explain"
	"orbweaver/internal/vfs"
)

// checkDryRun reads what a dry run needs: filters, lists and seeds, and no more. The URLs are those to be told about.
func (c *crawlCmd) checkDryRun(w *world) (err error) {
	var bad mistakes
	if len(c.URLs) == 0 {
		bad.add("--dry-run", errors.New("give the URLs to be told about as arguments"))
	}
	c.cfg = c.Config
	c.lists, err = c.points(&c.cfg)
	bad.add("", err)
	guard, _, err := c.guard(nil)
	bad.add("", err)
	switch {
	case err != nil:
	case c.Proxy == "":
		c.seams.Allowed = guard.Check
	default:
		c.seams.Allowed = guard.Through
	}
	c.cfg.Seeds, err = (&crawlCmd{Seeds: c.Seeds}).seedSource(w)
	bad.add("", err)
	return bad.err()
}

// dryRun tells what would become of each URL. It sends no packet and does not touch the crawl directory.
func (c *crawlCmd) dryRun(w *world) error {
	x, err := engine.NewExplainer(engine.Seams{FS: vfs.Disk(), Allowed: c.seams.Allowed}, c.cfg, c.lists)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w.stdout)
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
	fmt.Fprintf(out, "%s %s", e.Verdict, plainText(e.URL))
	if e.By != "" {
		fmt.Fprintf(out, " by %s", e.By)
	}
	fmt.Fprintln(out)
	for _, c := range e.Checks {
		fmt.Fprintf(out, "  %-20s %-9s  %s\n", c.Name, c.Answer, c.Says)
	}
}
