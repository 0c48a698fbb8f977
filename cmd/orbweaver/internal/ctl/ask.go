package ctl

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/operator"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
)

type (
	hostsCmd struct {
		Sort   string `help:"Which hosts come first: those with the most URLs queued, the longest delay between two requests, the longest time until they are due, the most failed exchanges, the most pages, or the most bytes." enum:"queue,delay,due,errors,pages,bytes" default:"queue"`
		Suffix string `help:"Only hosts of this name, or below it." placeholder:"NAME"`
		State  string `help:"Only hosts in this state: unresolved (no address yet), deferred (name not found), idle, waiting, leased (being asked), parked (on hold), dead (given up)." placeholder:"STATE"`
		Limit  int    `help:"Number of hosts; at most 1000." default:"20" placeholder:"N"`
	}
	queueCmd struct {
		Host  string `arg:"" help:"host, host:port, scheme://host:port or IP address."`
		Limit int    `help:"Number of URLs; at most 1000." default:"20" placeholder:"N"`
	}
	activeCmd struct {
		Limit int `help:"Number of exchanges; at most 10000." default:"30" placeholder:"N"`
	}
)

// Help shows examples.
func (*hostsCmd) Help() string {
	return `A host is scheme, host and port: each has a queue, a delay and a robots.txt of its own. Hosts that are idle
and on disk are counted and not listed. Bytes are counted in whole KiB for each exchange. After a kill, bytes
and errors since the last checkpoint are not counted.

Examples:
  orbweaver ctl hosts --dir crawl
  orbweaver ctl hosts --dir crawl --sort errors --limit 5
  orbweaver ctl hosts --dir crawl --suffix example.org --state waiting --json`
}

// Help shows an example.
func (*queueCmd) Help() string {
	return `The next URLs of a host, and each reason why it is not asked now. The times are expected ones: they hold if no
request fails and the delay stays as it is.

Example:
  orbweaver ctl queue --dir crawl www.example.org --limit 5`
}

// Help shows an example.
func (*activeCmd) Help() string {
	return "The exchanges under way, those that began first at the top.\n\nExample:\n  orbweaver ctl active --dir crawl"
}

// ask asks a running crawl a question.
func (c *Command) ask(inv *command.Invocation, question string, values url.Values, into any) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	if err := client.AskQuestion(inv.Context, question+"?"+values.Encode(), into); err != nil {
		return c.Remedy(err)
	}
	return nil
}

// Run lists hosts.
func (x *hostsCmd) Run(inv *command.Invocation, c *Command) error {
	values := url.Values{"sort": {x.Sort}, "limit": {strconv.Itoa(x.Limit)}}
	if x.Suffix != "" {
		values.Set("suffix", x.Suffix)
	}
	if x.State != "" {
		values.Set("state", x.State)
	}
	var list hosts.List
	if err := c.ask(inv, "hosts", values, &list); err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, list)
	}
	return writeHosts(inv.Stdout, &list)
}

func writeHosts(out io.Writer, list *hosts.List) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tQUEUED\tPAGES\tERRORS\tBYTES\tDELAY\tDUE IN\tWAITS FOR")
	for _, h := range list.Hosts {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", command.PlainText(h.Site), h.Queued, h.Pages, h.Errors,
			plural.Bytes(h.Bytes), seconds(h.DelaySeconds), seconds(h.DueSeconds), command.PlainText(firstWait(&h)))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %s, which %s %s queued", len(list.Hosts), plural.Count(list.Matching, "host"),
		plural.Verb(list.Matching, "has", "have"), plural.Count(list.Queued, "URL"))
	if n := list.States["on-disk"]; n > 0 {
		fmt.Fprintf(out, "; %d more hosts are idle and on disk", n)
	}
	fmt.Fprintln(out)
	writePaused(out, list.Paused)
	return nil
}

func writePaused(out io.Writer, why string) {
	if why != "" {
		fmt.Fprintf(out, "no exchange begins: %s\n", why)
	}
}

// firstWait is the longest reason why a host is not asked now.
func firstWait(h *hosts.Host) string {
	if len(h.Waits) == 0 {
		return "nothing: it is due"
	}
	return h.Waits[0].Text
}

// seconds formats a time of a table.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Millisecond).String()
	}
}

// Run shows the queue of a host.
func (x *queueCmd) Run(inv *command.Invocation, c *Command) error {
	values := url.Values{"host": {x.Host}, "limit": {strconv.Itoa(x.Limit)}}
	var queues hosts.Queues
	if err := c.ask(inv, "queue", values, &queues); err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, queues)
	}
	for _, q := range queues.Sites {
		if err := writeQueue(inv.Stdout, &q); err != nil {
			return err
		}
	}
	writePaused(inv.Stdout, queues.Paused)
	return nil
}

