package crawl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"

	"orbweaver/engine"
	"orbweaver/engine/operate/dryrun"
	"orbweaver/engine/operate/explain"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/receipts"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// ExplainCommand says what became of URLs in a crawl.
type ExplainCommand struct {
	Target
	Depth    int  `help:"Number of links from a seed to the URLs, for the filters." default:"1" placeholder:"N"`
	WholeLog bool `help:"Search all of crawl.log, also its compressed parts, and not only its last 16 MiB."`
	JSON     bool `help:"Print one JSON object for each URL."`
	Trust
	URLs []string `arg:"" name:"url" help:"URLs to explain."`
}

// Help shows examples.
func (*ExplainCommand) Help() string {
	return `For a running or a stopped crawl: which filter admits or refuses a URL, whether the crawl knows it, where it is
queued and why it waits, the line of robots.txt that decides, each attempt, and where it is in the archive. The
last line is the verdict. A running crawl is asked over its control socket; of a stopped one the directory is
read. Nothing is requested and nothing is changed.

Examples:
  orbweaver explain --dir crawl https://example.org/a.html
  orbweaver explain --dir crawl --json https://example.org/a.html https://example.org/b.html`
}

// collectAt is the garbage, in per cent of the memory in use, at which the collector runs.
const collectAt = 400

// Run runs crawl --dry-run with the settings of the crawl.
func (x *ExplainCommand) Run(inv *command.Invocation) error {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt)) // most of what it allocates lives as long as the command
	args := []string{"crawl", "--dry-run", "--dir", x.Dir, "--depth", strconv.Itoa(x.Depth)}
	if x.JSON {
		args = append(args, "--json")
	}
	args = append(args, x.Args()...)
	if err := command.FindDir(x.Dir); err != nil {
		return err
	}
	if _, err := vfs.Disk().Size(x.Dir + "/" + layout.ManifestFile); errors.Is(err, fs.ErrNotExist) {
		return command.Misuse(fmt.Errorf("--dir: there is no crawl in %s", x.Dir))
	}
	var grammar struct {
		command.Sources
		Crawl Command `cmd:""`
	}
	grammar.Crawl = New()
	grammar.Crawl.explain = x
	nested := inv.Nested(inv.Stdout)
	if err := nested.Check(nested.Parse(&grammar, append(append(args, "--"), x.URLs...))); err != nil {
		return err
	}
	return grammar.Crawl.Run(nested)
}

// Explained is what is known about a URL: what the filters say, and what the crawl knows.
type Explained struct {
	dryrun.Explanation

	Crawl *explain.Evidence `json:"crawl,omitempty"`
}

// A witness says what a crawl knows. Both functions are set.
type witness struct {
	ask   func(ctx context.Context, url string) (*explain.Evidence, error)
	close func()
}

// findWitness finds the crawl of the directory: it runs, it is stopped, or there is none.
func findWitness(ctx context.Context, c *Command, cfg engine.Config) (witness, error) {
	none := witness{
		func(context.Context, string) (*explain.Evidence, error) { return nil, nil }, func() {}, //nolint:nilnil // no crawl
	}
	disk := vfs.Disk()
	if _, err := disk.Size(cfg.Dir + "/" + layout.ManifestFile); errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	target := Target{Dir: cfg.Dir, Access: c.explain.Access}
	client, err := target.Client()
	if err != nil {
		return none, err
	}
	running := witness{func(ctx context.Context, raw string) (*explain.Evidence, error) {
		e := new(explain.Evidence)
		question := "explain?url=" + url.QueryEscape(raw)
		if c.explain.WholeLog {
			question += "&whole-log=true"
		}
		return e, client.AskQuestion(ctx, question, e)
	}, func() {}}
	_, err = client.Status(ctx)
	if err == nil {
		return running, nil
	}
	if !target.IsStopped(err) {
		return none, target.Remedy(err)
	}
	lock, err := layout.Lock(disk, cfg.Dir)
	if err != nil {
		return none, fmt.Errorf("the crawl runs, and does not answer: %w", err)
	}
	rules, err := settings.OpenHostRules(disk, cfg.Dir+"/"+layout.FrontierDir, cfg.Filters.HostRules,
		slog.New(slog.DiscardHandler))
	if err != nil {
		return none, errors.Join(err, lock.Close())
	}
	stopped, err := explain.OpenStopped(ctx, receipts.Over(disk), cfg.Dir, c.URLs, explain.Settings{
		Politeness: cfg.Politeness, Traps: cfg.Traps, HostRules: rules, Order: cfg.Order,
	})
	if err != nil {
		return none, errors.Join(err, lock.Close())
	}
	limits := explain.Limits{}
	if c.explain.WholeLog {
		limits.LogBytes = -1
	}
	return witness{func(ctx context.Context, raw string) (*explain.Evidence, error) {
		return stopped.Collect(ctx, raw, limits)
	}, func() { _ = errors.Join(stopped.Close(), lock.Close()) }}, nil // they were only read
}

// settle answers what the filters alone cannot know.
func settle(e *Explained) {
	seen := dryrun.Passed
	if e.Crawl.Sieve == "merging" {
		seen = dryrun.Undecided
	}
	e.Settle("seen before", seen, map[string]string{
		"known": "yes: it has been queued", "pending": "a link to it was found, and is not yet sorted in",
		"merging": "new links are being sorted in", "unknown": "no",
	}[e.Crawl.Sieve])
	r := e.Crawl.Robots
	switch {
	case r == nil || r.State == "missing":
		e.Settle("robots.txt", dryrun.Undecided, "the crawl has no copy of it yet")
	case r.State == "unreachable":
		e.Settle("robots.txt", dryrun.Refused, "it is not known, so all URLs of the host are disallowed")
	case r.Line == 0 && r.Allowed:
		e.Settle("robots.txt", dryrun.Passed, "no rule of the crawl's copy matches")
	default:
		answer := dryrun.Passed
		if !r.Allowed {
			answer = dryrun.Refused
		}
		e.Settle("robots.txt", answer, fmt.Sprintf("line %d: %s", r.Line, command.PlainText(r.Rule)))
	}
}

