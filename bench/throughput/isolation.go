package throughput

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial"
	"orbweaver/warc"
)

// Hostile is a number of hostile hosts.
type Hostile struct {
	Cases []string // of bench/hostile
	Hosts int      // of each
}

// Side is one crawl of a Pair.
type Side struct {
	Good       int            `json:"good"` // pages requested from honest hosts
	Rate       float64        `json:"good_per_second"`
	CPU        float64        `json:"cpu_seconds"`
	RSSPeak    int64          `json:"rss_peak_bytes"`
	PageMemory int64          `json:"page_memory_bytes"`
	Outcomes   map[string]int `json:"outcomes"`
	Sound      bool           `json:"sound"`

	Verdict *judge.Verdict `json:"verdict,omitempty"` // if it is not sound
	Archive *warc.Report   `json:"archive,omitempty"`
}

// IsolationResult is how hostile hosts affect the crawl of honest ones.
type IsolationResult struct {
	Name   string  `json:"name"`
	Honest int     `json:"honest_hosts"`
	Others int     `json:"hostile_hosts"`
	Cases  int     `json:"cases"`
	Delay  float64 `json:"host_delay_seconds"`
	Pairs  []Pair  `json:"pairs"`
	Ratio  float64 `json:"ratio"` // median of the rates beside hostile hosts to those without
}

// Pair is two crawls of the same duration, one after the other.
type Pair struct {
	Alone, Beside Side
	Ratio         float64 `json:"ratio"`
}

// Isolation crawls the same honest hosts in pairs: alone, and beside hostile hosts. Each crawl takes o.MaxTime, and the
// order alternates. Every host is a seed. Progress has a line for each pair.
func Isolation(
	ctx context.Context, o trial.Options, web trial.Simulated, hosts Hostile, pairs int,
) (*IsolationResult, error) {
	cases := len(hosts.Cases)
	r := &IsolationResult{
		Name: "hostile", Honest: web.World.Hosts, Others: hosts.Hosts * cases, Cases: cases,
		Delay: o.HostDelay.Seconds(),
	}
	web.Seeds = web.World.Hosts
	var ratios []float64
	for n := range pairs {
		var p Pair
		sides := []*Side{&p.Alone, &p.Beside}
		if n%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			present := web
			if side == &p.Beside {
				present.Args = []string{
					"--hostile", strings.Join(hosts.Cases, ","), "--hostile-hosts", strconv.Itoa(hosts.Hosts),
				}
			}
			o.Web = &present
			if err := side.crawl(ctx, o); err != nil {
				return nil, err
			}
		}
		p.Ratio = p.Beside.Rate / max(p.Alone.Rate, 1e-9)
		r.Pairs, ratios = append(r.Pairs, p), append(ratios, p.Ratio)
		fmt.Fprintf(o.Progress, "%d of %d: %.1f pages/s of honest hosts alone, %.1f beside hostile ones: %.4f\n", n+1, pairs,
			p.Alone.Rate, p.Beside.Rate, p.Ratio)
		for _, side := range sides {
			side.printFaults(o.Progress)
		}
	}
	slices.Sort(ratios)
	if len(ratios) > 0 {
		r.Ratio = (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
	}
	return r, nil
}

// crawl is one crawl.
func (s *Side) crawl(ctx context.Context, o trial.Options) error {
	debug.FreeOSMemory() // return the memory of the crawl before
	result, err := trial.Run(ctx, o)
	if err = errors.Join(err, os.RemoveAll(o.Dir)); err != nil {
		return err
	}
	if err = ctx.Err(); err != nil {
		return err
	}
	s.Good, s.CPU, s.RSSPeak, s.Sound = result.Verdict.Unique, result.Report.CPUSeconds, result.RSSPeak, result.Sound()
	// MaxTime, not the wall time: at the end the crawl waits for exchanges in flight, slow ones for half a minute.
	s.Rate, s.PageMemory = float64(s.Good)/o.MaxTime.Seconds(), result.Report.PageMemory
	if !s.Sound {
		s.Verdict, s.Archive = result.Verdict, result.Archive
	}
	s.Outcomes = map[string]int{}
	for name, n := range result.Report.Outcomes {
		s.Outcomes[name] = int(n)
	}
	return nil
}

// printFaults prints what the judge and the verifier found.
func (s *Side) printFaults(out io.Writer) {
	if s.Verdict != nil && !s.Verdict.Sound() {
		s.Verdict.Print(out)
	}
	if s.Archive != nil && !s.Archive.OK() {
		fmt.Fprintf(out, "archive     %d faults in %d records\n", s.Archive.Faults, s.Archive.Records)
	}
}

// Sound reports whether nothing was wrong with any crawl.
func (r *IsolationResult) Sound() bool {
	return !slices.ContainsFunc(r.Pairs, func(p Pair) bool { return !p.Alone.Sound || !p.Beside.Sound })
}

// Print writes the result as a table.
func (r *IsolationResult) Print(out io.Writer) {
	fmt.Fprintf(out,
		"%d honest hosts, alone and beside %d hostile ones of %d kinds; %v between two requests to a "+
			"host\n\n", r.Honest, r.Others, r.Cases, seconds(r.Delay))
	fmt.Fprintf(out, "%-8s %12s %12s %8s %10s %10s %12s %12s\n", "", "good pages/s", "good pages/s", "", "CPU s", "CPU s",
		"peak MiB", "peak MiB")
	fmt.Fprintf(out, "%-8s %12s %12s %8s %10s %10s %12s %12s\n", "pair", "alone", "beside", "ratio", "alone", "beside",
		"alone", "beside")
	for n, p := range r.Pairs {
		unsound := ""
		if !p.Alone.Sound || !p.Beside.Sound {
			unsound = "  UNSOUND"
		}
		fmt.Fprintf(out, "%-8d %12.1f %12.1f %8.4f %10.1f %10.1f %12.0f %12.0f%s\n", n+1, p.Alone.Rate, p.Beside.Rate,
			p.Ratio, p.Alone.CPU, p.Beside.CPU,
			float64(p.Alone.RSSPeak)/(1<<20), float64(p.Beside.RSSPeak)/(1<<20), unsound)
	}
	fmt.Fprintf(out, "%-8s %12s %12s %8.4f\n", "median", "", "", r.Ratio)
	if len(r.Pairs) > 0 {
		fmt.Fprintf(out, "\noutcomes of the last crawl beside hostile hosts: %s\n",
			counts(r.Pairs[len(r.Pairs)-1].Beside.Outcomes))
	}
}

// counts lists the counts above zero, the largest first.
func counts(m map[string]int) string {
	names := make([]string, 0, len(m))
	for name, n := range m {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return m[b] - m[a] })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, m[name])
	}
	return strings.Join(names, ", ")
}
