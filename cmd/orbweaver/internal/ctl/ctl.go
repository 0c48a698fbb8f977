package ctl

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/operate/control"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/summary"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// Command is the command ctl.
type Command struct {
	asked

	Status ctlStatusCmd `cmd:"" help:"Print the state and the numbers of the crawl."`
	Hosts  hostsCmd     `cmd:"" help:"List hosts by queue, delay, errors, pages or bytes, and why each waits."`
	Queue  queueCmd     `cmd:"" help:"Show the next URLs of a host, and why they wait."`
	Seeds  seedsCmd     `cmd:"" help:"List seeds, what became of each, and why it waits."`
	Active activeCmd    `cmd:"" help:"List the exchanges under way."`
	Top    topCmd       `cmd:"" help:"Show the main figures, refreshed until Ctrl-C."`
	Pause  ctlPauseCmd  `cmd:"" help:"Begin no more exchanges."`
	Resume ctlResumeCmd `cmd:"" help:"Go on after a pause."`
	Stop   ctlStopCmd   `cmd:"" help:"Stop in order; the crawl can be resumed."`
	Leave  ctlLeaveCmd  `cmd:"" help:"Give all hosts to the other agents, and end permanently."`
	Add    ctlAddCmd    `cmd:"" help:"Add URLs."`
	Block  ctlBlockCmd  `cmd:"" help:"Send no more requests to hosts: host, .suffix or *.suffix."`
	Rule   ctlRuleCmd   `cmd:"" help:"Give hosts their own delay or limit, or exclude them."`
	Rules  ctlRulesCmd  `cmd:"" help:"List the rules of single hosts."`
	Reload ctlReloadCmd `cmd:"" help:"Read the file of this agent again: certificate and gossip keys."`
	Agents agentsCmd    `cmd:"" help:"List the agents that share the crawl, and the messages between them."`
	Set    setCmd       `cmd:"" help:"Change settings of the running crawl; without arguments, list them."`
	Undo   undoCmd      `cmd:"" help:"Take the last change of settings back."`

	Changes changesCmd `cmd:"" help:"List the last changes of settings."`
}

// asked is the crawl, and the form of its answers.
type asked struct {
	crawl.Target
	JSON bool `help:"Print JSON."`
}

// Help shows examples.
func (*Command) Help() string {
	return "Examples:\n  orbweaver ctl --dir crawl status\n  orbweaver ctl --dir crawl add https://example.org/new/\n" +
		"  orbweaver ctl --dir crawl block .example.com\n  orbweaver ctl --dir crawl set host-delay=10s\n" +
		"  orbweaver ctl --dir crawl rule .example.com host-delay=20s max-per-host=1000"
}

func (c *Command) do(inv *command.Invocation, action string, args []string) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	reply, err := client.Do(inv.Context, action, args)
	if err != nil {
		return c.Remedy(err)
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, reply)
	}
	fmt.Fprintln(inv.Stderr, reply.Message)
	return nil
}

type ctlStatusCmd struct{}

// Run prints the report of the running crawl, or the last one of a crawl that does not run.
func (*ctlStatusCmd) Run(inv *command.Invocation, c *Command) error {
	status, err := c.status(inv)
	if err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, status)
	}
	r := status.Report
	dir := c.Dir
	if c.Address != "" {
		dir = "" // it may be on another machine
	}
	summary.WriteReport(inv.Stdout, dir, r)
	if r.Started != "" { // older versions did not write it
		fmt.Fprintf(inv.Stdout, "  started   %s in %s%s\n  limits    %s\n", r.Started, command.PlainText(r.Dir), resumed(&r),
			limitsOf(&r))
	}
	fmt.Fprintf(inv.Stdout, "  waiting   %s\n", r.Waiting)
	if status.Estimate != nil {
		fmt.Fprintf(inv.Stdout, "  end       %s\n", command.PlainText(status.Estimate.Beside(r.Waiting)))
	}
	return nil
}

// resumed says how often a crawl was resumed.
func resumed(r *report.Report) string {
	if r.Resumed == 0 {
		return ""
	}
	return fmt.Sprintf(", resumed %s", plural.Count(r.Resumed, "time"))
}

