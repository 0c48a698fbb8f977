package ctl

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"time"

	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/operator"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
)

type topCmd struct {
	Every time.Duration `help:"Time between two screens." default:"2s" placeholder:"TIME"`
	Count int           `help:"Number of screens; 0: until a signal." default:"0" placeholder:"N"`
	Hosts int           `help:"Number of hosts on a screen." default:"10" placeholder:"N"`
}

// Help shows an example.
func (*topCmd) Help() string {
	return `The main figures of a running crawl, refreshed until Ctrl-C: rates, queue, what it waits for, the oldest
exchanges, and the hosts with the longest queues. Without a terminal the screens follow one another.

Example:
  orbweaver ctl top --dir crawl`
}

// A screen is what top shows at one moment.
type screen struct {
	at     time.Time
	report report.Report
	hosts  hosts.List
	active operator.Active
}

// Run shows screens.
func (x *topCmd) Run(inv *command.Invocation, c *Command) error {
	if x.Every < 100*time.Millisecond {
		return command.Misuse(fmt.Errorf("--every: %v is less than 100ms", x.Every))
	}
	client, err := c.Client()
	if err != nil {
		return err
	}
	var before screen
	for n := 1; ; n++ {
		now := screen{at: time.Now()}
		status, err := client.Status(inv.Context)
		if err != nil {
			return c.Remedy(err)
		}
		now.report = status.Report
		values := url.Values{"sort": {"queue"}, "limit": {fmt.Sprint(max(x.Hosts, 1))}}
		if err := c.ask(inv, "hosts", values, &now.hosts); err != nil {
			return err
		}
		if err := c.ask(inv, "active", url.Values{"limit": {"5"}}, &now.active); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := now.write(&b, &before); err != nil {
			return err
		}
		if console.IsTerminal(inv.Stdout) {
			fmt.Fprint(inv.Stdout, "\x1b[H\x1b[2J")
		}
		if _, err := b.WriteTo(inv.Stdout); err != nil {
			return err
		}
		if n == x.Count {
			return nil
		}
		before = now
		select {
		case <-time.After(x.Every):
		case <-inv.Context.Done():
			return nil
		}
	}
}

// write writes a screen. Rates are those since the screen before, or of the whole crawl on the first one.
func (s *screen) write(out io.Writer, before *screen) error {
	r, old := &s.report, &before.report
	period := s.at.Sub(before.at).Seconds()
	if before.at.IsZero() {
		period = max(r.WallSeconds, 1)
	}
	rate := func(now, then int64) float64 { return float64(now-then) / period }
	fmt.Fprintf(out, "orbweaver %s, %s\n", r.State, (time.Duration(r.WallSeconds) * time.Second).String())
	fmt.Fprintf(out, "  %.1f pages/s, %s/s, %s stored, %s queued, %d in flight\n",
		rate(r.PagesStored, old.PagesStored), plural.Bytes(int64(rate(r.BytesArrived, old.BytesArrived))),
		plural.Count(r.PagesStored, "page"), plural.Count(r.URLsQueued, "URL"), r.URLsInFlight)
	fmt.Fprintf(out, "  %s, %s, %d of %s busy, %.1f cores, %s peak memory\n", plural.Count(r.HostsKnown, "host"),
		plural.Count(r.IPsKnown, "IP address"), s.active.Busy, plural.Count(s.active.Fetchers, "fetch worker"),
		max(r.CPUSeconds-old.CPUSeconds, 0)/period,
		plural.Bytes(r.RSSPeakBytes))
	fmt.Fprintf(out, "  waiting: %s\n\n", command.PlainText(r.Waiting))
	if err := writeActive(out, &s.active); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := writeHosts(out, &s.hosts); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return nil
}
