package reportpage

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// FileName is the name of the page in the directory of the reports.
const FileName = "index.html"

// Bounds of a page.
const (
	rowsMost = 25 // of each report
	textMost = 200
	pointsOf = 300 // of a chart
)

// Page is what a page shows.
type Page struct {
	Dir    string // of the crawl, for people
	Report report.Report
	Tops   []logreport.Top
	Series history.Series
}

//go:embed page.html
var files embed.FS

// read reads the report and the history of the crawl in dir. The history may be missing.
func read(fsys vfs.FS, dir string, log *slog.Logger) (p Page, err error) {
	p.Dir = dir
	if p.Report, err = report.Read(fsys, dir); err != nil {
		return p, fmt.Errorf("reportpage: %w", err)
	}
	p.Series = seriesOf(fsys, dir, &p.Report, log)
	return p, nil
}

// Make makes the page of the crawl in dir with reports that were made of it. The crawl may run.
func Make(ctx context.Context, fsys vfs.FS, dir string, r *logreport.Reports, log *slog.Logger) (p Page, err error) {
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

// WriteFile writes the page of the crawl in dir beside its reports.
func WriteFile(fsys vfs.FS, dir string, log *slog.Logger) error {
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
	if err := vfs.WriteAtomic(fsys, place+"/"+FileName, p.Write); err != nil {
		return fmt.Errorf("reportpage: %w", err)
	}
	return nil
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	t, err := template.ParseFS(files, "page.html")
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

func (p *Page) view() *view {
	r := &p.Report
	v := &view{
		Style: template.CSS(dashboard.Style()), Name: cut(path.Base(strings.TrimRight(p.Dir, "/"))), State: string(r.State),
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
