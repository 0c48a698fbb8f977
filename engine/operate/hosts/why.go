package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
)

// The reasons of a Wait.
const (
	HostDelay     = "host-delay"
	NotBefore     = "not-before"
	CrawlDelay    = "crawl-delay"
	SlowedDown    = "slowed-down" // the host delay is longer for some time, after requests to slow down
	RetryAfter    = "retry-after"
	BackOff       = "back-off"
	RobotsRetry   = "robots-retry"
	IPDelay       = "ip-delay"
	SharedIP      = "shared-ip"
	InGroup       = "group"
	Exchange      = "exchange"
	NameLookup    = "name-lookup"
	OtherRobots   = "robots-redirect"
	PageLimit     = "max-pages"
	Dead          = "dead"
	NothingQueued = "nothing-queued"
	OtherWait     = "other"
)

// Why says why a queued URL is not fetched now: no exchange begins, robots.txt does not allow it, or its site waits. It
// is "" if nothing keeps the URL. paused is Lister.Paused.
func Why(paused string, h *Host, r *Robots) string {
	switch {
	case paused != "":
		return "no exchange begins: " + paused
	case r.State == "valid" && !r.Allowed:
		return fmt.Sprintf("it will be refused: line %d of robots.txt: %s", r.Line, r.Rule)
	case len(h.Waits) > 0:
		return h.Waits[0].Text
	default:
		return ""
	}
}

// waits returns why a site is not asked now, the longest wait first.
func (l *Lister) waits(v *view, now time.Time) []Wait {
	waits := []Wait{}
	add := func(reason string, until time.Time, format string, args ...any) {
		w := Wait{Reason: reason, Text: fmt.Sprintf(format, args...)}
		if left := until.Sub(now); left > 0 {
			w.Seconds = left.Seconds()
		}
		waits = append(waits, w)
	}
	switch v.State {
	case workbench.Dead:
		add(Dead, time.Time{}, "the site is given up: %s", deadOutcome(v))
		return waits
	case workbench.Unresolved:
		add(NameLookup, time.Time{}, "its name has no address yet")
		return waits
	case workbench.Deferred:
		f := v.Data.FailureStreak()
		add(NameLookup, v.Deferred, "its name could not be resolved (%s; tries: %d); it is tried again",
			f.LastOutcome, f.NameFailures)
	case workbench.Parked:
		if v.Data.AwaitsOtherRobots() {
			add(OtherRobots, time.Time{}, "its robots.txt redirects to another site, which is asked first")
		} else {
			add(PageLimit, time.Time{}, "--max-pages is reached, and it has no page requisites queued")
		}
	case workbench.Leased:
		add(Exchange, time.Time{}, "an exchange with the site is under way")
	case workbench.Idle:
		if v.OnDisk == 0 {
			add(NothingQueued, time.Time{}, "it has no URLs queued")
		}
	default:
	}
	if v.Due.After(now) {
		reason, text := l.siteWait(v, now)
		add(reason, v.Due, "%s", text)
	}
	l.addIPWaits(v, now, add)
	slices.SortStableFunc(waits, func(a, b Wait) int { return cmp.Compare(b.Seconds, a.Seconds) })
	return waits
}

// deadOutcome is the outcome that queued URLs of a dead site get.
func deadOutcome(v *view) string {
	if o := v.Data.DeadOutcome; o != outcome.None {
		return o.String()
	}
	return outcome.SiteGone.String()
}

// addWait adds a Wait that lasts until a time; zero if that is not known.
type addWait func(reason string, until time.Time, format string, args ...any)

