package growth

import (
	"fmt"
	"io"
	"time"
)

// Print writes the result for people.
func (r *Result) Print(out io.Writer) {
	for i, run := range r.Runs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s: %s\n", r.Name, run.Name)
		if len(run.Points) > 0 {
			fmt.Fprintf(out, "  %14s %14s %12s %14s %12s %14s\n", run.Items, "a second", "CPU ns each", "memory B each", "disk B each", "longest pause")
		}
		for _, p := range run.Points {
			fmt.Fprintf(out, "  %14d %14.0f %12.0f %14.1f %12.2f %14v\n", p.Items, p.PerSecond, p.CPUPerItem, p.MemoryPerItem, p.DiskPerItem,
				p.LongestPause.Round(time.Microsecond))
		}
		for _, f := range run.Figures {
			fmt.Fprintf(out, "  %-44s %14.4g %s\n", f.Name, f.Value, f.Unit)
		}
	}
}
