package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// ReportCommand is the command report.
type ReportCommand struct {
	Dir   string           `arg:"" exists:"directory" help:"Crawl directory." placeholder:"DIR"`
	Kinds []logreport.Kind `arg:"" optional:"" name:"report" help:"Reports to print whole: hosts, status, mime, depth, hops, seeds, errors, tls, requisites, walls. Without one, the first rows of each." placeholder:"REPORT"`
	Top   int              `help:"Without a report: number of rows of each, those with the largest numbers." default:"10" least:"1" placeholder:"N"`
	Temp  string           `help:"Directory for what does not fit in memory; the default is the system's." placeholder:"DIR"`
	JSON  bool             `help:"Print an object for each row, one a line."`
	HTML  bool             `name:"html" help:"Print one page of HTML with the first rows of all reports, numbers and charts. It needs no other file."`
	URLs  bool             `name:"urls" help:"Of the report requisites, print the URLs alone, as seeds of a crawl that fetches what is missing."`
}

// Help shows examples.
func (*ReportCommand) Help() string {
	return `Prints reports of a crawl, made from its crawl.log. The crawl may run. At the end of a run, "crawl" writes them
to reports/ in the crawl directory, with a page for people: reports/index.html. docs/logs.md describes all columns.

  hosts    URLs, pages, bytes, failures and requests of each host
  status   URLs, responses and bytes of each HTTP status, or of each status of crawl.log without a response
  mime     URLs and bytes of each media type
  depth    URLs, pages and bytes of each number of links from a seed
  hops     URLs, pages, duplicates, client errors and bytes of each kind of last hop: L for links, E for requisites,
           X for strings in scripts and in data. So it says what --speculative brings, and what it costs
  seeds    what became of each seed, and where it redirects
  errors   URLs without a usable answer, for each outcome and host, with an example
  tls      certificates that do not verify, and failed handshakes, for each fault and host
  requisites  images, style sheets, scripts and frames that a page lacks, and why. A requisite of several pages is
              listed with the page where the crawl found it first. Requisites that are queued are not listed
  walls    answers of protection services in place of pages, for each service and host: requests, URLs that ended so,
           and since when how many URLs of the host wait, at the last checkpoint

Examples:
  orbweaver report crawl
  orbweaver report crawl hosts | sort -t"$(printf '\t')" -k2,2nr | head
  orbweaver report crawl seeds | grep -v "$(printf '\tok\t')"
  orbweaver report --html crawl > crawl.html
  orbweaver report --json crawl errors tls | jq -r .example
  orbweaver report crawl requisites | grep "$(printf '\t')quota-requisites"
  orbweaver report --urls crawl requisites | orbweaver crawl --dir patch --max-depth 0 --scope all --seeds -`
}

// Complete returns the names of the reports, which follow the directory.
func (*ReportCommand) Complete(argument int) (words []string) {
	for _, k := range logreport.Kinds() {
		if argument > 0 {
			words = append(words, string(k))
		}
	}
	return words
}

// Check refuses reports that do not exist.
func (c *ReportCommand) Check(*command.Invocation) error {
	for _, k := range c.Kinds {
		if !slices.Contains(logreport.Kinds(), k) {
			return fmt.Errorf("no report %q: there are %v", k, logreport.Kinds())
		}
	}
	if c.HTML && (c.JSON || c.URLs || len(c.Kinds) > 0) {
		return errors.New("--html is a page of all reports: it takes none by name, and neither --json nor --urls")
	}
	if c.URLs && (c.JSON || !slices.Equal(c.Kinds, []logreport.Kind{logreport.Requisites})) {
		return errors.New("--urls is for the report requisites alone, without --json")
	}
	return nil
}

// Run makes the reports and prints them.
func (c *ReportCommand) Run(inv *command.Invocation) (err error) {
	if _, err := inspect.Open(vfs.Disk(), c.Dir); errors.Is(err, fs.ErrNotExist) {
		return command.Misuse(fmt.Errorf("%s holds no crawl", c.Dir))
	} else if err != nil {
		return err
	}
	from, err := logreport.PassBegin(vfs.Disk(), c.Dir)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(c.Temp, "orbweaver-report-")
	if err != nil {
		return fmt.Errorf("--temp: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	kinds := c.Kinds
	if len(kinds) == 0 {
		kinds = logreport.Kinds()
	}
	r, err := logreport.Make(inv.Context, vfs.Disk(), c.Dir, kinds, logreport.Options{
		Temp: vfs.Disk(), TempDir: temp, From: from,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if n := r.DamagedLines; n > 0 {
		fmt.Fprintf(inv.Stderr, "orbweaver: %s of %s cannot be read and %s left out\n", plural.Count(n, "line"),
			layout.LogsDir, plural.Verb(n, "is", "are"))
	}
	if c.HTML {
		return c.printPage(inv, r)
	}
	for i, k := range kinds {
		switch {
		case c.URLs:
			err = printURLs(inv.Context, inv.Stdout, r)
		case c.JSON:
			err = printRows(inv.Context, inv.Stdout, r, k)
		case len(c.Kinds) == 0:
			err = c.printTop(inv.Context, inv.Stdout, r, k)
		default:
			if i > 0 {
				fmt.Fprintln(inv.Stdout)
			}
			err = r.Print(inv.Context, inv.Stdout, k)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printPage prints the page of a crawl that may run.
func (c *ReportCommand) printPage(inv *command.Invocation, r *logreport.Reports) error {
	log := slog.New(slog.NewTextHandler(inv.Stderr, nil))
	p, err := dashboard.MakeReportPage(inv.Context, vfs.Disk(), c.Dir, r, log)
	if err != nil {
		return err
	}
	return p.Write(inv.Stdout)
}

// printRows prints the rows as objects. Numbers are numbers.
func printRows(ctx context.Context, out io.Writer, r *logreport.Reports, k logreport.Kind) error {
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	columns := k.Columns()
	return r.Each(ctx, k, func(row []string) error {
		object := map[string]any{"report": k}
		for i, name := range columns {
			if n, err := strconv.ParseInt(row[i], 10, 64); err == nil {
				object[name] = n
			} else {
				object[name] = row[i]
			}
		}
		return lines.Encode(object)
	})
}

// printURLs prints the requisites of the report. Each has one final line in the log, so each is printed once.
func printURLs(ctx context.Context, out io.Writer, r *logreport.Reports) error {
	column := slices.Index(logreport.Requisites.Columns(), "requisite")
	return r.Each(ctx, logreport.Requisites, func(row []string) error {
		_, err := fmt.Fprintln(out, row[column])
		return err
	})
}

// printTop prints the first part of a report in a table.
func (c *ReportCommand) printTop(ctx context.Context, out io.Writer, r *logreport.Reports, k logreport.Kind) error {
	top, err := r.Top(ctx, k, c.Top)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n", k, plural.Count(top.All, "row"))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{top.Columns}, top.Rows...) {
		for _, text := range row {
			fmt.Fprintf(table, "  %.100s\t", command.PlainText(text))
		}
		fmt.Fprintln(table)
	}
	err = table.Flush()
	if k == logreport.Seeds {
		fmt.Fprintf(out, "  %d of %s %s ok\n", top.Fetched, plural.Count(top.All, "seed"), plural.Verb(top.All, "is", "are"))
	}
	fmt.Fprintln(out)
	return err
}
