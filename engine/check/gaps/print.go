package gaps

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/plural"
)

// Print writes the report for people.
func (r *Report) Print(out io.Writer) {
	fmt.Fprintf(out, "%s with a record in %s", plural.Count(r.Exchanges, "request"), plural.Count(r.Files, "file"))
	if r.Exchanges > 0 {
		fmt.Fprintf(out, ", from %s to %s", r.First.Format(time.RFC3339), r.Last.Format(time.RFC3339))
	}
	fmt.Fprintf(out, "; %s of a robots.txt\n", plural.Count(r.RobotsFiles, "answer"))
	for _, s := range r.Stated {
		s.print(out)
	}
	if len(r.Stated) == 0 {
		fmt.Fprintln(out, "stated: nothing; no file has a warcinfo record")
	}
	r.Sites.print(out, "sites")
	r.Addresses.print(out, "addresses")
	r.notes(out)
	fmt.Fprintln(out)
	switch r.Verdict {
	case Violated:
		fmt.Fprintf(out, "VIOLATED: %s of sites and %s of addresses are shorter than the delay that was in force\n",
			plural.Count(r.Sites.Violated, "gap"), plural.Number(r.Addresses.Violated))
	case NotProved:
		fmt.Fprintln(out, r.notProved())
	case Kept:
		fmt.Fprintln(out, "KEPT: no gap is shorter than the delay that was in force")
	}
}

// notProved says what is not proved, and that it is no sign of a fault.
func (r *Report) notProved() string {
	isOnlyHidden := r.WithoutAddr > 0 && r.Sites.NotProvable+r.Addresses.NotProvable+r.Undated+r.DamagedPlaces == 0
	isProxy := slices.ContainsFunc(r.Stated, func(s Stated) bool { return s.Proxy })
	switch {
	case isOnlyHidden && isProxy:
		return "KEPT for sites: no gap of a site is shorter than its delay. NOT PROVED for addresses: the proxy of the " +
			"crawl hides the addresses of servers. That is no sign of a fault; a crawl without a proxy proves both"
	case isOnlyHidden:
		return "KEPT for sites: no gap of a site is shorter than its delay. NOT PROVED for addresses: " +
			"some records have no address. That is no sign of a fault"
	default:
		return "NOT PROVED: no gap is too short, but the archive does not prove all of them. That is no sign of a fault: " +
			"the lines above say why"
	}
}

func (s *Stated) print(out io.Writer) {
	fmt.Fprintf(
		out, "stated: host-delay %s, ip-delay %s, Crawl-delay up to %s, Retry-After up to %s, IPv6 addresses by /%d",
		delayText(s.HostDelay), delayText(s.IPDelay), delayText(s.CrawlDelayMax), delayText(s.RetryAfterMax), s.IPv6Prefix,
	)
	if s.Proxy {
		fmt.Fprint(out, ", through a proxy")
	}
	fmt.Fprintln(out)
}

func delayText(seconds float64) string {
	if seconds < 0 {
		return "unknown"
	}
	return secondsText(seconds)
}

// secondsText is a time with three decimals, or in a larger unit.
func secondsText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d.Abs() < time.Minute {
		return fmt.Sprintf("%.3fs", seconds)
	}
	return d.Round(time.Second).String()
}

// explained says of each reason what it means.
func explained(why Reason) string {
	switch why {
	case NoDuration:
		return "the archive does not say how long the request before took"
	case NoDelay:
		return "no delay is stated: give --host-delay and --ip-delay"
	case NoCrawlDelay:
		return "robots.txt redirects to what is not in the archive"
	case Unrecorded:
		return "it ends at a request without a record, whose start is not known"
	case FirstOfRun:
		return "the first request of a run to its site: one that was under way at the stop may have no record"
	case NotStated:
		return "the record does not say whether a request without a record came before"
	case Imprecise:
		return "dates without a fraction of a second, or clocks of two directories"
	}
	return ""
}

func (g *Gaps) print(out io.Writer, what string) {
	if g.Keys == 0 {
		return
	}
	fmt.Fprintf(
		out, "\n%s: %d, with %d gaps: %d kept, %d not provable, %d violated", what, g.Keys, g.Gaps, g.Kept, g.NotProvable,
		g.Violated,
	)
	if g.Offenders > 0 {
		fmt.Fprintf(out, " by %d of them", g.Offenders)
	}
	fmt.Fprintln(out)
	for _, why := range slices.Sorted(maps.Keys(g.Reasons)) {
		fmt.Fprintf(out, "  not provable: %d: %s (%s)\n", g.Reasons[why], explained(why), why)
	}
	if g.Measured > 0 {
		g.printSizes(out)
	}
	for i := range g.Worst {
		g.Worst[i].print(out)
	}
}

// printSizes prints the distribution.
func (g *Gaps) printSizes(out io.Writer) {
	p := &g.Percentiles
	fmt.Fprintf(
		out, "  least %s, 1 %% %s, 10 %% %s, median %s, 90 %% %s, 99 %% %s, most %s\n", secondsText(g.Least),
		secondsText(p.P01), secondsText(p.P10), secondsText(p.P50), secondsText(p.P90), secondsText(p.P99),
		secondsText(g.Most),
	)
	g.printHistogram(out)
}

const barWidth = 40

func (g *Gaps) printHistogram(out io.Writer) {
	largest := int64(1)
	for _, r := range g.Histogram {
		largest = max(largest, r.Count)
	}
	for i, r := range g.Histogram {
		if r.Count == 0 {
			continue
		}
		label := "and more"
		switch {
		case i == 0:
			label = "overlap"
		case i < len(g.Histogram)-1:
			label = "below " + secondsText(r.Below)
		}
		bar := strings.Repeat("#", int((r.Count*barWidth+largest-1)/largest))
		fmt.Fprintf(out, "  %-14s %12d %s\n", label, r.Count, bar)
	}
}

func (g *Gap) print(out io.Writer) {
	if !g.Violated {
		fmt.Fprintf(out, "  closest: %.200s waited %.6fs; %.6fs required (%s)\n", g.Of, g.Seconds, g.Required, g.Rule)
		return
	}
	fmt.Fprintf(out, "  VIOLATED: %.200s waited %.6fs; %.6fs required (%s)", g.Of, g.Seconds, g.Required, g.Rule)
	if g.Count > 1 {
		fmt.Fprintf(out, "; the worst of %d", g.Count)
	}
	fmt.Fprintln(out)
	g.Earlier.print(out, "earlier")
	g.Later.print(out, "later")
}

func (n *Named) print(out io.Writer, which string) {
	if n.ID == "" {
		fmt.Fprintf(out, "    %-8s a request without a record\n", which)
		return
	}
	fmt.Fprintf(out, "    %-8s %s %s %.200s\n", which, n.Date.Format(time.RFC3339Nano), n.ID, n.URL)
	fmt.Fprintf(out, "    %-8s %s at %d\n", "", n.File, n.Offset)
}

// notes says what the archive cannot show.
func (r *Report) notes(out io.Writer) {
	note := func(n int64, text string) {
		if n > 0 {
			fmt.Fprintf(out, "note: %d %s\n", n, text)
		}
	}
	fmt.Fprintln(out)
	note(max(r.Sites.Unrecorded, r.Addresses.Unrecorded),
		"requests at least have no record: they got no answer, or it was not stored")
	note(r.WithoutAddr, "requests have no address of a server: their gaps by address are not judged")
	note(r.Undated, "captures without a valid date or URL are not judged")
	note(r.DamagedPlaces, "places of the files are damaged; what was there is not judged")
}
