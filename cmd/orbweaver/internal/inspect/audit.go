package inspect

import (
	"errors"
	"fmt"
	"os"

	"orbweaver/engine"
	"orbweaver/engine/check/audit"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/vfs"
)

// AuditCommand is the command audit: what archives prove.
type AuditCommand struct {
	Copies     CopiesCommand     `cmd:"" default:"withargs" help:"Find which agent's copy of each page counts. This is the default."`
	Politeness PolitenessCommand `cmd:"" help:"Check from WARC files alone that no request came too early."`
}

// Help shows both.
func (*AuditCommand) Help() string {
	return `Reads archives and says what they prove. "audit DIR..." is "audit copies DIR...".

Examples:
  orbweaver audit a1 a2 a3 a4             # which agent's copy of each page counts
  orbweaver audit politeness crawl        # whether all delays were kept`
}

// CopiesCommand is the command audit copies.
type CopiesCommand struct {
	Dirs  []string `arg:"" exists:"directory" name:"dir" help:"Crawl directories of all agents." placeholder:"DIR"`
	Mark  bool     `help:"Mark what is superseded, in superseded/ of each directory; take away marks that are not true."`
	Temp  string   `help:"Directory for lists that do not fit in memory; the default is the system's." placeholder:"DIR"`
	JSON  bool     `help:"Print JSON."`
	Quiet bool     `help:"Do not say what is being read."`
}

// Help shows examples.
func (*CopiesCommand) Help() string {
	return `Reads the archives of all agents that shared a crawl (docs/cluster-use.md). The agents must not run. Prints
which pages several agents have, and whether exactly one copy of each page counts: that of its owner, if the
owner has one. All other copies are superseded. Archives are only appended to, so superseded copies are
marked by lines of the index in superseded/AGENT.cdxj; AGENT is the agent whose copy counts. A superseded
copy without a mark is misplaced. A mark of a copy that is not superseded is stale. robots.txt files are
ignored. Exit status: 0 if each page counts at one agent, else 1.

Examples:
  orbweaver audit copies a1 a2 a3 a4
  orbweaver audit copies --mark a1 a2 a3 a4
  LC_ALL=C comm -23 <(LC_ALL=C sort a*/warc/*.cdxj) <(LC_ALL=C sort a*/superseded/*.cdxj)   # index of what counts`
}

// Run audits, and marks if asked to.
func (c *CopiesCommand) Run(inv *command.Invocation) (err error) {
	temp, err := os.MkdirTemp(c.Temp, "orbweaver-audit-")
	if err != nil {
		return fmt.Errorf("--temp: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	o := audit.Options{Mark: c.Mark, Temp: vfs.Disk(), TempDir: temp}
	progress, end := console.Progress(inv.Stderr, "reading", c.Quiet)
	o.Progress = progress
	r, err := audit.Run(inv.Context, engine.Disk(c.Dirs...), c.Dirs, o)
	end()
	if errors.Is(err, audit.ErrNoAgent) || errors.Is(err, audit.ErrTwice) {
		return command.Misuse(err)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, r)
	} else {
		r.Print(command.Plain(inv.Stdout))
	}
	if err == nil && !r.Sound() {
		err = fmt.Errorf(
			"%d captures are misplaced, %d marks are stale: orbweaver audit --mark puts that right", r.Misplaced, r.Stale,
		)
	}
	return err
}
