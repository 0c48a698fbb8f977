package vitro

import (
	"fmt"
	"io"
	"time"
)

// Print writes the result for people.
func (r *Result) Print(out io.Writer) {
	fmt.Fprintf(out, "crawl       %s: %d pages, %.0f pages/s over %v\n", r.Report.Reason, r.Pages, r.PagesPerSecond,
		time.Duration(r.WallSeconds*float64(time.Second)).Round(100*time.Millisecond))
	fmt.Fprintf(out, "cost        %.0f CPU µs a page for the crawler (gzip level %d), %.0f for the simulated web\n",
		r.CPUPerPage, max(r.Level, 1), r.WebCPUPerPage)
	fmt.Fprintf(out, "bytes       %.1f MB received (%.1f KB a page), %.1f MB stored; peak memory %.0f MiB\n", float64(r.BytesReceived)/1e6,
		float64(r.BytesReceived)/1e3/float64(max(r.Pages, 1)), float64(r.BytesStored)/1e6, float64(r.RSSPeak)/(1<<20))
	each, g := 1/float64(max(r.Pages, 1)), &r.Garbage
	fmt.Fprintf(out, "garbage     %.1f objects and %.0f bytes allocated a page; the collector takes %.1f %% of the CPU time, 99 in 100 of its %d pauses below %v; %.0f MiB live\n",
		float64(g.Objects)*each, float64(g.Bytes)*each, 100*g.Share, g.Pauses, g.PauseP99, float64(g.Live)/(1<<20))
	if r.BytesPacked > 0 {
		fmt.Fprintf(out, "packed      %.1f KB a page before the web packed it, %.1f times as much as after\n",
			float64(r.BytesText)/1e3/float64(max(r.Pages, 1)), float64(r.BytesText)/float64(r.BytesPacked))
	}
	if r.Verdict != nil {
		r.Verdict.Print(out)
	}
	if a := r.Archive; a != nil {
		state := "every record verified"
		if !a.OK() {
			state = fmt.Sprintf("%d FAULTS", a.Faults)
		}
		fmt.Fprintf(out, "archive     %s: %d records in %d files, %d digests compared\n", state, a.Records, a.Files, a.DigestsChecked)
	}
	if r.LoopCPUPerPage == 0 {
		return
	}
	fmt.Fprintf(out, "\nCPU µs a page       %-16s %9s %9s\n", "", "bare loop", "the crawl")
	for _, w := range r.Where {
		if w.Loop == 0 && w.Crawl == 0 {
			continue // no page was inside TLS, say
		}
		fmt.Fprintf(out, "  %-36s %7.1f   %7.1f\n", w.Part, w.Loop, w.Crawl)
	}
	fmt.Fprintf(out, "  %-36s %7.1f   %7.1f\n  %-36s %17.2f\n", "all", r.LoopCPUPerPage, r.CPUPerPage, "ratio", r.Ratio)
	fmt.Fprintf(out, "  %-36s %16.1f %%\n", "of it, in finding locks taken", 100*r.Locks)
	fmt.Fprint(out, "\nby loop of the engine\n")
	for _, l := range r.Loops {
		fmt.Fprintf(out, "  %-36s %17.1f\n", l.Name, l.CPU)
	}
}
