package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/report"
)

// printReport ends a crawl: JSON on stdout when asked for, a few lines for people on stderr.
func printReport(w *world, r report.Report, asJSON, quiet bool) error {
	if asJSON {
		return printJSON(w.stdout, r)
	}
	if !quiet {
		writeReport(w.stderr, r)
	}
	return nil
}

// verdict is what a crawl of a simulated web, or a row of them, came to.
type verdict interface {
	Print(out io.Writer)
	Sound() bool
}

var errUnsound = errors.New("something is wrong, see above")

// showResult ends a benchmark, with an error if something is wrong.
func showResult(w *world, r verdict, asJSON bool) error {
	if asJSON {
		if err := printJSON(w.stdout, r); err != nil {
			return err
		}
	} else {
		r.Print(w.stdout)
	}
	if !r.Sound() {
		return errUnsound
	}
	return nil
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// pagesOf is the number of pages that were met, whatever became of them.
func pagesOf(r report.Report) int64 {
	return r.PagesStored + r.RevisitsStored + r.PagesUnchanged + r.PagesNotStored
}

func writeReport(out io.Writer, r report.Report) {
	pages := pagesOf(r)
	fmt.Fprintf(out, "%s: %s\n", r.State, r.Reason)
	if r.Pass > 1 {
		fmt.Fprintf(out, "  pass      %d: %d pages unchanged, beside those that follow\n", r.Pass, r.PagesUnchanged)
	}
	fmt.Fprintf(out, "  pages     %d stored, %d revisits, %d not stored; %.1f pages/s over %v\n", r.PagesStored, r.RevisitsStored,
		r.PagesNotStored, float64(pages)/max(r.WallSeconds, 1e-9), (time.Duration(r.WallSeconds * float64(time.Second))).Round(100*time.Millisecond))
	fmt.Fprintf(out, "  bytes     %s received, %s stored\n", human(r.BytesReceived), human(r.BytesStored))
	fmt.Fprintf(out, "  URLs      %d found, %d admitted, %d fetched, %d queued\n", r.URLsFound, r.URLsAdmitted, r.URLsFetched, r.URLsQueued)
	fmt.Fprintf(out, "  outcomes  %s\n", table(r.Outcomes))
	if len(r.Dropped) > 0 {
		fmt.Fprintf(out, "  dropped   %s\n", table(r.Dropped))
	}
	fmt.Fprintf(out, "  hosts     %d, %d of them put to disk; %d addresses; %d robots.txt fetched\n", r.HostsKnown, r.HostsCold, r.IPsKnown, r.RobotsFetched)
	if p := r.Peers; p != nil {
		fmt.Fprintf(out, "  agents    %d there; %d links sent, %d received, %d waiting; %.2f sent a page, %.2f lead to other hosts\n",
			p.Here(), p.LinksSent, p.LinksReceived, p.Waiting, p.Overhead, p.Lambda)
	}
	if pages > 0 {
		fmt.Fprintf(out, "  cost      %.0f CPU µs per page, peak memory %s\n", r.CPUSeconds*1e6/float64(pages), human(r.RSSPeakBytes))
	}
}

// table writes names and numbers, largest first.
func table(m map[string]int64) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if m[names[i]] != m[names[j]] {
			return m[names[i]] > m[names[j]]
		}
		return names[i] < names[j]
	})
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("%s %d", name, m[name])
	}
	return strings.Join(parts, ", ")
}

// plainText makes what somebody else has written safe for a terminal: one line, no control characters.
func plainText(s string) string {
	for _, r := range s {
		if !strconv.IsPrint(r) {
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}
