package throughput

import (
	"context"
	"errors"
	"fmt"
	"io"

	"orbweaver/bench/components"
	"orbweaver/engine"
	"orbweaver/internal/trial"
)

// Result is what a crawl cost and found, with what only a benchmark measures.
type Result struct {
	*trial.Result
	*Comparison // with the bare loop, if that was measured

	Curve *components.Run `json:"curve,omitempty"` // of the fabricated web: cost at each size
}

// Comparison compares the crawl with the bare loop.
type Comparison struct {
	LoopCPUPerPage float64 `json:"loop_cpu_us_per_page"`
	Ratio          float64 `json:"ratio"` // of the crawl's CPU a page to that of the bare loop
	Where          []Where `json:"where,omitempty"`
	Loops          []Loop  `json:"loops,omitempty"`
	Locks          float64 `json:"locks_cpu_share"` // of the CPU time, in contended locks
}

// Compare runs the bare loop over barePages pages of the web, and then crawls the web. CPU profiles of both are written
// to the directory profiles, if it is not "". Without pages of the bare loop it only crawls.
func Compare(
	ctx context.Context, o trial.Options, web *trial.Simulated, barePages int, profiles string,
) (*Result, error) {
	if barePages == 0 {
		o.Web = web
		crawled, err := trial.Run(ctx, o)
		return &Result{Result: crawled}, err
	}
	loopCPU, loop, err := measureLoop(ctx, &o, web, barePages, profiles)
	if err != nil {
		return nil, err
	}
	whole := &profiledWeb{Web: web, dir: profiles}
	o.Web = whole
	r, err := trial.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Result{Result: r, Comparison: &Comparison{
		LoopCPUPerPage: loopCPU,
		Ratio:          r.CPUPerPage / max(loopCPU, 0.1),
		Locks:          whole.profile.lockShare(),
		Where:          compare(loop, whole.profile, loopCPU, r.CPUPerPage),
		Loops:          byLoop(whole.profile, r.CPUPerPage),
	}}, nil
}

// profiledWeb is a web whose crawl is profiled.
type profiledWeb struct {
	trial.Web
	dir     string
	profile *Profile
}

// Open implements trial.Web.
func (w *profiledWeb) Open(ctx context.Context, o *trial.Options) (trial.OpenWeb, error) {
	opened, err := w.Web.Open(ctx, o)
	return &profiledOpenWeb{OpenWeb: opened, of: w}, err
}

type profiledOpenWeb struct {
	trial.OpenWeb
	of  *profiledWeb
	err error
}

// Watch takes the profile.
func (w *profiledOpenWeb) Watch(ctx context.Context, _ *engine.Engine, _ func(), _ func() *trial.Result) {
	w.of.profile, w.err = profiled(w.of.dir, "crawl", func() error { <-ctx.Done(); return nil })
}

// Close implements trial.OpenWeb.
func (w *profiledOpenWeb) Close(r *trial.Result) error { return errors.Join(w.OpenWeb.Close(r), w.err) }

// Print writes the result as text.
func (r *Result) Print(out io.Writer) {
	r.Result.Print(out)
	if r.Comparison != nil {
		r.printParts(out, r.CPUPerPage)
	}
	if r.Curve != nil {
		fmt.Fprintln(out)
		r.Curve.Print(out, "frontier")
	}
}

func (c *Comparison) printParts(out io.Writer, cpuPerPage float64) {
	fmt.Fprintf(out, "\nCPU µs a page       %-16s %9s %9s\n", "", "bare loop", "the crawl")
	for _, w := range c.Where {
		if w.Loop == 0 && w.Crawl == 0 {
			continue // no page used TLS, for example
		}
		fmt.Fprintf(out, "  %-36s %7.1f   %7.1f\n", w.Part, w.Loop, w.Crawl)
	}
	fmt.Fprintf(out, "  %-36s %7.1f   %7.1f\n  %-36s %17.2f\n", "all", c.LoopCPUPerPage, cpuPerPage, "ratio", c.Ratio)
	fmt.Fprintf(out, "  %-36s %16.1f %%\n", "of it, in contended locks", 100*c.Locks)
	fmt.Fprint(out, "\nby loop of the engine\n")
	for _, l := range c.Loops {
		fmt.Fprintf(out, "  %-36s %17.1f\n", l.Name, l.CPU)
	}
}
