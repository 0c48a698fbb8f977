//go:build linux

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// print writes what was measured, a table of costs and one of manners for each setting.
func print(out io.Writer, all []result) error {
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
	fmt.Fprintf(out, "\ndelay %s, %d requests at once where a tool can be told\n\n", s.Name, s.AtOnce)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tool\tWARC\tMB\tpages\tof\tcoverage\tseconds\tpages/s\tCPU us/page\tpeak MiB\tended\t")
	for _, r := range all {
		if r.Missing != "" {
			continue
		}
		v := &r.Served.Verdict
		fmt.Fprintf(t, "%s\t%s\t%.1f\t%d\t%d\t%.4f\t%.1f\t%.0f\t%.0f\t%.0f\t%s\t\n", r.Tool, r.WARC, float64(r.Archive)/1e6, v.Fetched,
			v.Expected, v.Coverage, r.Wall, per(float64(v.Fetched), r.Wall), per(r.CPU*1e6, float64(v.Fetched)),
			float64(r.RSSPeak)/(1<<20), ending(&r))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nwhat the servers saw")
	t = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tool\tdelay between\trequests\tconnections\trobots.txt\tagainst it\tasked again\tnot linked\tat once at a host\tgaps too short\tsmallest gap\t")
	for _, r := range all {
		if r.Missing != "" {
			continue
		}
		v := &r.Served.Verdict
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t\n", r.Tool, r.Waits, r.Served.Stats.Requests, r.Served.Stats.Conns,
			v.RobotsFetches, v.AgainstRobots, v.Repeated, v.Unexpected, v.HostAtOnce, v.HostGaps, v.HostGapSmallest)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, r := range all {
		if r.Missing != "" {
			fmt.Fprintf(out, "%s is not installed: %s\n", r.Tool, r.Missing)
		}
	}
	return nil
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
