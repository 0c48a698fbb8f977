package archive

import (
	"fmt"
	"io"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/wall"
	"orbweaver/internal/cli/command"
	"orbweaver/warc"
	"orbweaver/warc/warctool"
)

type warcWallsCmd struct {
	crawl.WallRules
	Files []string `arg:"" help:"WARC files, WACZ files, or directories of WARC files." name:"file"`
}

// Help shows examples.
func (*warcWallsCmd) Help() string {
	return `Judges the first 2 MiB of each response as a crawl with the same --walls does: a wall, which a protection
service sent in place of the page, or a page. So rules can be tried before a crawl. A line has, separated by tabs:
the service, the place of the rule that decides (FILE:LINE or built-in), the status and the URI. Service and place
of a page are "-". That a site redirects everything to one log-in page is known to a crawl alone. docs/walls.md
describes the rules.

Examples:
  orbweaver warc walls --walls walls.txt crawl/warc
  orbweaver warc walls --walls walls.txt others.warc.gz | grep "$(printf '\twalls.txt:')"
  orbweaver warc walls crawl/warc | cut -f1,2 | sort | uniq -c`
}

// wallMost is how much of a response is judged, in bytes. A wall is a page that a person sees, and much shorter.
const wallMost = 2 << 20

// Run judges responses.
func (x *warcWallsCmd) Run(inv *command.Invocation, c *Command) error {
	table, err := x.Table()
	if err != nil {
		return command.Misuse(fmt.Errorf("--walls: %w", err))
	}
	d, restorer := wall.NewDetector(), fetch.NewRestorer()
	judge := func(rec *warc.RecordRead) (j warctool.Judged, ok bool, err error) {
		if rec.Type != warc.Response || !rec.IsHTTP() {
			return j, false, rec.Skip()
		}
		start := io.LimitReader(rec, wallMost)
		p, ok, err := restorer.Restore(rec.TargetURI, start, rec.ContentLength)
		if err == nil {
			err = rec.Skip()
		}
		if err != nil || !ok {
			return j, false, err
		}
		j.Status = p.Status
		j.Service, j.Rule = d.Find(table, p)
		return j, true, nil
	}
	return c.each(inv, x.Files, func(t *warctool.Tool, files ...string) error { return t.Walls(judge, files...) })
}
