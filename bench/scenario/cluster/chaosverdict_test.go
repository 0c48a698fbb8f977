//go:build scenario

package cluster

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb/judge"
)

// waitForEnd waits for all agents to end, and reports those that do not.
func (c *chaos) waitForEnd() {
	end := time.NewTimer(chaosLimit)
	defer end.Stop()
	all := make(chan struct{})
	go func() {
		defer close(all)
		c.wg.Wait()
	}()
	select {
	case <-all:
	case <-end.C:
		up := c.runningAgents()
		for _, name := range up {
			r := c.running[name].report()
			c.logEvent("%s still runs: %s (%s), %d queued, %d in flight, %+v, quorum %+v",
				name, r.State, r.Reason, r.URLsQueued, r.URLsInFlight, *r.Cluster, r.Cluster.Quorum)
		}
		if !c.quorum || len(up) > (len(c.names)-len(c.ended))/2 {
			c.t.Errorf("%v do not end", up)
		}
		for _, name := range up {
			c.running[name].stop()
		}
		<-all
	}
	c.wait()
}

// checkVerdict judges the crawl.
func (c *chaos) checkVerdict(began time.Time) {
	aborted := 0
	for _, name := range c.names {
		if !c.lost[name] {
			if r := testbed.Fsck(c.t, c.disks[name]); !r.Sound() {
				r.Print(c.t.Output())
				c.t.Errorf("%s is not sound", name)
			}
			if c.running[name] != nil {
				testbed.CheckConservation(c.t, c.final(name))
			}
			if p := c.final(name).Cluster; p != nil && p.Quorum != nil {
				aborted += int(p.Quorum.ExchangesAborted)
			}
		}
	}
	c.names = slices.DeleteFunc(c.names, func(name string) bool { return c.lost[name] })
	v := c.judge()
	c.t.Logf("%d events, virtual time %v; %d pages, %d fetched again (%d may be), %d messages, %d questions",
		c.events, time.Since(began), v.Fetched, v.Repeated, c.repeats, c.hub.messages, c.hub.questions)
	var faults []string
	fault := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	fault(v.Coverage != 1 || v.Missing+v.AttemptsMissing > 0, "coverage %v", v.Coverage)
	fault((c.quorum || !c.hadPartition) && impolite(v), "host %d+%d, address %d+%d",
		v.HostGapViolations, v.HostConcurrency, v.IPGapViolations, v.IPConcurrency)
	fault(v.Repeated > c.repeats+aborted || c.repeats == 0 && v.Duplicates > 0,
		"%d fetched again, %d stored twice", v.Repeated, v.Duplicates)
	fault(v.RobotsViolations+v.StoredUnknown+v.Unexpected+v.DigestMismatches+v.Nameless > 0,
		"robots %d, stored unknown %d, unexpected %d, digests %d",
		v.RobotsViolations, v.StoredUnknown, v.Unexpected, v.DigestMismatches)
	if len(faults) > 0 {
		v.Print(c.t.Output())
		c.logExamples(v)
		c.t.Errorf("the judge finds violations: %s", strings.Join(faults, "; "))
	}
}

// logExamples logs the ends of all agents, and the requests to the hosts of missing pages.
func (c *chaos) logExamples(v judge.Verdict) {
	for _, name := range c.names {
		r := c.final(name)
		c.t.Logf("%s: %s (%s), %d queued, %v", name, r.State, r.Reason, r.URLsQueued, r.Outcomes)
	}
	for _, example := range v.Examples {
		missing, isMissing := strings.CutPrefix(example, "missing: ")
		repeated, isRepeated := strings.CutPrefix(example, "repeated: ")
		for a := range c.rig.Log.All() {
			if isMissing && strings.HasPrefix(missing, a.Site) || isRepeated && a.URL == repeated {
				c.t.Logf("%s to %s %s asks for %s: %d, whole %v, cut %v", a.Time.Format("15:04:05.000"),
					a.End.Format("15:04:05.000"), agentOf(&a), a.URL, a.Status, a.Whole, a.Cut)
			}
		}
	}
}
