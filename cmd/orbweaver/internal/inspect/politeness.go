package inspect

import (
	"errors"
	"fmt"
	"os"
	"time"

	"orbweaver/engine/check/gaps"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// PolitenessCommand is the command audit politeness.
type PolitenessCommand struct {
	Names []string `arg:"" exists:"file or directory" name:"archive" help:"Crawl directories, directories of WARC files, or WARC files. Give all agents of a crawl." placeholder:"ARCHIVE"`

	HostDelay *time.Duration `help:"Delay between two requests to a site, for files whose warcinfo record states none." placeholder:"TIME"`
	IPDelay   *time.Duration `name:"ip-delay" help:"Delay between two requests to an IP address, for files whose warcinfo record states none." placeholder:"TIME"`

	CrawlDelayMax time.Duration `help:"Longest Crawl-delay that counts, for files whose warcinfo record states none." default:"5m" placeholder:"TIME"`
	RobotsAgent   string        `help:"Name in the User-agent lines of robots.txt." default:"orbweaver" placeholder:"NAME"`
	Tolerance     time.Duration `help:"What a gap may lack, since times in an archive are rounded." default:"1ms" placeholder:"TIME"`
	ClockSkew     time.Duration `help:"How much the clocks of two directories may differ." default:"1s" placeholder:"TIME"`
	Recorded      bool          `help:"Judge only requests that have a record, as if there were no others. Archives of other crawlers need this."`
	Strict        bool          `help:"Exit with 1 also if a gap is not provable."`
	Top           int           `help:"Number of gaps to name: violations, then those that are closest to the delay." default:"5" least:"1" most:"1000" placeholder:"N"`
	Temp          string        `help:"Directory for lists that do not fit in memory; the default is the system's." placeholder:"DIR"`
	JSON          bool          `help:"Print JSON."`
	Quiet         bool          `help:"Do not say what is being read."`
}

// Help shows examples.
func (*PolitenessCommand) Help() string {
	return `Checks from WARC files alone that a crawl was polite: that each request to a site, and to an IP address, came
late enough after the end of the request before. The delay is the host delay or IP delay that the warcinfo
record states, the Crawl-delay of the stored robots.txt, or Retry-After of a stored 429 or 503, whichever is
longest. Prints how many gaps are kept, not provable and violated, their distribution, and the worst ones with
their records. Not provable are gaps for which the archive lacks a time, or hides a request without a record.
The crawl may run. docs/guide/politeness.md explains the result. Exit status: 0 if no gap is violated, else 1.

Examples:
  orbweaver audit politeness crawl
  orbweaver audit politeness --strict --json a1 a2 a3 | jq .sites
  orbweaver audit politeness --recorded --host-delay 5s --ip-delay 0 --robots-agent heritrix other-*.warc.gz`
}

// Run audits.
func (c *PolitenessCommand) Run(inv *command.Invocation) (err error) {
	temp, err := os.MkdirTemp(c.Temp, "orbweaver-audit-")
	if err != nil {
		return fmt.Errorf("--temp: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	r, err := gaps.Audit(inv.Context, vfs.Disk(), c.Names, c.options(inv, temp))
	if errors.Is(err, gaps.ErrNoFiles) {
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
	if err != nil {
		return err
	}
	switch {
	case r.Verdict == gaps.Violated:
		return fmt.Errorf("gaps shorter than the delay in force: %d", r.Sites.Violated+r.Addresses.Violated)
	case r.Verdict == gaps.NotProved && c.Strict:
		return fmt.Errorf("--strict: gaps that are not provable: %d", r.Sites.NotProvable+r.Addresses.NotProvable)
	}
	return nil
}

// options tell about progress at most every few seconds.
func (c *PolitenessCommand) options(inv *command.Invocation, temp string) gaps.Options {
	o := gaps.Options{
		Agent: c.RobotsAgent, Tolerance: c.Tolerance, ClockSkew: c.ClockSkew, RecordedOnly: c.Recorded, Top: c.Top,
		Temp: vfs.Disk(), TempDir: temp,
	}
	o.Stated = gaps.Unstated()
	o.Stated.CrawlDelayMax = c.CrawlDelayMax
	if c.HostDelay != nil {
		o.Stated.Host = *c.HostDelay
	}
	if c.IPDelay != nil {
		o.Stated.IP = *c.IPDelay
	}
	if c.Quiet {
		return o
	}
	began := time.Now()
	said := began
	o.Progress = func(p gaps.Progress) {
		now := time.Now()
		if now.Sub(said) < progressEvery {
			return
		}
		said = now
		if p.IsJudging {
			fmt.Fprintf(inv.Stderr, "judging: %s of %s, %.0f s\n", plural.Number(p.Exchanges),
				plural.Count(p.ExchangesOf, "request"), now.Sub(began).Seconds())
			return
		}
		fmt.Fprintf(inv.Stderr, "reading: %s, %s of %s, %.0f s\n", p.File, plural.Bytes(p.Bytes),
			plural.Bytes(p.TotalBytes), now.Sub(began).Seconds())
	}
	return o
}

// progressEvery is the time between two lines of progress.
const progressEvery = 2 * time.Second
