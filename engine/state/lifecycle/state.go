package lifecycle

import (
	"fmt"
	"time"

	"orbweaver/internal/plural"
)

// State is where a crawl stands.
type State string

// The states of report.json.
const (
	Running  State = "running"
	Paused   State = "paused"
	Finished State = "finished"
	Stopped  State = "stopped"
	Stalled  State = "stalled" // only failing sites have queued URLs; the crawl can be resumed
	Failed   State = "failed"
)

// DrainMax is how long an orderly stop waits for exchanges under way before it aborts them.
const DrainMax = 30 * time.Second

// RequisitesMax is how long a crawl that has reached its limit of pages waits for the next page requisite.
const RequisitesMax = 2 * time.Minute

// RequisitesLeft is what such a crawl says.
const RequisitesLeft = "--max-pages is reached, and page requisites are left"

// The reasons in report.json.
const (
	ReasonComplete = "complete"
	ReasonLate     = "the crawl of the others was over when this agent came: " +
		"run it again to crawl what is new in its seeds"
	ReasonStalled  = "all sites with queued URLs fail or ask to slow down: run the same command again to go on"
	ReasonMaxPages = "max-pages reached"
	ReasonMaxDisk  = "max-disk reached"
	ReasonMaxTime  = "max-time reached"
	ReasonSignal   = "stopped"
	ReasonLeft     = "left permanently: the other agents have everything"
	ReasonLost     = "no place among the other agents"
)

// ReasonRebuilt is why a rebuilt crawl is stopped.
const ReasonRebuilt = "rebuilt from the archive"

// IsLimit says that a crawl ended because it reached a limit, which a later run may raise.
func IsLimit(reason string) bool {
	return reason == ReasonMaxPages || reason == ReasonMaxDisk || reason == ReasonMaxTime
}

// HowToGoOn returns how a crawl goes on that ended at a limit with URLs that are queued, or found and not admitted yet;
// "" for any other.
func HowToGoOn(reason string, queued int64) string {
	flag := map[string]string{
		ReasonMaxPages: "larger --max-pages", ReasonMaxDisk: "larger --max-disk", ReasonMaxTime: "longer or later --max-time",
	}[reason]
	if flag == "" || queued <= 0 {
		return ""
	}
	return fmt.Sprintf("%s %s left: the same command with a %s resumes", plural.Count(queued, "URL"),
		plural.Verb(queued, "is", "are"), flag)
}

// SetWatch warns when the wall clock was set while the crawl runs. Delays use the monotonic clock, so they are not
// affected. The dates of records are.
type SetWatch struct {
	Warn               func(msg string, args ...any)
	lastMono, lastWall time.Time // of the last check
}

// LeastStep is the smallest step that is reported: smaller ones are ordinary corrections.
const LeastStep = 2 * time.Second

// Check compares both clocks with those of the last call.
func (w *SetWatch) Check(now time.Time) { w.compare(now, now.Round(0)) }

// compare takes one moment by both clocks; wall has no monotonic reading.
func (w *SetWatch) compare(now, wall time.Time) {
	lastMono, lastWall := w.lastMono, w.lastWall
	w.lastMono, w.lastWall = now, wall
	if lastMono.IsZero() {
		return
	}
	if step := wall.Sub(lastWall) - now.Sub(lastMono); step.Abs() >= LeastStep {
		w.Warn("the clock of this machine was set, or the machine slept: dates of records follow it, delays do not",
			"by", step.Round(time.Millisecond).String())
	}
}
