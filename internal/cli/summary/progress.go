package summary

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
)

// Console takes log lines and, if it has one, a status line.
type Console interface {
	io.Writer
	HasStatusLine() bool
	SetStatus(s console.Status)
}

// Progress tells how the crawl goes: one line that is written over on a terminal, a plain line now and then elsewhere.
type Progress struct {
	out     Console
	crawl   interface{ Report() report.Report }
	inPlace bool // write over the same line
	last    report.Report
	lastAt  time.Time
	done    chan struct{}
	cancel  context.CancelFunc
}

const (
	progressTerminal = time.Second
	progressPlain    = 10 * time.Second
)

// The modes of --progress.
const (
	ProgressAuto = "auto"
	ProgressNone = "none"
)

// StartProgress begins to print progress to out: mode is auto, plain or none. Close ends it.
func StartProgress(
	parent context.Context, out Console, mode string, crawl interface{ Report() report.Report },
) *Progress {
	p := &Progress{out: out, crawl: crawl, done: make(chan struct{}), lastAt: time.Now(), last: crawl.Report()}
	p.inPlace = mode == ProgressAuto && out.HasStatusLine()
	period := progressPlain
	if p.inPlace {
		period = progressTerminal
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	p.cancel = cancel
	if mode == ProgressNone {
		close(p.done)
		return p
	}
	go p.run(ctx, period)
	return p
}

func (p *Progress) run(ctx context.Context, period time.Duration) {
	defer close(p.done)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.print()
		case <-ctx.Done():
			p.out.SetStatus(console.Status{})
			return
		}
	}
}

func (p *Progress) print() {
	r, now := p.crawl.Report(), time.Now()
	status := p.status(&r, now)
	p.last, p.lastAt = r, now
	if p.inPlace {
		p.out.SetStatus(status)
		return
	}
	fmt.Fprintln(p.out, status.Fit(math.MaxInt))
}

// status is what the line says of a report.
func (p *Progress) status(r *report.Report, now time.Time) console.Status {
	seconds := now.Sub(p.lastAt).Seconds()
	pages := pagesOf(*r)
	rate := float64(pages-pagesOf(p.last)) / seconds
	bytes := int64(float64(r.BytesArrived-p.last.BytesArrived) / seconds)
	numbers := []console.Number{
		{Text: (time.Duration(r.WallSeconds) * time.Second).String(), Rank: 3},
		{Text: plural.Count(pages, "page"), Rank: 6},
	}
	queued := console.Number{Text: plural.Number(r.URLsQueued) + " queued", Rank: 4}
	if r.FailingSites != nil { // no page comes
		numbers = append(numbers, queued)
	} else {
		numbers = append(numbers,
			console.Number{Text: fmt.Sprintf("%.0f pages/s", rate), Rank: 5},
			console.Number{Text: plural.Bytes(bytes) + "/s", Rank: 1},
			console.Number{Text: plural.Count(r.HostsKnown, "host"), Rank: 0},
			queued,
			console.Number{Text: fmt.Sprintf("%d fetching", r.ActiveFetches), Rank: 2},
		)
	}
	if others := agentsOf(r.Cluster); others != "" {
		numbers = append(numbers, console.Number{Text: others, Rank: 0})
	}
	return console.Status{Numbers: numbers, Reason: command.PlainText(r.Waiting)}
}

// agentsOf is what the line says of other agents, "" if there are none.
func agentsOf(p *cluster.StatusReport) string {
	if p == nil || len(p.Agents) < 2 {
		return ""
	}
	said := fmt.Sprintf("%s, %.1f links/page sent", plural.Count(p.Here(), "agent"), p.Overhead)
	if p.URLsWaiting > 0 {
		said += fmt.Sprintf(", %d waiting", p.URLsWaiting)
	}
	return said
}

// Close ends the line.
func (p *Progress) Close() {
	p.cancel()
	<-p.done
}
