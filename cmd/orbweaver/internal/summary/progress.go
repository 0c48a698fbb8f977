package summary

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/report"
)

// Progress tells how the crawl goes: one line that is written over on a terminal, a plain line now and then elsewhere.
type Progress struct {
	out     io.Writer
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

// StartProgress begins to print progress to out: mode is auto, plain or none. Close ends it.
func StartProgress(
	parent context.Context,
	out io.Writer,
	terminal bool,
	mode string,
	crawl interface{ Report() report.Report },
) *Progress {
	p := &Progress{out: out, crawl: crawl, done: make(chan struct{}), lastAt: time.Now(), last: crawl.Report()}
	p.inPlace = mode == "auto" && terminal
	period := progressPlain
	if p.inPlace {
		period = progressTerminal
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent))
	p.cancel = cancel
	if mode == "none" {
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
			if p.inPlace {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		}
	}
}

func (p *Progress) print() {
	r, now := p.crawl.Report(), time.Now()
	seconds := now.Sub(p.lastAt).Seconds()
	pages := pagesOf(r)
	rate := float64(pages-pagesOf(p.last)) / seconds
	mbs := float64(r.BytesReceived-p.last.BytesReceived) / seconds / 1e6
	p.last, p.lastAt = r, now
	line := fmt.Sprintf(
		"%s  %d pages  %.0f pages/s  %.1f MB/s  %d hosts  %d queued  %d fetching | %s",
		(time.Duration(r.WallSeconds) * time.Second).String(), pages, rate, mbs, r.HostsKnown, r.URLsQueued,
		r.ActiveFetches, beside(r.Cluster)+r.Waiting,
	)
	if r.FailingSites != nil { // no page comes: on a terminal there is room for what it waits for
		line = fmt.Sprintf(
			"%s  %d pages  %d queued | %s", (time.Duration(r.WallSeconds) * time.Second).String(), pages, r.URLsQueued,
			beside(r.Cluster)+r.Waiting,
		)
	}
	if p.inPlace {
		fmt.Fprintf(p.out, "\r\x1b[K%.140s", line)
		return
	}
	fmt.Fprintln(p.out, line)
}

// beside is what the line says of other agents, "" if there are none.
func beside(p *cluster.StatusReport) string {
	if p == nil || len(p.Agents) < 2 {
		return ""
	}
	said := fmt.Sprintf("%d agents, %.1f links/page sent", p.Here(), p.Overhead)
	if p.URLsWaiting > 0 {
		said += fmt.Sprintf(", %d waiting", p.URLsWaiting)
	}
	return said + " | "
}

// Close ends the line.
func (p *Progress) Close() {
	p.cancel()
	<-p.done
}

// IsTerminal says that a writer is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
