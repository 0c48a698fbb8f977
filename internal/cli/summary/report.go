package summary

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/console"
	"orbweaver/internal/plural"
)

// PrintReport ends a crawl in a directory: JSON on stdout when asked for, a few lines for people on stderr.
func PrintReport(inv *command.Invocation, dir string, r report.Report, asJSON, quiet bool) error {
	if asJSON {
		return command.PrintJSON(inv.Stdout, r)
	}
	if quiet {
		return nil
	}
	WriteReport(inv.Stderr, dir, r)
	if r.PagesStored+r.RevisitsStored > 0 {
		fmt.Fprintf(inv.Stderr, "  result    %s/warc has the archive; 'orbweaver report %s' lists hosts, errors and seeds\n",
			dir, dir)
	}
	return nil
}

// pagesOf is the number of pages that were met, whatever became of them.
func pagesOf(r report.Report) int64 {
	return r.PagesStored + r.RevisitsStored + r.PagesUnchanged + r.PagesNotStored
}

// DocumentsOf is the number of stored pages without page requisites: what --max-pages counts.
func DocumentsOf(r report.Report) int64 {
	return r.PagesStored + r.RevisitsStored + r.PagesUnchanged - r.RequisitesStored - r.RequisitesRevisited
}

// requisites says how many page requisites are stored beside the pages; "" for none.
func requisites(r report.Report) string {
	if r.RequisitesStored == 0 {
		return ""
	}
	return plural.Count(r.RequisitesStored, "requisite") + ", "
}

// WriteReport writes a report as lines of text. The directory of the crawl is "" if it is not known.
func WriteReport(out io.Writer, dir string, r report.Report) {
	pages := pagesOf(r)
	fmt.Fprintln(out, console.Paint(out, colourOf(r.State), headline(dir, r)))
	if r.Pass > 1 {
		fmt.Fprintf(out, "  pass      %d: %s unchanged, which are not in the next line\n", r.Pass,
			plural.Count(r.PagesUnchanged, "page"))
	}
	fmt.Fprintf(
		out, "  pages     %s stored, %s%s, %s not stored; %.1f pages/s over %v\n",
		plural.Number(r.PagesStored-r.RequisitesStored), requisites(r), plural.Count(r.RevisitsStored, "revisit"),
		plural.Number(r.PagesNotStored),
		float64(pages)/max(r.WallSeconds, 1e-9),
		(time.Duration(r.WallSeconds * float64(time.Second))).Round(100*time.Millisecond),
	)
	underWay := ""
	if r.BytesUnderWay > 0 {
		underWay = fmt.Sprintf(" and %s of responses under way", plural.Bytes(r.BytesUnderWay))
	}
	ofAll := ""
	if r.Pass > 1 {
		ofAll = " by all passes"
	}
	fmt.Fprintf(out, "  bytes     %s received%s, %s stored%s\n", plural.Bytes(r.BytesReceived), underWay,
		plural.Bytes(r.BytesStored), ofAll)
	fmt.Fprintf(
		out, "  URLs      %s found, %s admitted, %s finished, %s queued\n", plural.Number(r.URLsFound),
		plural.Number(r.URLsAdmitted), plural.Number(r.URLsFetched), plural.Number(r.URLsQueued),
	)
	if more := lifecycle.HowToGoOn(r.Reason, r.URLsQueued+r.SievePending); more != "" {
		fmt.Fprintf(out, "  limit     %s\n", more)
	}
	fmt.Fprintf(out, "  outcomes  %s\n", table(r.Outcomes))
	if len(r.Stats) > 0 {
		fmt.Fprintf(out, "  stats     %s\n", r.StatsLine())
	}
	if line := r.TruncatedLine(dir); line != "" {
		fmt.Fprintf(out, "  truncated %s\n", line)
	}
	writeListed(out, dir, &r)
	if len(r.Dropped) > 0 {
		fmt.Fprintf(out, "  dropped   %s\n", droppedLinks(r.Dropped))
	}
	if n := r.Dropped["scope"]; n > 0 && n >= r.URLsFound/scopeShare {
		fmt.Fprintf(out, "  scope     %s of %s lead outside the crawl (--scope %s); --scope all follows them all\n",
			plural.Number(n), plural.Count(r.URLsFound, "link"), r.Scope)
	}
	fmt.Fprintf(
		out, "  hosts     %s (%s on disk), %s, %s\n", plural.Number(r.HostsKnown), plural.Number(r.HostsCold),
		plural.Count(r.IPsKnown, "IP address"),
		plural.Count(r.RobotsFetched, "robots.txt request"),
	)
	if p := r.Cluster; p != nil {
		fmt.Fprintf(
			out, "  agents    %d there; %s sent, %d received, %d waiting; %.2f sent a page, %.2f lead to other hosts\n",
			p.Here(), plural.Count(p.LinksSent, "link"), p.LinksReceived, p.URLsWaiting, p.Overhead, p.Lambda,
		)
	}
	if pages > 0 {
		fmt.Fprintf(
			out, "  cost      %.0f CPU µs per page, peak memory %s\n", r.CPUSeconds*1e6/float64(pages),
			plural.Bytes(r.RSSPeakBytes),
		)
	}
}

