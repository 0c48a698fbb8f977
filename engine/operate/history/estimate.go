package history

import (
	"fmt"
	"strings"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
)

// Estimate says when the queue would be empty if the crawl went on as in the last minutes.
type Estimate struct {
	Seconds   float64 `json:"seconds"`                 // until the queue is empty; 0 if that cannot be said
	Growth    float64 `json:"queue_growth_per_second"` // of the queue; negative if it shrinks
	OfSeconds float64 `json:"of_seconds"`              // how long a time that is the mean of
	Sentence  string  `json:"sentence"`

	isKnown bool // the sentence says when the queue is empty, or that no end is in sight
}

// Known returns the estimate; nil if its sentence says nothing about the end of the crawl.
func (e *Estimate) Known() *Estimate {
	if !e.isKnown {
		return nil
	}
	return e
}

// Beside returns the sentence, without a reason that a text above it gives already.
func (e *Estimate) Beside(text string) string {
	if about, reason, ok := strings.Cut(e.Sentence, ": "); ok && strings.Contains(text, reason) {
		return about
	}
	return e.Sentence
}

// Over what time the growth of the queue is measured, in seconds: a quarter of the time that is known, in these bounds.
const (
	growthMost  = 600
	growthLeast = 30
)

// estimate looks back over the samples of seconds. now is in seconds since 1970.
func (h *History) estimate(r *report.Report, now int64) (e Estimate) {
	if r.State != lifecycle.Running {
		e.Sentence = "no estimate: the crawl is " + string(r.State)
		return e
	}
	if r.OnlyRequisites {
		e.Sentence = "no estimate: " + lifecycle.RequisitesLeft
		return e
	}
	if r.URLsQueued == 0 {
		e.Sentence = "the queue is empty"
		return e
	}
	s := &h.seconds
	queued := columnOf("urls_queued")
	over := int64(growthLeast)
	if s.count > 0 {
		over = min(max((now-s.times[s.first])/4, growthLeast), growthMost)
	}
	if i := s.since(now - over); i < s.count {
		e.OfSeconds = float64(now - s.times[s.at(i)])
		if e.OfSeconds >= growthLeast {
			e.Growth = (float64(r.URLsQueued) - float64(s.row(i)[queued])) / e.OfSeconds
		}
	}
	if r.Outlook != nil && h.outlook(&e, r.Outlook) {
		return e
	}
	last, say := time.Duration(e.OfSeconds)*time.Second, fmt.Sprintf
	if e.OfSeconds < growthLeast {
		e.OfSeconds = 0
		e.Sentence = say("no estimate yet: it needs %d seconds", growthLeast)
		return e
	}
	e.isKnown = true
	switch {
	case e.Growth < 0:
		e.Seconds = float64(r.URLsQueued) / -e.Growth
		e.Sentence = say("the queue is empty in about %s, if it shrinks as in the last %v", roughly(e.Seconds), last)
	case e.Growth == 0:
		e.Sentence = say("no end in sight: the queue is as long as %v ago", last)
	default:
		e.Sentence = say("no end in sight: the queue grows by %.0f URLs a minute, over the last %v", e.Growth*60, last)
	}
	return e
}

// outlook makes the estimate of what the sites say, and reports whether they decide: failing sites are waited for, and
// the longest queue of a site takes its time, however the queue of the crawl shrinks now.
func (h *History) outlook(e *Estimate, o *ending.Outlook) bool {
	shrinks := 0.0 // how long the queue takes by its growth
	if e.Growth < 0 && e.OfSeconds >= growthLeast {
		shrinks = float64(o.URLs) / -e.Growth
	}
	switch {
	case o.Failing > 0 && o.GiveUpLast == "" && o.AreMostFailing():
		e.Sentence = "no estimate: " + o.String()
		return true
	case o.Failing > 0 && o.GiveUpLast != "" && o.SecondsLeast > max(o.LongestSeconds, shrinks):
		e.Seconds = o.SecondsLeast
		e.Sentence = fmt.Sprintf("the queue is empty in about %s: %s", roughly(e.Seconds), o)
	case o.LongestSeconds > shrinks && shrinks > 0:
		e.Seconds = o.LongestSeconds
		e.Sentence = fmt.Sprintf("the queue is empty in %s at the soonest: so long takes the queue of %s at its delay",
			roughly(e.Seconds), o.LongestHost)
	default:
		return false
	}
	e.isKnown = true
	return true
}

func columnOf(name string) int {
	for i, n := range Names() {
		if n == name {
			return i
		}
	}
	return -1
}

// roughly prints a time with two units at most.
func roughly(seconds float64) string {
	const day = 24 * 3600
	s := int64(seconds)
	switch {
	case seconds > 1000*day:
		return "1,000 days or more"
	case s >= day:
		return fmt.Sprintf("%d d %d h", s/day, s%day/3600)
	case s >= 3600:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	case s >= 60:
		return fmt.Sprintf("%d min", s/60)
	default:
		return fmt.Sprintf("%d s", s)
	}
}
