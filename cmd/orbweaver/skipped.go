package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/engine/inspect"
	"orbweaver/engine/skipped"
	"orbweaver/internal/vfs"
)

type skippedCmd struct {
	Dir  string `arg:"" help:"Crawl directory." placeholder:"DIR"`
	JSON bool   `help:"Print an object a URL, one a line."`
}

// Help shows examples.
func (*skippedCmd) Help() string {
	return `Lists the URLs that a crawl has left out since they belong to a trap, as of its last checkpoint. The crawl may run. Each line has the
rule, the URL and the evidence, separated by tabs. The rules (docs/traps.md):

  endless-part    a part of the site repeats itself and has ever more URLs
  endless-sites   the same of the sites of a domain
  path-repeats    the path repeats the same folders more often than --max-path-repeats

To fetch them, start the crawl again with --novelty off, a higher --trap-floor or a higher --max-path-repeats: each is queued again
once, and leaves the list.

Examples:
  orbweaver skipped crawl
  orbweaver skipped --json crawl | jq -r .url
  orbweaver crawl --dir crawl --trap-floor 100000`
}

// Run prints the list.
func (c *skippedCmd) Run(w *world) error {
	lines := json.NewEncoder(w.stdout)
	lines.SetEscapeHTML(false)
	err := inspect.EachSkipped(vfs.Disk(), c.Dir, func(s skipped.URL) error {
		if c.JSON {
			return lines.Encode(s)
		}
		_, err := fmt.Fprintf(w.stdout, "%s\t%s\t%s\n", s.Rule, s.URL, s.Because())
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{err}
	}
	return err
}
