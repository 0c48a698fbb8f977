package dashboard

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// reportPageName is the name of the page in the directory of the reports.
const reportPageName = "index.html"

// Bounds of a page.
const (
	rowsMost = 25 // of each report
	textMost = 200
	pointsOf = 300 // of a chart
)

// ReportPage is what a page shows.
type ReportPage struct {
	Dir    string // of the crawl, for people
	Report report.Report
	Tops   []logreport.Top
	Series history.Series
}

//go:embed reportpage.html
var reportFiles embed.FS

// read reads the report and the history of the crawl in dir. The history may be missing.
func read(fsys vfs.FS, dir string, log *slog.Logger) (p ReportPage, err error) {
	p.Dir = dir
	if p.Report, err = report.Read(fsys, dir); err != nil {
		return p, fmt.Errorf("reportpage: %w", err)
	}
	p.Series = seriesOf(fsys, dir, &p.Report, log)
	return p, nil
}

// MakeReportPage makes the page of the crawl in dir with reports that were made of it. The crawl may run.
func MakeReportPage(
	ctx context.Context, fsys vfs.FS, dir string, r *logreport.Reports, log *slog.Logger,
) (p ReportPage, err error) {
	if p, err = read(fsys, dir, log); err != nil {
		return p, err
	}
	for _, k := range logreport.Kinds() {
		top, err := r.Top(ctx, k, rowsMost)
		if err != nil {
			return p, fmt.Errorf("reportpage: %w", err)
		}
		p.Tops = append(p.Tops, top)
	}
	return p, nil
}

// seriesOf returns the numbers of the crawl over time.
func seriesOf(fsys vfs.FS, dir string, r *report.Report, log *slog.Logger) history.Series {
	ended, err := time.Parse(time.RFC3339, r.Written)
	if err != nil {
		ended = time.Now()
	}
	return history.Open(history.Options{
		FS: fsys, File: path.Join(dir, layout.HistoryFile), Log: log, Ended: ended,
	}).QueryAll(pointsOf)
}

// WriteReportPage writes the page of the crawl in dir beside its reports.
func WriteReportPage(fsys vfs.FS, dir string, log *slog.Logger) error {
	p, err := read(fsys, dir, log)
	if err != nil {
		return err
	}
	if p.Tops, err = logreport.ReadTops(fsys, dir, rowsMost); err != nil {
		return fmt.Errorf("reportpage: %w", err)
	}
	place := dir + "/" + layout.ReportsDir
	if err := fsys.MkdirAll(place); err != nil {
		return fmt.Errorf("reportpage: %w", err)
	}
	if err := vfs.WriteAtomic(fsys, place+"/"+reportPageName, p.Write); err != nil {
		return fmt.Errorf("reportpage: %w", err)
	}
	return nil
}

// Write writes the page.
func (p *ReportPage) Write(w io.Writer) error {
	t, err := template.ParseFS(reportFiles, "reportpage.html")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p.view()); err != nil {
		return fmt.Errorf("reportpage: %w", err)
	}
	_, err = b.WriteTo(w)
	return err
}

// view is what the template shows.
type view struct {
	Style   template.CSS
	Name    string
	State   string
	End     string
	Figures []fact
	Facts   []fact
	URLs    []fact
	Charts  []chart
	Tables  []reportTable
	Next    []fact
}

// fact is a value with its name.
type fact struct{ Name, Value string }

func (p *ReportPage) view() *view {
	r := &p.Report
	v := &view{
		Style: template.CSS(Style()), Name: cut(path.Base(strings.TrimRight(p.Dir, "/"))), State: string(r.State),
		End: endOf(r), Charts: chartsOf(&p.Series),
	}
	v.Figures = []fact{
		{"Pages stored", plural.Number(r.PagesStored - r.RequisitesStored)},
		{"Page requisites", plural.Number(r.RequisitesStored)},
		{"Revisits", plural.Number(r.RevisitsStored)},
		{"Received", plural.Bytes(r.BytesReceived)},
		{"Archive", plural.Bytes(r.BytesStored)},
		{"Hosts", plural.Number(r.HostsKnown)},
	}
	took := (time.Duration(r.WallSeconds) * time.Second).String()
	v.Facts = []fact{
		{"Directory", cut(p.Dir)}, {"Last run began", readable(r.Started)}, {"This report", readable(r.Written)},
		{"All runs took", took}, {"Pass", strconv.Itoa(r.Pass)}, {"Resumed", strconv.Itoa(r.Resumed)},
		{"Scope", cut(r.Scope)}, {"Limits", limitsOf(r)}, {"Made by", "orbweaver " + r.Version},
	}
	v.URLs = []fact{
		{"Found", plural.Number(r.URLsFound)}, {"Admitted", plural.Number(r.URLsAdmitted)},
		{"Fetched", plural.Number(r.URLsFetched)}, {"Denied by robots.txt", plural.Number(r.RobotsDenied)},
		{"Queued", plural.Number(r.URLsQueued)},
	}
	for i := range p.Tops {
		if p.Tops[i].All > 0 {
			v.Tables = append(v.Tables, tableOf(&p.Tops[i]))
		}
	}
	dir := cut(p.Dir)
	v.Next = []fact{
		{"See its pages", "orbweaver view " + dir}, {"Check the archive", "orbweaver fsck " + dir},
		{"Whole reports", "orbweaver report " + dir + " hosts"},
	}
	return v
}

