package components

import (
	"fmt"
	"io"
	"time"
)

// Print writes the result as tables.
func (r *Result) Print(out io.Writer) {
	if r.What != "" {
		fmt.Fprintln(out, r.What)
	}
	for i, run := range r.Runs {
		if i > 0 || r.What != "" {
			fmt.Fprintln(out)
		}
		run.Print(out, r.Name)
	}
}

// Print writes a run as a table. name is that of the result.
func (r *Run) Print(out io.Writer, name string) {
	fmt.Fprintf(out, "%s: %s\n", name, r.Name)
	if len(r.Points) > 0 {
		fmt.Fprintf(out, "  %14s %14s %12s %14s %12s %14s\n", r.Items, "a second", "CPU ns each", "memory B each",
			"disk B each", "longest pause")
	}
	for _, p := range r.Points {
		fmt.Fprintf(out, "  %14d %14.0f %12.0f %14.1f %12.2f %14v\n", p.Items, p.PerSecond, p.CPUPerItem, p.MemoryPerItem,
			p.DiskPerItem, p.LongestPause.Round(time.Microsecond))
	}
	for _, f := range r.Figures {
		fmt.Fprintf(out, "  %-44s %14.4g %s\n", f.Name, f.Value, f.Unit)
	}
}
