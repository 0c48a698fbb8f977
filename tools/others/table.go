//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// print writes what was measured, a table of costs and one of manners for each setting.
func print(out io.Writer, all []result) error {
	printTools(out, all)
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Setting == all[0].Setting {
			n++
		}
		if err := printSetting(out, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func printSetting(out io.Writer, all []result) error {
	s := all[0].Setting
	links := "plain links"
	if s.Odd {
		links = "links written in every way that browsers understand"
	}
	fmt.Fprintf(out, "\n%s: %s, delay %v, %d requests at once where a tool can be told\n\n",
		s.Name, links, s.Delay, s.AtOnce)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tool\tWARC\tMB\tpages\tof\tcoverage\tseconds\tpages/s\tMB/s\tCPU us/page\tpeak MiB\tended\t")
	for _, r := range all {
		if r.Missing != "" {
			continue
		}
		v := &r.Served.Verdict
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%d\t%d\t%.4f\t%.1f\t%.0f\t%.1f\t%.0f\t%.0f\t%s\t\n",
			r.Tool, r.WARC, float64(r.Archive)/1e6, v.Fetched, v.Expected, v.Coverage,
			r.Wall, per(float64(v.Fetched), r.Wall), per(float64(r.Served.Stats.Bytes)/1e6, r.Wall),
			per(r.CPU*1e6, float64(v.Fetched)), float64(r.RSSPeak)/(1<<20), ending(&r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nwhat the servers saw")
	t = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(
		t,
		"tool\tdelay between\trequests\tconnections\trobots.txt\tagainst it\tasked again\tnot linked\t"+
			"at once at a host\tgaps too short\tsmallest gap\t",
	)
	for _, r := range all {
		if r.Missing != "" {
			continue
		}
		v := &r.Served.Verdict
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t\n",
			r.Tool, r.Waits, r.Served.Stats.Requests, r.Served.Stats.Conns, v.RobotsFetches, v.AgainstRobots,
			v.Repeated, v.Unexpected, v.HostAtOnce, v.HostGaps, v.HostGapSmallest)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\narchives, and examples of what is counted above")
	for _, r := range all {
		if r.Verified != "" {
			fmt.Fprintf(out, "  %s: archive: %s\n", r.Tool, r.Verified)
		}
		for _, e := range samples(r.Served.Verdict.Examples) {
			fmt.Fprintf(out, "  %s: %s\n", r.Tool, e)
		}
		if r.Missing != "" {
			fmt.Fprintf(out, "%s is not installed: %s\n", r.Tool, r.Missing)
		}
	}
	return nil
}

// samples returns one example of each kind that is about URLs; a kind is what stands before the colon.
func samples(examples []string) (some []string) {
	for _, kind := range []string{"missing: ", "unexpected: ", "repeated: ", "robots: "} {
		for _, e := range examples {
			if strings.HasPrefix(e, kind) {
				some = append(some, e)
				break
			}
		}
	}
	return some
}

// printTools writes which tools took part, and how they were called in the first round.
func printTools(out io.Writer, all []result) {
	for _, r := range all {
		if r.Setting == all[0].Setting && r.Missing == "" {
			fmt.Fprintf(out, "%s\n  %s\n", r.Version, strings.Join(r.Command, " "))
		}
	}
}

// per is a rate; 0 if it has none.
func per(n, of float64) float64 {
	if of == 0 {
		return 0
	}
	return n / of
}

// ending says how a crawl ended.
func ending(r *result) string {
	switch {
	case r.Cut:
		return "cut"
	case r.End != "":
		return r.End
	}
	return "itself"
}
