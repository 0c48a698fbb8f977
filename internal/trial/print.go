package trial

import (
	"fmt"
	"io"
	"time"
)

// Print writes the result as text.
func (r *Result) Print(out io.Writer) {
	fmt.Fprintf(out, "crawl       %s: %d pages, %.0f pages/s over %v\n", r.Report.Reason, r.Pages, r.PagesPerSecond,
		time.Duration(r.WallSeconds*float64(time.Second)).Round(100*time.Millisecond))
	fmt.Fprintf(out, "cost        %.0f CPU µs a page for the crawler (gzip level %d)", r.CPUPerPage, max(r.Level, 1))
	if r.Judged != nil {
		fmt.Fprintf(out, ", %.0f for the simulated web", r.WebCPUPerPage)
	}
	fmt.Fprintln(out)
	fmt.Fprintf(out, "bytes       %.1f MB received (%.1f KB a page), %.1f MB stored; peak memory %.0f MiB\n",
		float64(r.BytesReceived)/1e6,
		float64(r.BytesReceived)/1e3/float64(max(r.Pages, 1)), float64(r.BytesStored)/1e6, float64(r.RSSPeak)/(1<<20))
	r.Garbage.print(out)
	r.Opening.print(out)
	fmt.Fprintf(out, "checkpoints %d; 99 in 100 pause the crawl for less than %.1f ms, the longest for %.1f ms\n",
		r.Report.Checkpoints, r.Report.CheckpointPauseP99*1e3, r.Report.CheckpointPauseMost*1e3)
	if r.Judged != nil {
		r.printVerdict(out, r.Pages)
	}
	if a := r.Archive; a != nil {
		state := "every record verified"
		if !a.OK() {
			state = fmt.Sprintf("%d FAULTS", a.Faults)
		}
		fmt.Fprintf(out, "archive     %s: %d records in %d files, %d digests compared\n", state, a.Records, a.Files,
			a.DigestsChecked)
	}
	if r.Judged != nil && r.Quality != nil {
		fmt.Fprintln(out, "\norder of requests, compared with others of all pages that the seeds reach")
		_ = r.Quality.Print(out) // as all lines
	}
}

func (o *Opening) print(out io.Writer) {
	p := &o.Parts
	fmt.Fprintf(out,
		"opening     %.3f s, CPU %.3f s: components %v, workbench %v, %d journal entries %v, first checkpoint %v\n",
		o.Seconds, o.CPU, p.Components.Round(time.Microsecond), p.Bench.Round(time.Microsecond), p.Entries,
		p.Replay.Round(time.Microsecond), p.Checkpoint.Round(time.Microsecond))
}

func (j *Judged) printVerdict(out io.Writer, pages int64) {
	if j.BytesCompressed > 0 {
		fmt.Fprintf(out, "compressed  %.1f KB a page before the web compressed it, %.1f times as much as after\n",
			float64(j.BytesText)/1e3/float64(max(pages, 1)), float64(j.BytesText)/float64(j.BytesCompressed))
	}
	if j.Verdict != nil {
		j.Verdict.Print(out)
	}
}
