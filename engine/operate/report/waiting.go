package report

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/options"
	"orbweaver/internal/plural"
)

// waiting returns what limits the crawl now, and beside it long bodies that wait, WARC files
// that cannot be sent, and a slow disk.
func (c *Collector) waiting() string {
	what := c.waitingMost()
	if c.isClosing() {
		what = fmt.Sprintf("%s, until none comes for %v: %s", lifecycle.RequisitesLeft, lifecycle.RequisitesMax, what)
	}
	if b := c.Numbers.Bodies(); b.Waiting > 0 {
		what += fmt.Sprintf("; long bodies: %d waiting for room, %s in use with %d MiB (--max-body-files)",
			b.Waiting, plural.Count(b.Files, "body file"), b.Bytes>>20)
	}
	if trouble := upload.Trouble(c.Numbers.Uploads); trouble != "" && c.Numbers.Uploads.Ending() == "" {
		what += "; " + trouble
	}
	if took := c.Journal.SlowSync.Now(time.Now()); took > 0 {
		what += "; the disk is slow: a sync takes " + took.Round(time.Millisecond).String()
	}
	return what
}

// isClosing reports whether only page requisites are fetched, until the crawl ends at --max-pages.
func (c *Collector) isClosing() bool {
	state, _ := c.Run.State()
	return c.Limits.IsClosing() && state == lifecycle.Running && !c.Run.IsStopping()
}

func (c *Collector) waitingMost() string {
	switch state, _ := c.Run.State(); state {
	case lifecycle.Finished, lifecycle.Stopped, lifecycle.Stalled, lifecycle.Failed:
		return cmp.Or(c.Numbers.Uploads.Ending(), waitingAfter(state))
	case lifecycle.Running, lifecycle.Paused:
	}
	if _, need := c.Journal.Disk.Pauses(); need > 0 {
		return fmt.Sprintf("the disk: it is full, and %s must be free in %s", plural.Bytes(need), c.Settings.Dir)
	}
	if reason := c.Outages.Gate.Reason(); reason != "" {
		return reason
	}
	now := time.Now()
	if _, what := c.Outages.Shortage.Current(now); what != "" {
		return "this machine: " + what
	}
	if s := c.Outages.Way.State(now); !s.FailingSince.IsZero() {
		since := s.FailingSince.UTC().Format(time.RFC3339)
		return fmt.Sprintf("the way to the sites: %s, since %s: %s", s.Fault, since, s.Remedy)
	}
	fetching, fetchers := c.Exchanges.Busy(), c.Numbers.Fetchers()
	down, workers := c.Outages.Network.State()
	hooked := c.Numbers.HookTrouble()
	switch next, ok := c.Workbench.DueTimes().Next(); {
	case c.Run.IsStopping() && c.Cluster.IsLeaving():
		return "the other agents: they are given all that this one has"
	case c.Run.IsStopping() && fetching > 0:
		return fmt.Sprintf("before it stops: %s, for %v at most", c.responses(now), lifecycle.DrainMax)
	case c.Run.IsStopping():
		return "the last pages, before it stops"
	case !down.IsZero():
		return "the network: no server can be reached since " + down.UTC().Format(time.RFC3339)
	case workers < fetchers && fetching >= int64(workers):
		return fmt.Sprintf("the network: connections time out, so %d fetchers of %d go on", workers, fetchers)
	case hooked != "":
		return hooked
	case c.Numbers.ParsersBehind():
		return "the processor: parse workers are behind, with " + plural.Count(c.Numbers.PagesOut.Load(), "page")
	case c.Bandwidth.State().IsThrottling:
		return "bandwidth: the limit of " + options.FormatRate(c.Bandwidth.State().Total) + " is reached (--bandwidth)"
	case fetching >= int64(fetchers):
		return "servers: every fetch worker is in an exchange: " + c.responses(now)
	case c.Numbers.SitesHeld() > 0 && 2*fetching >= int64(fetchers):
		return "servers: every fetch worker for new and slow sites is in an exchange: " + c.responses(now)
	case ok && !next.After(now):
		return "busy: fetching at full speed"
	}
	return c.waitingIdle(now)
}

