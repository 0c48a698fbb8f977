package gossip

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// Result is one simulation.
type Result struct {
	Name string `json:"name"`
	Runs []*Run `json:"runs"`
}

// Run is what groups of one size made of it.
type Run struct {
	Size   int     `json:"size"`   // agents in a group
	Groups int     `json:"groups"` // at a time
	Pace   float64 `json:"pace"`   // times below are as measured, divided by it

	Built    Spread `json:"built"`    // a group, from the first start until all know all
	Death    Spread `json:"death"`    // from a kill until a survivor knows, each survivor by itself
	Agreed   Spread `json:"agreed"`   // from a kill until the last survivor knows
	Return   Spread `json:"return"`   // from a new start of a killed agent until another knows, each by itself
	Welcomed Spread `json:"welcomed"` // from a new start until the last one knows

	False int `json:"false_deaths"` // how often a living agent was missing from a View

	DatagramsPerSecond float64 `json:"datagrams_per_agent_second"` // sent, while nothing happens
	BytesPerSecond     float64 `json:"bytes_per_agent_second"`     // sent, datagrams without headers and streams in both directions
	StreamsPerSecond   float64 `json:"streams_per_agent_second"`
	CPU                float64 `json:"cpu_of_an_agent"` // share of a core, while nothing happens

	Ring Ring `json:"ring"`
}

// Spread is about durations.
type Spread struct {
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean_ns"`
	P50   time.Duration `json:"p50_ns"`
	P99   time.Duration `json:"p99_ns"`
	Worst time.Duration `json:"worst_ns"`
}

func spread(all []time.Duration, pace float64) (s Spread) {
	if len(all) == 0 {
		return s
	}
	slices.Sort(all)
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	s = Spread{Count: len(all), Mean: sum / time.Duration(len(all)), P50: all[len(all)/2], P99: all[(len(all)*99-1)/100], Worst: all[len(all)-1]}
	for _, d := range []*time.Duration{&s.Mean, &s.P50, &s.P99, &s.Worst} {
		*d = time.Duration(float64(*d) / pace)
	}
	return s
}

// Print writes it for people.
func (r *Result) Print(out io.Writer) {
	for i, run := range r.Runs {
		if i > 0 {
			fmt.Fprintln(out)
		}
		run.print(out)
	}
}

func (r *Run) print(out io.Writer) {
	fmt.Fprintf(out, "%d agents a group, groups at a time: %d, pace %g\n", r.Size, r.Groups, r.Pace)
	fmt.Fprintf(out, "%-44s %8s %8s %8s %8s %8s\n", "seconds", "count", "mean", "median", "p99", "worst")
	for _, row := range []struct {
		name string
		s    Spread
	}{
		{"all know all, after the first start", r.Built},
		{"a survivor knows of a kill", r.Death},
		{"the last survivor knows", r.Agreed},
		{"another knows of a return", r.Return},
		{"the last one knows", r.Welcomed},
	} {
		s := row.s
		fmt.Fprintf(out, "%-44s %8d %8.2f %8.2f %8.2f %8.2f\n", row.name, s.Count, s.Mean.Seconds(), s.P50.Seconds(), s.P99.Seconds(), s.Worst.Seconds())
	}
	fmt.Fprintf(out, "%-44s %8d\n", "living agents taken for dead", r.False)
	fmt.Fprintf(out, "%-44s %8.2f datagrams, %.0f bytes, %.3f streams, %.2f %% of a core\n", "an agent sends in a second of quiet", r.DatagramsPerSecond, r.BytesPerSecond,
		r.StreamsPerSecond, r.CPU*100)
	g := &r.Ring
	fmt.Fprintf(out, "%-44s %8.2f %% mean, %.2f %% worst\n", "shares off what capacity promises", g.BalanceMean*100, g.BalanceWorst*100)
	fmt.Fprintf(out, "%-44s %8.4f %% of hosts, its share %.4f %%; between survivors %d\n", "a death moves", g.Moved*100, g.Share*100, g.Strays)
}
