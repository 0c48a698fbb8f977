package agents

import (
	"fmt"
	"io"
)

// Print writes the result for people.
func (r *Result) Print(out io.Writer) {
	fmt.Fprintf(out, "%-14s %6s %8s %7s %8s %8s %8s %8s %8s %8s %8s %8s %8s %7s %6s %7s %7s %6s\n", "run", "agents",
		"fetchers", "pages", "coverage", "overlap", "held", "repeated", "impolite", "pages/s", "an agent", "a worker",
		"CPU µs", "ratio", "web's", "e/n", "lambda", "wall")
	for _, run := range r.Runs {
		ratio := "-"
		if run.CPURatio > 0 {
			ratio = fmt.Sprintf("%.2f", run.CPURatio)
		}
		fmt.Fprintf(out,
			"%-14s %6d %8d %7d %8.6f %8.6f %8.6f %8d %8d %8.0f %8.0f %8.2f %8.0f %7s %6.0f %7.3f %7.3f %5.0fs\n",
			run.Name, run.Agents, run.Fetchers, run.Pages, run.Coverage, run.Overlap, run.OverlapHeld, run.Repeated,
			run.Impolite, run.PagesPerSecond, run.PagesPerAgent, run.PagesPerWorker, run.CPUPerPage, ratio,
			run.WebCPUPerPage, run.Overhead, run.Lambda, run.WallSeconds)
	}
	for _, run := range r.Runs {
		run.print(out)
	}
}

// print writes what the table has no room for.
func (r *Run) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s", r.Name)
	if r.Kills > 0 {
		fmt.Fprintf(out, ": %d kills, which excuse %d pages asked for again", r.Kills, r.Allowed)
	}
	if r.LostPages > 0 {
		fmt.Fprintf(out, ": a disk with some %d pages deleted", r.LostPages)
	}
	if r.WorstDeviation > 0 {
		fmt.Fprintf(out,
			": hosts %.1f %% off their shares on average, %.1f %% at worst; pages %.1f %%, bytes %.1f %% at worst",
			100*r.MeanDeviation, 100*r.WorstDeviation, 100*r.WorstOfPages, 100*r.WorstOfBytes)
	}
	fmt.Fprintln(out)
	if p := r.Peers; p != (Peers{}) {
		fmt.Fprintf(
			out,
			"  peers     %d links sent (%.3f of lambda a page; at least %d), %d received; %d letters, %.0f bytes a page; %d "+
				"questions, %d pages recovered, %d URLs handed over\n",
			p.LinksSent,
			r.OverheadOfLambda,
			r.LinksLeast,
			p.LinksReceived,
			p.MessagesSent,
			r.PeerBytesPerPage,
			p.Questions,
			p.Recovered,
			p.HandedOver,
		)
	}
	if a := r.Audit; a != nil {
		fmt.Fprintf(out,
			"  audit     %d of %d pages at several agents; %d captures (%.1f MB) superseded, %d of them marked now\n",
			a.Shared, a.Pages, a.Superseded, float64(a.SupersededBytes)/1e6, a.Marked)
	}
	if r.Parted != nil {
		r.Parted.print(out)
	}
	for _, e := range r.Each {
		fmt.Fprintf(out, "  %-9s capacity %d, share %.3f: ", e.ID, e.Capacity, e.Share)
		if e.Hosts >= 0 {
			fmt.Fprintf(out, "%d hosts, ", e.Hosts)
		}
		fmt.Fprintf(out, "%d pages, %.1f MB, %.1f CPU s in %d lives; %s\n", e.Pages,
			float64(e.Report.BytesReceived)/1e6, e.CPUSeconds, e.Lives, e.State)
	}
	for _, fault := range r.Faults {
		fmt.Fprintf(out, "  WRONG     %s\n", fault)
	}
	if !r.Sound() {
		for _, e := range r.Verdict.Examples {
			fmt.Fprintf(out, "            %s\n", e)
		}
	}
}
