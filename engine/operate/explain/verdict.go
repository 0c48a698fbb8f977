package explain

import (
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/operate/hosts"
	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
)

// conclude says what became of the URL: the first of these facts decides.
func (s *Source) conclude(e *Evidence) {
	last, hasLine := e.decidingLine()
	switch {
	case e.Exchange > 0:
		e.say(InExchange, "an exchange for it is under way since %s", seconds(e.Exchange))
	case e.Owner != "":
		e.sayOwner()
	case e.Queue != nil && !(hasLine && last.Final && !s.Running && last.Time > e.AsOf): // a kill came after the line
		e.sayQueued(s.Hosts.Paused())
	case hasLine && !last.Final && outcomeOf(last.Outcome).Class() != outcome.ClassAnswer:
		e.say(Waiting, "not fetched: %s%s at %s; it is tried again", last.Outcome, status(last), last.Time)
	case hasLine && isStored(last):
		e.sayFetched(last)
	case hasLine && isRefusal(last.Outcome):
		e.sayRefused(last)
	case hasLine:
		e.say(Failed, "not stored: %s%s at %s, and it is not tried again", last.Outcome, status(last), last.Time)
	case len(e.Captures) > 0:
		c := e.Captures[0]
		e.say(Fetched, "fetched: status %d at %s, in %s at offset %d", c.Status, c.Time, c.File, c.Offset)
	case e.Skipped != "":
		e.say(Skipped, "not fetched: skipped as part of a trap: %s", e.Skipped)
	case e.Host != nil && e.Host.State == "dead":
		e.say(Failed, "not fetched: its host is given up: %s", e.Host.Waits[0].Text)
	case e.Sieve == "known" && e.logLeft:
		e.say(Unclear, "not found: it is known, and has no line in the part of crawl.log that was read (--whole-log); "+
			"it may also be one of %s in the ready queue", plural.Count(s.Ready(), "URL"))
	case e.Sieve == "known":
		n := s.Ready()
		e.say(Waiting, "not fetched: found, and not yet in the queue of its host; %s %s in the ready queue",
			plural.Count(n, "URL"), plural.Verb(n, "waits", "wait"))
	case e.Sieve == "pending":
		e.say(Waiting, "not fetched: a link to it was found; it is not yet compared with the known URLs")
	case e.Sieve == "merging":
		e.say(Waiting, "not known: new links are being compared with the known URLs now; ask again")
	default:
		e.say(NeverSeen, "not fetched: no page that was crawled so far links to it, or its filters refused each link")
	}
}

// sayOwner says what the agent says that owns the host.
func (e *Evidence) sayOwner() {
	const ask = "ask that agent (orbweaver explain --dir its directory)"
	switch {
	case e.Says != nil:
		e.say(e.Says.Result, "agent %s, which owns its host, says: %s", e.Owner, e.Says.Verdict)
	case errors.Is(e.ownerFault, ErrNotAsked):
		e.say(Elsewhere, "agent %s owns its host: "+ask, e.Owner)
	default:
		e.say(Elsewhere, "agent %s owns its host, and did not answer: "+ask, e.Owner)
	}
}

func (e *Evidence) say(result Result, format string, args ...any) {
	e.Result, e.Verdict = result, fmt.Sprintf(format, args...)
}

// decidingLine is the last line with the outcome of the URL; without one, the last line.
func (e *Evidence) decidingLine() (a Attempt, ok bool) {
	for _, a := range e.Attempts {
		if a.Final {
			return a, true
		}
	}
	if len(e.Attempts) > 0 {
		return e.Attempts[0], true
	}
	return a, false
}

// outcomeOf finds an outcome by its name.
func outcomeOf(name string) outcome.Outcome {
	for o := range outcome.Outcome(outcome.Count) {
		if o.String() == name {
			return o
		}
	}
	return outcome.None
}

// isStored reports whether a line is about a response that the archive has, unless a filter refused to store it.
func isStored(a Attempt) bool { return outcomeOf(a.Outcome).HasResponse() }

func isRefusal(name string) bool { return outcomeOf(name).Class() == outcome.ClassRefusal }

func status(a Attempt) string {
	if a.Status > 0 {
		return fmt.Sprintf(" (status %d)", a.Status)
	}
	return ""
}

func (e *Evidence) sayFetched(a Attempt) {
	place := "the archive"
	if len(e.Captures) > 0 {
		c := e.Captures[0]
		place = fmt.Sprintf("%s at offset %d", c.File, c.Offset)
	}
	e.say(Fetched, "fetched: status %d (%s) at %s, %s, in %s", a.Status, a.Outcome, a.Time,
		plural.Count(max(a.Size, 0), "byte"), place)
}

// sayRefused names the rule that decided, where the crawl still has it.
func (e *Evidence) sayRefused(a Attempt) {
	why := ""
	if r := e.Robots; a.Outcome == outcome.RobotsDenied.String() && r != nil && r.Line > 0 && !r.Allowed {
		why = fmt.Sprintf(": line %d of robots.txt: %s", r.Line, r.Rule)
	}
	if e.Skipped != "" {
		why = ": " + e.Skipped
	}
	e.say(Refused, "not fetched: %s at %s%s", a.Outcome, a.Time, why)
}

func (e *Evidence) sayQueued(paused string) {
	q := e.Queue
	where := fmt.Sprintf("queued at position %d of %d on %s", q.Position, q.Of, e.Host.Site)
	if q.Position == 0 {
		where = "next on " + e.Host.Site
	}
	why := hosts.Why(paused, e.Host, e.Robots)
	if why != "" {
		why = "; " + why
	}
	switch {
	case !e.Running:
		e.say(Queued, "not fetched: %s; the crawl does not run", where)
	case paused != "" || unknownEnd(e.Host):
		e.say(Queued, "not fetched: %s%s", where, why)
	case q.DueSeconds < 0.001:
		e.say(Queued, "not fetched: %s, due now", where)
	default:
		e.say(Queued, "not fetched: %s, due in %s%s", where, seconds(q.DueSeconds), why)
	}
}

// unknownEnd reports whether nothing is known about the time when a host will be asked.
func unknownEnd(h *hosts.Host) bool {
	return len(h.Waits) > 0 && h.Waits[0].Seconds == 0 && h.State != "leased"
}

func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
