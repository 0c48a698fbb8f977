package report

import (
	"fmt"
	"time"

	"orbweaver/engine/lifecycle"
)

// waiting returns what limits the crawl now, and a slow disk beside it.
func (c *Collector) waiting() string {
	what := c.waitingMost()
	if took := c.Journal.SlowSync.Now(time.Now()); took > 0 {
		what += "; the disk is slow: a sync takes " + took.Round(time.Millisecond).String()
	}
	return what
}

func (c *Collector) waitingMost() string {
	switch state, _ := c.Run.State(); state {
	case lifecycle.Finished, lifecycle.Stopped, lifecycle.Stalled, lifecycle.Failed:
		return waitingAfter(state)
	case lifecycle.Running, lifecycle.Paused:
	}
	if _, need := c.Journal.Disk.Pauses(); need > 0 {
		return fmt.Sprintf("the disk: it is full, and %d bytes must be free in %s", need, c.Settings.Dir)
	}
	if reason := c.Outages.Gate.Reason(); reason != "" {
		return reason
	}
	now := time.Now()
	if _, what := c.Outages.Shortage.Current(now); what != "" {
		return "this machine: " + what
	}
	fetching, fetchers := c.Exchanges.Busy(), c.Settings.Fetchers
	down, workers := c.Outages.Network.State()
	switch next, ok := c.Workbench.DueTimes().Next(); {
	case c.Run.IsStopping() && c.Cluster.IsLeaving():
		return "the other agents: they are given all that this one has"
	case c.Run.IsStopping():
		return "the last pages, before it stops"
	case !down.IsZero():
		return "the network: no server can be reached since " + down.UTC().Format(time.RFC3339)
	case workers < fetchers && fetching >= int64(workers):
		return fmt.Sprintf("the network: connections time out, so %d fetchers of %d go on", workers, fetchers)
	case c.Numbers.ParsersBehind():
		return "the processor: parse workers are behind"
	case fetching >= int64(fetchers):
		return "servers: every fetch worker is in an exchange"
	case ok && !next.After(now):
		return "nothing: sites are due and being asked"
	case c.Outages.NameServers.Down.Load():
		return "the name servers: none of them answers"
	case c.Numbers.Unresolved() > 0:
		return fmt.Sprintf("the name system: %d sites have no address yet", c.Numbers.Unresolved())
	case !c.Stall.EndsAt().IsZero():
		n := &c.Journal.Count
		if t := c.FailingSites.Current(n.URLsAdmitted.Load() - n.Finished.Load()); t != nil {
			return t.String()
		}
		return "sites that failed; one has answered again" // since the condition was checked
	case ok:
		return "politeness: the next site is due in " + next.Sub(now).Round(time.Millisecond).String()
	case c.Frontier.Sieve.Pending() > 0:
		return "the sieve: new links are being sorted out"
	default:
		return "responses on their way"
	}
}

// waitingAfter is what a crawl waits for that has ended.
func waitingAfter(s lifecycle.State) string { return "nothing: the crawl is " + string(s) }

// End returns the report of a crawl that ends in a state.
func (r Report) End(s lifecycle.State, reason string) Report {
	r.State, r.Reason, r.Waiting = s, reason, waitingAfter(s)
	return r
}