func writeQueue(out io.Writer, q *hosts.Queue) error {
	fmt.Fprintf(out, "%s  %s, %s queued (%d on disk), %s, %s, %s between two requests\n",
		command.PlainText(q.Site), q.State, plural.Count(q.Queued, "URL"), q.OnDisk, plural.Count(q.Pages, "page"),
		plural.Count(q.Errors, "error"), seconds(q.DelaySeconds))
	for _, w := range q.Waits {
		left := ""
		if w.Seconds > 0 {
			left = " for " + seconds(w.Seconds)
		}
		fmt.Fprintf(out, "  waits%s: %s\n", left, command.PlainText(w.Text))
	}
	if len(q.Waits) == 0 {
		fmt.Fprintln(out, "  waits for nothing: it is due")
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, u := range q.URLs {
		position, more := strconv.FormatUint(u.Position, 10), ""
		if u.Position == 0 {
			position = "now"
		}
		if u.Tries > 0 {
			more = fmt.Sprintf(" (tried %s)", plural.Count(u.Tries, "time"))
		}
		fmt.Fprintf(t, "  %s\tin %s\t%s\t%s%s\n", position, seconds(u.DueSeconds), u.Place, command.PlainText(u.URL), more)
	}
	return t.Flush()
}

// Run lists the exchanges under way.
func (x *activeCmd) Run(inv *command.Invocation, c *Command) error {
	var active operator.Active
	if err := c.ask(inv, "active", url.Values{"limit": {strconv.Itoa(x.Limit)}}, &active); err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, active)
	}
	return writeActive(inv.Stdout, &active)
}

func writeActive(out io.Writer, a *operator.Active) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "AGE\tRECEIVED\tRATE\tADDRESS\tKIND\tURL")
	for _, e := range a.Exchanges {
		more := ""
		if e.Truncated {
			more = "..."
		}
		if e.Tries > 0 {
			more += fmt.Sprintf(" (tried %s)", plural.Count(e.Tries, "time"))
		}
		fmt.Fprintf(t, "%s\t%s\t%s/s\t%s\t%s\t%s%s\n", seconds(e.Age), plural.BytesOf(e.Received, e.Length),
			plural.Bytes(int64(float64(e.Received)/max(e.Age, 1))), e.Address, e.Kind, command.PlainText(e.URL), more)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s under way; %s\n", plural.Count(a.Busy, "exchange"), plural.Count(a.Fetchers, "fetch worker"))
	return nil
}

// match prints which sites a host rule would be for. The error says why the crawl would refuse the rule.
func (c *Command) match(inv *command.Invocation, rule string) error {
	var m hosts.Match
	if err := c.ask(inv, "match", url.Values{"rule": {rule}}, &m); err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(inv.Stdout, m)
	}
	fmt.Fprintf(inv.Stdout, "%s: %d known sites with %d queued URLs\n", command.PlainText(m.Rule), m.Sites, m.Queued)
	for _, site := range m.Largest {
		fmt.Fprintf(inv.Stdout, "  %s\n", command.PlainText(site))
	}
	if m.OnDisk > 0 {
		fmt.Fprintf(inv.Stdout, "%d idle sites on disk are not compared\n", m.OnDisk)
	}
	if m.Fault != "" {
		return errors.New("the crawl would refuse this rule: " + m.Fault)
	}
	return nil
}

// DoctorCommand says what limits a running crawl.
type DoctorCommand struct {
	crawl.Target
	JSON bool `help:"Print JSON."`
}

// Help shows an example.
func (*DoctorCommand) Help() string {
	return `What limits a running crawl now: politeness, one huge host, failing sites, name servers, the network, fetch
workers, servers that do not answer, the processor, the disk, memory or descriptors. The strongest limit is
first, each with its figures, what to do, and what would change without it. The last line says when the queue
would be empty, and which host is last, once that can be estimated.

Example:
  orbweaver doctor --dir crawl`
}

// Run asks the crawl.
func (x *DoctorCommand) Run(inv *command.Invocation) error {
	c := Command{asked: asked{Target: x.Target}}
	var answer operator.Diagnoses
	if err := c.ask(inv, "doctor", nil, &answer); err != nil {
		return err
	}
	end := c.estimate(inv)
	if x.JSON {
		return command.PrintJSON(inv.Stdout, struct {
			operator.Diagnoses
			Estimate *history.Estimate `json:"end,omitempty"`
		}{answer, end})
	}
	var said strings.Builder
	for i, d := range answer.Diagnoses {
		said.WriteString(d.Text)
		fmt.Fprintf(inv.Stdout, "%d. %s\n", i+1, command.PlainText(d.Text))
		fmt.Fprintf(inv.Stdout, "   to do:      %s\n", command.PlainText(d.Remedy))
		if d.IfLifted != "" {
			fmt.Fprintf(inv.Stdout, "   without it: %s\n", command.PlainText(d.IfLifted))
		}
	}
	if end != nil {
		fmt.Fprintf(inv.Stdout, "end: %s\n", command.PlainText(end.Beside(said.String())))
	}
	return nil
}

// estimate is when the queue of a running crawl would be empty; nil if nothing is known of that.
func (c *Command) estimate(inv *command.Invocation) *history.Estimate {
	client, err := c.Client()
	if err != nil {
		return nil
	}
	status, _ := client.Status(inv.Context) // without an answer, the crawl has ended since it answered another question
	return status.Estimate
}