// writeListed writes the lines of what a report of its own lists, each with the command.
func writeListed(out io.Writer, dir string, r *report.Report) {
	if dir == "" {
		dir = "DIR"
	}
	if n := r.BadCertificates; n > 0 {
		faults := ""
		if len(r.CertificateFaults) > 0 {
			faults = " (" + table(r.CertificateFaults) + ")"
			if r.Resumed > 0 {
				faults = " (in this run: " + table(r.CertificateFaults) + ")"
			}
		}
		fmt.Fprintf(out, "  tls       %s came with a certificate that does not verify%s; to list them: "+
			"orbweaver report %s tls\n", plural.Count(n, "answer"), faults, dir)
	}
	if len(r.HTTP2Probes) > 0 {
		fmt.Fprintf(out, "  http/2    sites asked again over it: %s\n", table(r.HTTP2Probes))
	}
	if len(r.Skipped) > 0 {
		fmt.Fprintf(out, "  skipped   %s; to list them: orbweaver skipped %s\n", table(r.Skipped), dir)
	}
}

// colourOf is the colour of a state.
func colourOf(s lifecycle.State) console.Colour {
	switch s {
	case lifecycle.Finished, lifecycle.Running:
		return console.Green
	case lifecycle.Failed:
		return console.Red
	default:
		return console.Yellow
	}
}

// headline is the state of a crawl and its reason.
func headline(dir string, r report.Report) string {
	switch r.Reason {
	case "":
		return string(r.State)
	case lifecycle.ReasonSignal:
		said := string(r.State) + ": by a signal or the operator"
		if dir != "" {
			said += "; resume with: orbweaver crawl --dir " + dir
		}
		return said
	default:
		if r.State == lifecycle.Failed {
			return string(r.State) + ": " + r.Reason + "; the same command tries again"
		}
		return string(r.State) + ": " + r.Reason
	}
}

// scopeShare: links outside the scope have a line of their own if they are at least one in so many.
const scopeShare = 20

// droppedWords says for people why links were dropped, by their names in report.json.
func droppedWords() map[string]string {
	return map[string]string{
		"seen-cache": "duplicate links", "seen-sieve": "duplicate links", "scope": "out of scope",
		"scheme": "not http(s)", "syntax": "not URLs", "too-long": "longer than --max-url", "depth": "beyond --max-depth",
		"near-duplicate": "of near-duplicates",
		"follow":         "refused by --follow", "path-loop": "with repeated folders",
		"links-per-page":      "beyond the links taken from one page",
		"link-bytes-per-page": "beyond the link bytes of one page",
	}
}

// droppedLinks writes how many links were dropped and why, the largest number first.
func droppedLinks(dropped map[string]int64) string {
	sums, known := make(map[string]int64), droppedWords()
	for name, n := range dropped {
		words, ok := known[name]
		if !ok {
			words = name
		}
		sums[words] += n
	}
	return join(sums, func(words string, n int64) string { return plural.Number(n) + " " + words })
}

// table writes names and numbers, largest first.
func table(m map[string]int64) string {
	return join(m, func(name string, n int64) string { return name + " " + plural.Number(n) })
}

// join writes the entries of a map, the largest number first.
func join(m map[string]int64, write func(name string, n int64) string) string {
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
		parts[i] = write(name, m[name])
	}
	return strings.Join(parts, ", ")
}