// endOf says in which state the crawl is, and why.
func endOf(r *report.Report) string {
	said := strings.ToUpper(string(r.State)[:min(1, len(r.State))]) + string(r.State)[min(1, len(r.State)):]
	if r.Reason != "" && r.Reason != string(r.State) {
		said += ": " + cut(r.Reason)
	}
	if n := r.URLsQueued; n > 0 {
		said += fmt.Sprintf("; %s %s queued", plural.Count(n, "URL"), plural.Verb(n, "is", "are"))
	}
	return said
}

// limitsOf names the limits of a crawl.
func limitsOf(r *report.Report) string {
	var all []string
	if n := r.Limits.MaxPages; n > 0 {
		all = append(all, plural.Count(n, "page"))
	}
	if s := r.Limits.MaxTime; s > 0 {
		all = append(all, (time.Duration(s) * time.Second).String())
	}
	if date := r.Limits.MaxDate; !date.IsZero() {
		all = append(all, "until "+date.Format(time.RFC3339))
	}
	if n := r.Limits.MaxDisk; n > 0 {
		all = append(all, plural.Bytes(n)+" of disk")
	}
	if n := r.Limits.MaxDepth; n >= 0 {
		all = append(all, plural.Count(n, "link")+" from a seed")
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

// readable writes a time of a report for people.
func readable(timestamp string) string {
	return strings.TrimSuffix(strings.Replace(timestamp, "T", " ", 1), "Z") + " UTC"
}

// cut shortens a text.
func cut(text string) string {
	if len(text) <= textMost {
		return text
	}
	return strings.ToValidUTF8(text[:textMost], "") + "…"
}

// reportTable is the first part of a report, for people.
type reportTable struct {
	Title   string
	Columns []column
	Rows    [][]string
	Note    string
	File    string // with all rows
}

type column struct {
	Title    string
	IsNumber bool
	name     string
}

// titleOf is the heading of a report.
func titleOf(k logreport.Kind) string {
	switch k {
	case logreport.Hosts:
		return "Hosts"
	case logreport.Status:
		return "Status codes"
	case logreport.Types:
		return "Media types"
	case logreport.Depth:
		return "Links from a seed"
	case logreport.Hops:
		return "How URLs were found"
	case logreport.Seeds:
		return "Seeds that were not fetched"
	case logreport.Errors:
		return "URLs without a usable answer"
	case logreport.TLS:
		return "Faults of certificates and TLS"
	case logreport.Requisites:
		return "Images, style sheets and scripts that pages lack"
	default:
		return string(k)
	}
}

func tableOf(top *logreport.Top) reportTable {
	t := reportTable{Title: titleOf(top.Kind), File: string(top.Kind) + ".tsv"}
	for i, name := range top.Columns {
		title := strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "urls", "URLs")
		isNumber := top.Kind != logreport.Seeds && i >= top.FirstNumber && name != "example"
		t.Columns = append(t.Columns, column{strings.ToUpper(title[:1]) + title[1:], isNumber, name})
	}
	hasShare := top.Sum > 0 && top.Kind != logreport.Requisites && top.Kind != logreport.TLS
	if hasShare {
		t.Columns = slices.Insert(t.Columns, top.FirstNumber+1, column{"Share", true, "share"})
	}
	rows := slices.Clone(top.Rows)
	if top.Kind == logreport.Depth {
		slices.SortStableFunc(rows, func(a, b []string) int { return int(number(a[0]) - number(b[0])) })
	}
	for _, row := range rows {
		cells := slices.Clone(row)
		if hasShare {
			share := 100 * float64(number(row[top.FirstNumber])) / float64(top.Sum)
			cells = slices.Insert(cells, top.FirstNumber+1, fmt.Sprintf("%.1f %%", share))
		}
		for i := range cells {
			cells[i] = t.Columns[i].text(cells[i])
		}
		t.Rows = append(t.Rows, cells)
	}
	switch {
	case top.Kind == logreport.Seeds:
		t.Note = fmt.Sprintf("%s of %s %s fetched.", plural.Number(top.Fetched), plural.Count(top.All, "seed"),
			plural.Verb(top.All, "was", "were"))
	case top.All > len(top.Rows):
		t.Note = fmt.Sprintf("The first %d of %s.", len(top.Rows), plural.Count(top.All, "row"))
	}
	return t
}

// text is a field of a report, for people.
func (c *column) text(field string) string {
	switch {
	case c.name == "share":
		return field
	case c.name == "bytes":
		return plural.Bytes(number(field))
	case c.IsNumber:
		return plural.Number(number(field))
	case field == "-":
		return ""
	case c.name == "status" && number(field) < 1:
		return "no response (" + field + ")"
	default:
		return cut(field)
	}
}

func number(field string) int64 {
	n, _ := strconv.ParseInt(field, 10, 64)
	return n
}

// chart is a line over time, drawn as a path.
type chart struct {
	Title, Most   string
	Top, Half     string // of the axis
	From, To      string
	Line, Area    string
	Width, Height int
}

const (
	chartWidth  = 360
	chartHeight = 96
)

// chartsOf draws what is known of a crawl over time; nothing if that is nothing.
func chartsOf(s *history.Series) (charts []chart) {
	count := func(v float64) string {
		if v < 10 && v != math.Trunc(v) {
			return fmt.Sprintf("%.1f", v)
		}
		return plural.Number(int64(v))
	}
	rate := func(v float64) string { return plural.Bytes(int64(v)) + "/s" }
	for _, c := range []struct {
		title, name string
		form        func(float64) string
		base        float64
	}{
		{"Pages a second", "pages_per_second", count, 1000},
		{"Received", "received_bytes_per_second", rate, 1024},
		{"URLs queued", "urls_queued", count, 1000},
	} {
		points, most := s.Series[c.name], math.Inf(-1)
		for _, p := range points {
			if !math.IsNaN(float64(p)) {
				most = max(most, float64(p))
			}
		}
		if math.IsInf(most, -1) {
			continue
		}
		top := roundUp(most, c.base)
		line, area := paths(points, top)
		charts = append(charts, chart{
			Title: c.title, Most: "at most " + c.form(most), Top: c.form(top), Half: c.form(top / 2),
			From: momentOf(s.From), To: momentOf(s.From + s.Step*int64(len(points)-1)), Line: line, Area: area,
			Width: chartWidth, Height: chartHeight,
		})
	}
	return charts
}

func momentOf(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04") }

// roundUp returns a number for the top of an axis, at least 1. base is that of the units: 1,000, or 1,024 for bytes.
func roundUp(n, base float64) float64 {
	unit := 1.0
	for base == 1024 && n >= unit*1000 {
		unit *= 1024
	}
	for n > unit*10 {
		unit *= 10
	}
	for _, m := range []float64{1, 2, 4, 6, 8} {
		if m*unit >= n {
			return m * unit
		}
	}
	return 10 * unit
}

// paths draws points as a line and as the area below it. Points that are not known leave a gap.
func paths(points history.Points, top float64) (line, area string) {
	var l, a strings.Builder
	x := func(i int) float64 { return float64(i) / float64(max(len(points)-1, 1)) * chartWidth }
	isOpen, first := false, 0.0
	end := func(i int) {
		if isOpen {
			fmt.Fprintf(&a, "L%.1f %dL%.1f %dZ", x(i-1), chartHeight, first, chartHeight)
		}
		isOpen = false
	}
	for i, p := range points {
		if math.IsNaN(float64(p)) {
			end(i)
			continue
		}
		step := byte('L')
		if !isOpen {
			step, first, isOpen = 'M', x(i), true
		}
		at := fmt.Sprintf("%c%.1f %.1f", step, x(i), chartHeight-float64(p)/top*chartHeight)
		l.WriteString(at)
		a.WriteString(at)
	}
	end(len(points))
	return l.String(), a.String()
}
