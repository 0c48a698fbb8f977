package vitro

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/warc"
)

// Mixed is a web part of which is hostile.
type Mixed struct {
	Cases []string // of bench/hostile
	Hosts int      // of each
}

// Side is one crawl of a pair.
type Side struct {
	Good       int            `json:"good"` // pages of the honest hosts that were asked for
	Rate       float64        `json:"good_per_second"`
	CPU        float64        `json:"cpu_seconds"`
	RSSPeak    int64          `json:"rss_peak_bytes"`
	PageMemory int64          `json:"page_memory_bytes"`
	Outcomes   map[string]int `json:"outcomes"`
	Sound      bool           `json:"sound"`

	Verdict *simweb.Verdict `json:"verdict,omitempty"` // if it is not sound
	Archive *warc.Report    `json:"archive,omitempty"`
}

// IsolationResult is what honest hosts notice of hostile ones.
type IsolationResult struct {
	Name   string  `json:"name"`
	Honest int     `json:"honest_hosts"`
	Others int     `json:"hostile_hosts"`
	Cases  int     `json:"cases"`
	Delay  float64 `json:"host_delay_seconds"`
	Pairs  []Pair  `json:"pairs"`
	Ratio  float64 `json:"ratio"` // median of the rates beside hostile hosts to those without
}

// Pair is two crawls for the same time, one after the other.
type Pair struct {
	Alone, Beside Side
	Ratio         float64 `json:"ratio"`
}

// Isolation crawls the same honest hosts in pairs, for so long each time, alone and beside hostile ones; which of the two comes first
// alternates. Every host is a seed. A line is said about each pair.
func Isolation(ctx context.Context, o Options, mixed Mixed, pairs int, length time.Duration, say io.Writer) (*IsolationResult, error) {
	r := &IsolationResult{Name: "hostile", Honest: o.World.Hosts, Others: mixed.Hosts * len(mixed.Cases), Cases: len(mixed.Cases),
		Delay: o.HostDelay.Seconds()}
	o.Seeds, o.MaxTime = o.World.Hosts, length
	var ratios []float64
	for n := range pairs {
		var p Pair
		sides := []*Side{&p.Alone, &p.Beside}
		if n%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			o.Mixed = nil
			if side == &p.Beside {
				o.Mixed = &mixed
			}
			if err := o.side(ctx, side); err != nil {
				return nil, err
			}
		}
		p.Ratio = p.Beside.Rate / max(p.Alone.Rate, 1e-9)
		r.Pairs, ratios = append(r.Pairs, p), append(ratios, p.Ratio)
		fmt.Fprintf(say, "%d of %d: %.1f pages/s of honest hosts alone, %.1f beside hostile ones: %.4f\n", n+1, pairs, p.Alone.Rate, p.Beside.Rate, p.Ratio)
		for _, side := range sides {
			side.complain(say)
		}
	}
	slices.Sort(ratios)
	if len(ratios) > 0 {
		r.Ratio = (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
	}
	return r, nil
}

// side is one crawl.
func (o *Options) side(ctx context.Context, s *Side) error {
	debug.FreeOSMemory() // what the crawl before this one used is not this one's
	result, err := Run(ctx, *o)
	if err = errors.Join(err, os.RemoveAll(o.Dir)); err != nil {
		return err
	}
	if err = ctx.Err(); err != nil {
		return err
	}
	s.Good, s.CPU, s.RSSPeak, s.Sound = result.Verdict.Unique, result.Report.CPUSeconds, result.RSSPeak, result.Sound()
	// Not by the time it took: when the time is up, the exchanges under way are still waited for, and slow ones take half a minute.
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

// complain says what was wrong, if anything was.
func (s *Side) complain(say io.Writer) {
	if s.Verdict != nil && !s.Verdict.Sound() {
		s.Verdict.Print(say)
	}
	if s.Archive != nil && !s.Archive.OK() {
		fmt.Fprintf(say, "archive     %d faults in %d records\n", s.Archive.Faults, s.Archive.Records)
	}
}

// Sound says that nothing at all was wrong with any crawl.
func (r *IsolationResult) Sound() bool {
	return !slices.ContainsFunc(r.Pairs, func(p Pair) bool { return !p.Alone.Sound || !p.Beside.Sound })
}

// Print writes the result for people.
func (r *IsolationResult) Print(out io.Writer) {
	fmt.Fprintf(out, "%d honest hosts, alone and beside %d hostile ones of %d kinds; %v between two requests to a host\n\n", r.Honest, r.Others, r.Cases, seconds(r.Delay))
	fmt.Fprintf(out, "%-8s %12s %12s %8s %10s %10s %12s %12s\n", "", "good pages/s", "good pages/s", "", "CPU s", "CPU s", "peak MiB", "peak MiB")
	fmt.Fprintf(out, "%-8s %12s %12s %8s %10s %10s %12s %12s\n", "pair", "alone", "beside", "ratio", "alone", "beside", "alone", "beside")
	for n, p := range r.Pairs {
		unsound := ""
		if !p.Alone.Sound || !p.Beside.Sound {
			unsound = "  UNSOUND"
		}
		fmt.Fprintf(out, "%-8d %12.1f %12.1f %8.4f %10.1f %10.1f %12.0f %12.0f%s\n", n+1, p.Alone.Rate, p.Beside.Rate, p.Ratio, p.Alone.CPU, p.Beside.CPU,
			float64(p.Alone.RSSPeak)/(1<<20), float64(p.Beside.RSSPeak)/(1<<20), unsound)
	}
	fmt.Fprintf(out, "%-8s %12s %12s %8.4f\n", "median", "", "", r.Ratio)
	if len(r.Pairs) > 0 {
		fmt.Fprintf(out, "\noutcomes of the last crawl beside hostile hosts: %s\n", counts(r.Pairs[len(r.Pairs)-1].Beside.Outcomes))
	}
}

// counts lists what there is, the most first.
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