// limitsOf names the limits in force by their flags.
func limitsOf(r *report.Report) string {
	var all []string
	add := func(is bool, flag, value string) {
		if is {
			all = append(all, "--"+flag+" "+value)
		}
	}
	l := &r.Limits
	add(l.MaxPages > 0, "max-pages", strconv.FormatInt(l.MaxPages, 10))
	add(l.MaxTime > 0, "max-time", time.Duration(l.MaxTime*float64(time.Second)).String())
	add(!l.MaxDate.IsZero(), "max-time", l.MaxDate.Format(time.RFC3339))
	add(l.MaxDisk > 0, "max-disk", plural.Bytes(l.MaxDisk))
	add(l.MaxDepth >= 0, "max-depth", strconv.Itoa(l.MaxDepth))
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// status has the report of the running crawl, or the last one of a crawl that does not run.
func (c *Command) status(inv *command.Invocation) (control.Status, error) {
	client, err := c.Client()
	if err != nil {
		return control.Status{}, err
	}
	r, err := client.Status(inv.Context)
	if err == nil {
		return r, nil
	}
	remedy := c.Remedy(err)
	if !errors.Is(err, control.ErrNotRunning) || c.Address != "" {
		return r, remedy
	}
	last, rerr := report.Read(vfs.Disk(), c.Dir)
	switch {
	case errors.Is(rerr, os.ErrNotExist):
		return r, remedy
	case rerr != nil:
	case errors.Is(remedy, crawl.ErrNoAnswer):
		fmt.Fprintf(inv.Stderr, "%s\nIts last report, of %s:\n", remedy, last.Written)
	case last.State == lifecycle.Running || last.State == lifecycle.Paused:
		fmt.Fprintln(inv.Stderr, "not running any more; this is its last report:")
	}
	return control.Status{Report: last}, rerr
}

type (
	ctlPauseCmd  struct{}
	ctlResumeCmd struct{}
	ctlStopCmd   struct{}
	ctlLeaveCmd  struct{}
	ctlBlockCmd  struct {
		DryRun bool     `help:"Say which sites the rules are for, and whether the crawl would take them. Nothing changes."`
		Rules  []string `arg:"" name:"host" help:"Host rules."`
	}
	ctlRuleCmd struct {
		Host   string   `arg:"" name:"host" help:"host, .suffix, *.suffix or CIDR."`
		DryRun bool     `help:"Say which sites the rule is for, and whether the crawl would take it. Nothing changes."`
		Terms  []string `arg:"" name:"key=value" help:"host-delay=TIME, max-per-host=N, host-bandwidth=RATE, connect-timeout=TIME, response-timeout=TIME, slow-body-timeout=TIME, exchange-timeout=TIME, exclude, exclude=no, user-agent=TEXT, robots=obey, or robots=ignore with reason=TEXT."`
	}
	ctlRulesCmd struct{}
)

// Help shows an example.
func (*ctlStatusCmd) Help() string {
	return "It also says when the queue would be empty, and which host is last, once that can be estimated. For a\n" +
		"crawl that does not run, this is its last report.\n\nExample:\n  orbweaver ctl status --dir crawl --json"
}

// Help shows an example.
func (*ctlPauseCmd) Help() string {
	return "Exchanges under way end; the rest waits for resume.\n\nExample:\n  orbweaver ctl pause --dir crawl"
}

// Help shows an example.
func (*ctlResumeCmd) Help() string { return "Example:\n  orbweaver ctl resume --dir crawl" }

// Help shows an example.
func (*ctlStopCmd) Help() string {
	return `Works as the first signal does. orbweaver crawl --dir resumes the crawl.

Example:
  orbweaver ctl stop --dir crawl`
}

// Help shows an example.
func (*ctlLeaveCmd) Help() string {
	return `For one of several agents that will not return. It sends no more requests. Its hosts go to the other agents,
with their queues, delays and robots.txt rules, and with the list of what it has fetched. Then it ends, with
exit status 0. Its archive stays.

Example:
  orbweaver ctl leave --dir a1`
}

// Help shows an example.
func (*ctlBlockCmd) Help() string {
	return "The same as rule HOST exclude. A stopped crawl takes it, too.\n\n" +
		"Examples:\n  orbweaver ctl block --dir crawl .example.com\n  orbweaver ctl block --dir crawl --dry-run .example.com"
}

// Help shows examples.
func (*ctlRuleCmd) Help() string {
	return `Takes effect at once, also after a stop or a kill. Of the rules that match a host the narrowest decides. Of
two equally narrow ones, this one decides and not that of --host-rules. Queued URLs of excluded hosts count
as blocked. A stopped crawl keeps the rule for its next run.

Examples:
  orbweaver ctl rule --dir crawl www.example.com host-delay=20s
  orbweaver ctl rule --dir crawl .example.com max-per-host=1000 host-delay=1s
  orbweaver ctl rule --dir crawl group farm: .example.com www.example.net delay=10s
  orbweaver ctl rule --dir crawl .example.com exclude --dry-run`
}

// Help shows an example.
func (*ctlRulesCmd) Help() string {
	return `First those of ctl rule and ctl block, then those of --host-rules. The crawl need not run.

Example:
  orbweaver ctl rules --dir crawl`
}

// Run pauses.
func (*ctlPauseCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "pause", nil) }

