package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/traps"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// SkippedCommand is the command skipped.
type SkippedCommand struct {
	Dir  string `arg:"" exists:"directory" help:"Crawl directory." placeholder:"DIR"`
	JSON bool   `help:"Print an object a URL, one a line."`
}

// Help shows examples.
func (*SkippedCommand) Help() string {
	return `Lists the URLs that a crawl skips because they belong to a trap, or are page requisites beyond a bound, as of
its last checkpoint. The crawl may run. Each line has the rule, the URL and the evidence, separated by tabs. The rules
(docs/traps.md):

  endless-part         a part of the site repeats itself and has ever more URLs
  endless-sites        the same for the sites of a domain
  path-repeats         the path repeats the same folders more often than --max-path-repeats
  requisites-per-page  its page, frame or style sheet needs more than --max-requisites-per-page
  requisites-per-site  its site has more requisites than the pages of the crawl entitle it to

To fetch them, start the crawl again with --novelty off, or a higher --trap-floor, --max-path-repeats or
--max-requisites-per-page. Each URL is queued again once, and leaves the list.

Examples:
  orbweaver skipped crawl
  orbweaver skipped --json crawl | jq -r .url
  orbweaver crawl --dir crawl --trap-floor 100000`
}

// Run prints the list.
func (c *SkippedCommand) Run(inv *command.Invocation) error {
	lines := json.NewEncoder(inv.Stdout)
	lines.SetEscapeHTML(false)
	err := inspect.EachSkipped(vfs.Disk(), c.Dir, func(s traps.SkippedURL) error {
		if c.JSON {
			return lines.Encode(s)
		}
		_, err := fmt.Fprintf(inv.Stdout, "%s\t%s\t%s\n", s.Rule, s.URL, s.Because())
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return command.Misuse(err)
	}
	return err
}
