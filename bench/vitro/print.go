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
	if len(r.Parts) == 0 {
		return
	}
	sum := 0.0
	fmt.Fprintln(out, "\nbare parts, CPU µs a page, measured just before in the same process")
	for _, p := range r.Parts {
		fmt.Fprintf(out, "  %-36s %7.1f\n", p.Name, p.CPUPerPage)
		sum += p.CPUPerPage
	}
	fmt.Fprintf(out, "  %-36s %7.1f\n  %-36s %7.1f\n  %-36s %7.2f\n", "sum", sum, "the crawl, everything on", r.CPUPerPage,
		"ratio", r.CPUPerPage/max(sum, 0.1))
}