// Run resumes.
func (*ctlResumeCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "resume", nil) }

// Run stops.
func (*ctlStopCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "stop", nil) }

// Run leaves.
func (*ctlLeaveCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "leave", nil) }

// Run blocks hosts.
func (x *ctlBlockCmd) Run(inv *command.Invocation, c *Command) error {
	rules := make([]string, len(x.Rules))
	for i, host := range x.Rules {
		rules[i] = host + " exclude"
	}
	if x.DryRun {
		var faults []error
		for _, rule := range rules {
			faults = append(faults, c.match(inv, rule))
		}
		return errors.Join(faults...)
	}
	return c.give(inv, "block", x.Rules, rules)
}

// Run takes a rule.
func (x *ctlRuleCmd) Run(inv *command.Invocation, c *Command) error {
	rule := x.Host + " " + strings.Join(quoted(x.Terms), " ")
	if x.DryRun {
		return c.match(inv, rule)
	}
	return c.give(inv, "rule", []string{rule}, []string{rule})
}

// Run lists the rules.
func (*ctlRulesCmd) Run(inv *command.Invocation, c *Command) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	rules, err := client.HostRules(inv.Context)
	if c.hasStopped(err) {
		rules, err = c.listStoppedRules()
	}
	switch {
	case err != nil:
		return c.Remedy(err)
	case c.JSON:
		return command.PrintJSON(inv.Stdout, rules)
	}
	for _, rule := range rules.Live {
		fmt.Fprintf(inv.Stdout, "%s  # ctl\n", rule)
	}
	for _, rule := range rules.Fixed {
		fmt.Fprintln(inv.Stdout, rule)
	}
	if rules.More > 0 {
		fmt.Fprintf(inv.Stdout, "# and %d more\n", rules.More)
	}
	return nil
}

// quoted puts texts with blanks between quotes, which the shell has taken away.
func quoted(terms []string) (list []string) {
	for _, term := range terms {
		key, value, found := strings.Cut(term, "=")
		if found && strings.ContainsAny(value, " \t") && !strings.HasPrefix(value, `"`) {
			term = fmt.Sprintf("%s=%q", key, value)
		}
		list = append(list, term)
	}
	return list
}

type ctlReloadCmd struct{}

// Help shows an example.
func (*ctlReloadCmd) Help() string {
	return `For one of several agents whose --agent-file was replaced. The agent reads the certificate and the gossip
keys, and continues. Agents that have seen the new certificate refuse the old one, also after a restart.

Example:
  orbweaver ctl reload --dir a1`
}

// Run has the file read again.
func (*ctlReloadCmd) Run(inv *command.Invocation, c *Command) error { return c.do(inv, "reload", nil) }