// waitingIdle returns what the crawl waits for while nothing can be fetched now.
func (c *Collector) waitingIdle(now time.Time) string {
	n := &c.Journal.Count
	queued := n.URLsAdmitted.Load() - n.Finished.Load()
	if c.Exchanges.Busy() == 0 { // a site that is asked now may be well
		if t := c.FailingSites.Current(queued); t != nil {
			return cmp.Or(c.nameServersDown(now), t.String())
		}
	}
	var parts []string
	due := c.Workbench.DueTimes()
	waiting := c.Workbench.Counts().Waiting
	if o := c.FailingSites.Outlook(now); o.Failing > 0 {
		parts = append(parts, waitingFor(o, now)...)
	} else if next, ok := due.Next(); ok {
		site, _ := due.NextSites()
		parts = append(parts, politeWait(string(site), next.Sub(now), waiting))
	} else if waiting > 0 {
		parts = append(parts, fmt.Sprintf("politeness: %s %s until an exchange with their address has ended",
			plural.Count(waiting, "site"), plural.Verb(waiting, "waits", "wait")))
	}
	if c.Exchanges.Busy() > 0 {
		parts = append(parts, c.responses(now))
	}
	if names := c.names(now); names != "" {
		parts = append(parts, names)
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	if pending := c.Frontier.Sieve.Pending(); pending > 0 {
		return fmt.Sprintf("the sieve: %s being compared with those that are known", plural.Count(pending, "new link"))
	}
	if pages := c.Numbers.PagesOut.Load(); pages > 0 {
		return plural.Count(pages, "page") + " being read and stored"
	}
	return cmp.Or(c.waitingForAgents(queued), "URLs on their way to the workbench")
}

// waitingForAgents returns that this agent has nothing left to do; "" if it has, or if there are no other agents.
func (c *Collector) waitingForAgents(queued int64) string {
	totals := c.Journal.Count.Load()
	status := c.Cluster.Report(&totals)
	switch {
	case status == nil:
		return ""
	case status.URLsWaiting > 0:
		n := status.URLsWaiting
		return fmt.Sprintf("the other agents: %s %s on the way to them", plural.Count(n, "URL"), plural.Verb(n, "is", "are"))
	case queued > 0:
		return ""
	}
	others := status.Here() - 1
	if others < 1 {
		return ""
	}
	return plural.Count(others, "other agent") + ": this one has no queued URLs, and waits for theirs"
}

// waitingFor returns what a crawl waits for in which some sites fail: those come first if they have most of the URLs.
func waitingFor(o *ending.Outlook, now time.Time) (parts []string) {
	parts = append(parts, o.String())
	if next, err := time.Parse(time.RFC3339, o.NextTry); err == nil && next.After(now) {
		parts[0] += "; next try in " + age(next.Sub(now)).String()
	}
	n, first, due := o.Waiting()
	if n == 0 {
		return parts
	}
	parts = append(parts, politeWait(first, max(due.Sub(now), 0), n))
	if !o.AreMostFailing() {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return parts
}

// politeWait returns that sites wait until they may be asked again.
func politeWait(site string, due time.Duration, sites int) string {
	wait := due.Round(100 * time.Millisecond)
	if sites <= 1 {
		return fmt.Sprintf("politeness: %.80s is due in %v", site, wait)
	}
	return fmt.Sprintf("politeness: %d sites wait, the next is %.80s in %v", sites, site, wait)
}

// responses returns how many exchanges are under way, and names the oldest.
func (c *Collector) responses(now time.Time) string {
	said := plural.Count(c.Exchanges.Busy(), "response")
	if n := c.Bandwidth.State().HostsWaiting; n > 0 {
		said += fmt.Sprintf(", %d of them held by the limit of their host (--host-bandwidth)", n)
	}
	oldest, ok := c.Exchanges.Oldest()
	if !ok {
		return said
	}
	took := age(now.Sub(oldest.Began)).String()
	if oldest.Received > 0 {
		took += ", " + plural.BytesOf(oldest.Received, oldest.Length)
	}
	return fmt.Sprintf("%s (oldest %.120s for %s)", said, oldest.URL, took)
}

// names returns what the crawl waits for of the name servers; "" if nothing.
func (c *Collector) names(now time.Time) string {
	if down := c.nameServersDown(now); down != "" {
		return down
	}
	if n := c.Numbers.Unresolved(); n > 0 {
		servers := c.Outages.NameServers.Servers()
		return fmt.Sprintf("DNS: %s without an address yet%s", plural.Count(n, "host"), asked(servers))
	}
	counts, due := c.Workbench.Counts(), c.Workbench.DueTimes()
	if next, ok := due.NextDeferred(); ok && counts.Waiting == 0 {
		_, site := due.NextSites()
		return fmt.Sprintf("DNS: no address for %s, the next try is for %.80s in %v",
			plural.Count(counts.Deferred, "host"), site, age(next.Sub(now)))
	}
	return ""
}

// nameServersDown returns that no name server gives a usable answer, while hosts wait for one; "" if that is not so.
func (c *Collector) nameServersDown(now time.Time) string {
	servers, since := c.Outages.NameServers.Silent()
	hosts := c.Numbers.Unresolved() + c.Workbench.Counts().Deferred
	if since.IsZero() || hosts == 0 || now.Sub(since) < silenceMin {
		return ""
	}
	return fmt.Sprintf("DNS: no answer from %s for %v; %s without an address",
		serverList(servers), age(now.Sub(since)), plural.Count(hosts, "host"))
}

// silenceMin is how long name servers must have failed before the report says so.
const silenceMin = 3 * time.Second

// asked names the servers that are asked, if any are known.
func asked(servers []netip.AddrPort) string {
	if len(servers) == 0 {
		return ""
	}
	return ", asked of " + serverList(servers)
}

// serverList names name servers, the usual port left out.
func serverList(servers []netip.AddrPort) string {
	const most = 2
	var names []string
	for _, s := range servers[:min(most, len(servers))] {
		name := s.String()
		if s.Port() == 53 {
			name = s.Addr().String()
		}
		names = append(names, name)
	}
	if more := len(servers) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return "the name servers"
	}
	return strings.Join(names, ", ")
}

// age rounds a time that people read.
func age(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// waitingAfter is what a crawl waits for that has ended.
func waitingAfter(s lifecycle.State) string { return "nothing: the crawl is " + string(s) }

// End returns the report of a crawl that ends in a state.
func (r Report) End(s lifecycle.State, reason string) Report {
	r.State, r.Reason, r.Waiting = s, reason, waitingAfter(s)
	if more := lifecycle.HowToGoOn(reason, r.URLsQueued+r.SievePending); more != "" {
		r.Waiting += "; " + more
	}
	return r
}