// addIPWaits adds the waits for the address of a site.
func (l *Lister) addIPWaits(v *view, now time.Time, add addWait) {
	ip := &v.IP
	if !ip.Addr.IsValid() {
		return
	}
	group := l.Live.Hosts.Groups()[ip.Addr]
	shared, what := SharedIP, "address "+ip.Addr.String()
	if group.Name != "" {
		shared, what = InGroup, "group "+group.Name
	}
	if ip.Leased != 0 && ip.Leased != v.ID {
		add(shared, time.Time{}, "its %s is in an exchange with another of its %s", what,
			plural.Count(ip.Sites, "site"))
	}
	if !ip.Due.After(now) {
		return
	}
	policy := l.Live.Policy()
	delay := policy.SlowedIPDelay(group.Delay, politeness.UnpackIPSlowdown(ip.Note).Level)
	slowed := ""
	if delay > max(policy.IPDelay, group.Delay) {
		slowed = ", lengthened since several of its sites fail"
	}
	if ip.Sites > 1 || group.Name != "" {
		add(shared, ip.Due, "its %s is shared by %s, with %s between two requests%s", what,
			plural.Count(ip.Sites, "site"), delay, slowed)
		return
	}
	add(IPDelay, ip.Due, "%s between two requests to %s%s", delay, ip.Addr, slowed)
}

// delayLine names the line of the Crawl-delay, if it is known.
func delayLine(r *robots.Rules) string {
	if r == nil || r.CrawlDelayLine() == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", r.CrawlDelayLine())
}

// siteWait says why a site that is not due waits. The workbench keeps only the due time, so the reason is that which
// the facts about the site allow, the strongest first.
func (l *Lister) siteWait(v *view, now time.Time) (reason, text string) {
	s, policy := &v.Data, l.Live.Policy()
	streak, terms := s.FailureStreak(), l.Live.Hosts.Terms(v.Key)
	plain := policy.SiteDelay(terms.Delay(), 0)
	delay := policy.SiteDelay(terms.Delay(), s.CrawlDelay())
	slowed := policy.SlowedDelay(delay, s.Slowdown)
	left := v.Due.Sub(now)
	retryAt := time.Unix(int64(streak.RetryAt), 0)
	switch {
	case terms.NotBefore.After(now):
		return NotBefore, fmt.Sprintf("host rule: not-before=%s for %s", terms.NotBefore.Format(time.RFC3339),
			urlx.Host(v.Key))
	case streak.RetryAt > 0 && retryAt.After(now) && !v.Due.After(retryAt.Add(time.Second)):
		return RetryAfter, fmt.Sprintf("Retry-After of the server (%s) until %s",
			streak.LastOutcome, retryAt.UTC().Format(time.RFC3339))
	case s.Rules == nil && s.RobotsTries > 0:
		return RobotsRetry, robotsText(s, streak, v.Due)
	case streak.Count > 0 && left > delay || s.Failures > 0:
		return BackOff, fmt.Sprintf("back-off: failures in a row: %d, the last: %s",
			max(int(streak.Count), int(s.Failures)), streak.LastOutcome)
	case s.Failures < 0:
		return BackOff, fmt.Sprintf("requests to slow down in a row: %d, the last: %s", -s.Failures, streak.LastOutcome)
	case left > slowed+slowed/4+time.Second:
		return OtherWait, "it waits for a fetch worker of new or slow sites, or its delay was lengthened before: by a " +
			"shorter limit, another agent or an earlier run"
	case slowed > delay:
		return SlowedDown, fmt.Sprintf("%s between two requests, lengthened from %s after requests to slow down",
			slowed.Round(time.Millisecond), delay)
	case delay > plain:
		return CrawlDelay, fmt.Sprintf("Crawl-delay %s of its robots.txt%s", delay, delayLine(s.Rules))
	case terms.HasDelay:
		return HostDelay, fmt.Sprintf("host rule: host-delay=%s for %s", delay, urlx.Host(v.Key))
	default:
		return HostDelay, fmt.Sprintf("%s between two requests (--host-delay)", delay)
	}
}

// robotsText says what was wrong with the robots.txt of a site.
func robotsText(s *site.State, streak site.FailureStreak, due time.Time) string {
	if streak.RobotsFault == robots.NoFault {
		return fmt.Sprintf("its robots.txt could not be fetched (%s; tries: %d)", streak.LastOutcome, s.RobotsTries)
	}
	return fmt.Sprintf("robots.txt: %s; nothing is fetched until it is read whole (tries: %d; asked again at %s)",
		streak.RobotsFault.Seen(), s.RobotsTries, due.UTC().Format(time.RFC3339))
}