// writeExplanation writes what the filters say on a line of its own, a line for each check, and what the crawl knows.
func writeExplanation(out io.Writer, e *Explained) {
	fmt.Fprintf(out, "%s %s", e.Verdict, command.PlainText(e.URL))
	if e.By != "" {
		fmt.Fprintf(out, " by %s", e.By)
	}
	fmt.Fprintln(out)
	for _, c := range e.Checks {
		fmt.Fprintf(out, "  %-20s %-9s  %s\n", c.Name, c.Answer, c.Says)
	}
	if e.Crawl != nil {
		writeEvidence(out, e.Crawl)
	}
}

// writeTrap writes what the crawl knows of the part of the site that contains a URL.
func writeTrap(say func(name, format string, args ...any), s *traps.State) {
	for _, p := range []struct {
		name string
		part *novelty.Part
	}{{"its part of the site", s.Part}, {"sites of its domain", s.Domain}} {
		if p.part == nil {
			continue
		}
		say("novelty", "%s: %s (%d of %s with something new)", p.name, traps.Words(p.part), p.part.NewPages,
			plural.Count(p.part.Pages, "page"))
		if d := &p.part.Delayed; d.Fetched > 0 {
			say("", "%d delayed URLs of it were fetched; they led to %d more; the last %d without anything new", d.Fetched,
				d.Found, d.Streak)
		}
	}
}

// orderText says what the order of visits does with a URL.
func orderText(e *explain.Evidence) string {
	text, p := e.Order.Visit, &e.Order
	wasQueued := []explain.Result{explain.InExchange, explain.Fetched, explain.Refused, explain.Failed}
	switch {
	case p.Place != nil:
		from := "by its links"
		if p.Budget {
			from = "by --budgets"
		}
		text += fmt.Sprintf(": domain %s: weight %.4g %s, %s had a turn, %s in its queue, %s before it", p.Domain, p.Weight,
			from, plural.Count(p.Pages, "URL"), plural.Count(p.Queued, "URL"), plural.Count(p.Before, "domain"))
	case p.Class > 0:
		text += fmt.Sprintf(": class %d of %d by %s", p.Class, p.Classes, p.By)
	case p.Classes > 0 && slices.Contains(wasQueued, e.Result):
		text += ": no longer queued; its class is not kept"
	case p.Classes > 0 && !p.IsEarlier:
		text += fmt.Sprintf(": its class is not known, since %s is kept with queued URLs alone", p.By)
	}
	switch {
	case p.IsEarlier:
		text += fmt.Sprintf("; it was queued in an earlier order, whose URLs come first: position %d there", p.Position)
	case p.Position > 0 && p.Place != nil:
		text += fmt.Sprintf("; position %d in its queue", p.Position)
	case p.Position > 0:
		text += fmt.Sprintf("; position %d in it", p.Position)
	case p.Class > 0 && e.Queue != nil:
		text += "; it has come to its host"
	}
	return text
}

// writeEvidence writes what the crawl knows, and the verdict at the end.
func writeEvidence(out io.Writer, e *explain.Evidence) {
	say := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-20s %s\n", name, command.PlainText(fmt.Sprintf(format, args...)))
	}
	if e.Says != nil {
		fmt.Fprintf(out, "  agent %s says:\n", command.PlainText(e.Owner))
		writeEvidence(out, e.Says)
		fmt.Fprintf(out, "  this agent:\n")
	}
	if !e.Running {
		say("crawl", "it does not run; this is its checkpoint of %s", e.AsOf)
	}
	if h := e.Host; h != nil {
		say("host", "%s: %s, %s queued, %s, %s", h.Site, h.State, plural.Count(h.Queued, "URL"),
			plural.Count(h.Pages, "page"), plural.Count(h.Errors, "error"))
		for _, w := range h.Waits {
			say("", "waits: %s", w.Text)
		}
	}
	if r := e.Robots; r != nil && r.CrawlDelay > 0 {
		line := ""
		if r.DelayLine > 0 {
			line = fmt.Sprintf("line %d of ", r.DelayLine)
		}
		say("crawl delay", "%s%s: %g s", line, "robots.txt", r.CrawlDelay)
	}
	if q := e.Queue; q != nil {
		say("queue", "position %d of %d, in %s; depth %d, tried %s", q.Position, q.Of, q.Place, q.Depth,
			plural.Count(q.Tries, "time"))
	}
	say("order", "%s", orderText(e))
	if e.Via != "" {
		say("linked from", "%s", e.Via)
	}
	for _, a := range e.Attempts {
		final := ""
		if !a.Final {
			final = ", tried again"
		}
		say("attempt", "%s  %d %s, %s in %.3f s%s", a.Time, a.Status, a.Outcome, plural.Count(max(a.Size, 0), "byte"),
			a.Seconds, final)
	}
	for _, r := range e.Captures {
		say("archive", "%s  %d, %s at offset %d", r.Time, r.Status, r.File, r.Offset)
	}
	if e.Trap != nil {
		writeTrap(say, e.Trap)
	}
	if e.Skipped != "" {
		say("skipped", "%s", e.Skipped)
	}
	for _, n := range e.Notes {
		say("note", "%s", n)
	}
	fmt.Fprintf(out, "verdict: %s\n", command.PlainText(e.Verdict))
}
