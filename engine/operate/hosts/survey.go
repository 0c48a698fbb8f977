package hosts

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/site"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
)

// Survey is what all hosts in memory together wait for.
type Survey struct {
	Sites      int            // with URLs queued
	URLs       uint64         // queued for them
	DueNow     int            // sites that could be asked now, one at each address without an exchange
	NextDue    time.Duration  // until the first healthy one can be asked; negative: not before an exchange has ended
	Outlook    ending.Outlook // which sites fail, and until when
	OnDiskOnly int            // sites that could be asked, if their URLs were not all on disk
	Unresolved int            // sites without an address, with or without URLs
	Largest    Host           // the one with the most URLs
	Slowest    Host           // the one that needs longest for its queue, at its delay, of those that do not fail
	SlowestFor time.Duration  // how long
	WaitingFor time.Duration  // sum of the times until sites are due
}

// Survey reads all sites in memory, as List does.
func (l *Lister) Survey(ctx context.Context) (s Survey, err error) {
	now := time.Now()
	if err := l.eachView(ctx, func(v *view) { l.addToSurvey(&s, v, now) }); err != nil {
		return s, err
	}
	s.Outlook.Finish(now)
	due := l.Workbench.DueTimes()
	s.DueNow, s.NextDue = due.Front(now, 0), -1
	if next, waits := due.Next(); waits {
		s.NextDue = max(next.Sub(now), 0)
	}
	if n, _, next := s.Outlook.Waiting(); n > 0 && s.DueNow == 0 && s.Outlook.Failing > 0 {
		s.NextDue = max(next.Sub(now), 0)
	}
	return s, nil
}

func (l *Lister) addToSurvey(s *Survey, v *view, now time.Time) {
	if v.State == workbench.Unresolved || v.State == workbench.Deferred {
		s.Unresolved++
	}
	n := queuedURLs(v)
	if n == 0 || v.State == workbench.Dead {
		return
	}
	due, takes := dueIn(v, now), time.Duration(min(n, 1<<32))*l.delay(v)
	s.Sites++
	s.URLs += n
	s.WaitingFor += due
	if due == 0 && v.State == workbench.Idle {
		s.OnDiskOnly++
	}
	s.Outlook.Observe(v, l.Live, now)
	if n > s.Largest.Queued {
		s.Largest = l.host(v, now)
	}
	if takes > s.SlowestFor && !site.IsTroubled(&v.Data) {
		s.Slowest, s.SlowestFor = l.host(v, now), takes
	}
}

// Match is which sites a host rule is for, before it is given.
type Match struct {
	Rule    string   `json:"rule"`            // the hosts that it names
	Fault   string   `json:"fault,omitempty"` // why the crawl would refuse the rule; "" if it would take it
	Sites   int      `json:"sites"`           // known ones, without those on disk
	Queued  uint64   `json:"queued"`          // their URLs
	Largest []string `json:"largest"`         // those with the most URLs
	OnDisk  int      `json:"on_disk"`         // idle sites on disk, which are not compared
}

// largestShown is how many sites a Match names.
const largestShown = 5

// Match returns the sites that a host rule is for. A range of addresses matches the sites that are asked at an address
// in it, although only a group can be given for one. The crawl does not change.
func (l *Lister) Match(ctx context.Context, rule string) (m Match, err error) {
	names := filter.HostsOf(rule)
	m.Rule = strings.Join(names, " ")
	if _, fault := new(filter.HostRules).Grow(rule); fault != nil {
		m.Fault = fault.Error()
	}
	var all filter.Rules
	var networks []netip.Prefix
	for i, name := range names {
		all.Texts, all.Lines = append(all.Texts, name+" exclude"), append(all.Lines, i+1)
		if network, err := netip.ParsePrefix(name); err == nil {
			networks = append(networks, network)
		}
	}
	pattern, err := filter.CompileKeptHostRules(all)
	if err != nil {
		return m, fmt.Errorf("hosts: %w", err)
	}
	type large struct {
		site   string
		queued uint64
	}
	var largest []large
	err = l.eachView(ctx, func(v *view) {
		at := addrOf(v)
		if !pattern.Matches(urlx.Host(v.Key)) &&
			!slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(at) }) {
			return
		}
		n := queuedURLs(v)
		m.Sites++
		m.Queued += n
		if len(largest) < largestShown || n > largest[largestShown-1].queued {
			largest = append(largest[:min(len(largest), largestShown-1)], large{string(v.Key), n})
			slices.SortStableFunc(largest, func(a, b large) int { return cmp.Compare(b.queued, a.queued) })
		}
	})
	if err != nil {
		return m, err
	}
	for i := range largest {
		m.Largest = append(m.Largest, largest[i].site)
	}
	_, m.OnDisk = l.Sites.Counts()
	return m, nil
}
