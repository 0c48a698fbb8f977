package dashboard

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

const markup = "<script>alert(1)</script>"

// crawlOf makes the directory of a crawl that has ended, with the lines of its log.
func crawlOf(t *testing.T, lines []string, seeds ...string) vfs.FS {
	t.Helper()
	fsys := vfs.NewMem(1)
	for name, text := range map[string][]string{"crawl/logs/crawl.log": lines, "crawl/frontier/seeds": seeds} {
		if err := fsys.MkdirAll(name[:strings.LastIndex(name, "/")]); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteAll(t, fsys, name, []byte(strings.Join(text, "\n")+"\n"))
	}
	r := report.Report{
		State: lifecycle.Finished, Reason: "complete", Written: "2026-01-02T03:04:05Z", WallSeconds: 60, URLsQueued: 3,
		BytesStored: 5 << 30, Scope: markup, Pass: 1,
	}
	r.PagesStored, r.RequisitesStored = 1234567, 67
	if err := report.Write(fsys, "crawl", r); err != nil {
		t.Fatal(err)
	}
	if err := logreport.Write(t.Context(), fsys, "crawl", logreport.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteReportPage(fsys, "crawl", slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return fsys
}

// pageOf reads the page beside the reports.
func pageOf(t *testing.T, fsys vfs.FS) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, "crawl/reports/index.html")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// At the end of a run the page has the numbers of the report, the seeds without a page, and the first rows of the
// reports. What servers wrote is text. The page names no other file but those beside it.
func TestPage_showsTheReportsOfACrawl(t *testing.T) {
	page := pageOf(t, crawlOf(t, []string{
		"T:01   200        2048 http://a.test/" + markup + " - - text/html #001 2026+10 - - ok",
		"T:02    -1          - http://no.test/ - - unknown #000 - - - name-not-found",
	}, "http://a.test/"+markup, "http://no.test/"))
	for _, want := range []string{
		"Finished: complete; 3 URLs are queued", "1,234,500", "5.0 GiB", "orbweaver view crawl",
		"http://no.test/", "name-not-found", "1 of 2 seeds were fetched.", "100.0 %", "2 KiB", `href="errors.tsv"`,
		"no response (-1)", "&lt;script&gt;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	for _, bad := range []string{markup, "src=", "url(", "<script", "@import"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if i := strings.Index(page, "//"); i >= 0 && !strings.HasPrefix(page[i-5:], "http://") {
		t.Errorf("the page has %.40q", page[i-5:])
	}
}

// The page of a crawl with very many long addresses is small, too.
func TestPage_isSmallWhateverTheCrawl(t *testing.T) {
	var lines, seeds []string
	for i := range 300 {
		seed := fmt.Sprintf("http://h%d.test/%s", i, strings.Repeat("&", 8000))
		const form = "T:01   404        20 %s E %s text/x%d #001 2026+10 - - client-error"
		lines = append(lines, fmt.Sprintf(form, seed, seed, i))
		seeds = append(seeds, seed)
	}
	if page := pageOf(t, crawlOf(t, lines, seeds...)); len(page) > 300<<10 {
		t.Errorf("%d bytes", len(page))
	}
}

// A line over time has gaps where nothing is known, and an axis with round numbers.
func TestChart_hasGapsAndARoundAxis(t *testing.T) {
	nan := float32(math.NaN())
	charts := chartsOf(&history.Series{Step: 10, From: 0, Series: map[string]history.Points{
		"urls_queued": {10, 30, nan, 37}, "pages_per_second": {nan, nan}, "received_bytes_per_second": {0, 583680},
	}})
	if len(charts) != 2 {
		t.Fatalf("%d charts", len(charts))
	}
	if c := charts[0]; c.Top != "600 KiB/s" || c.Half != "300 KiB/s" || c.Most != "at most 570 KiB/s" {
		t.Errorf("%+v", c)
	}
	c := charts[1]
	if c.Top != "40" || c.Line != "M0.0 72.0L120.0 24.0M360.0 7.2" || strings.Count(c.Area, "Z") != 2 {
		t.Errorf("%+v", c)
	}
	var b bytes.Buffer
	if err := (&ReportPage{Report: report.Report{}, Series: history.Series{}}).Write(&b); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}
