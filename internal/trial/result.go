package trial

import (
	"orbweaver/derive/quality"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simweb/judge"
	"orbweaver/warc"
)

// Result is what a crawl cost and found.
type Result struct {
	Name           string        `json:"name"`
	Pages          int64         `json:"pages"`
	PagesPerSecond float64       `json:"pages_per_second"`
	CPUPerPage     float64       `json:"cpu_us_per_page"`
	BytesReceived  int64         `json:"bytes_received"`
	BytesStored    int64         `json:"bytes_stored"`
	RSSPeak        int64         `json:"rss_peak_bytes"`
	WallSeconds    float64       `json:"wall_seconds"`
	Level          int           `json:"gzip_level"`
	Opening        Opening       `json:"opening"`
	Garbage        Garbage       `json:"garbage"`
	Report         report.Report `json:"report"`
	Archive        *warc.Report  `json:"archive,omitempty"`

	*Judged // of the simulated web
}

// Opening is what opening the crawl directory cost.
type Opening struct {
	Seconds float64        `json:"seconds"`
	CPU     float64        `json:"cpu_seconds"`
	Parts   engine.Opening `json:"parts"`
}

// Judged is what the simulated web measured and the judge found.
type Judged struct {
	WebCPUPerPage   float64        `json:"web_cpu_us_per_page"`
	Coverage        float64        `json:"coverage"`
	Overlap         float64        `json:"overlap"`
	BytesText       int64          `json:"bytes_text,omitempty"`   // of compressed pages, uncompressed
	BytesCompressed int64          `json:"bytes_packed,omitempty"` // of the same pages, as sent
	Verdict         *judge.Verdict `json:"verdict"`

	// Quality is the order of requests; nil of a partial crawl.
	Quality *quality.Report `json:"quality,omitempty"`
}

// measure fills in what the engine reports. before is the number of pages of earlier runs.
func (r *Result) measure(report *report.Report, garbage Garbage, before int64) {
	r.Report, r.Garbage, r.Pages = *report, garbage, Pages(report)
	r.Garbage.Pages = r.Pages - before
	r.PagesPerSecond = float64(r.Pages) / max(report.WallSeconds, 1e-9)
	r.CPUPerPage = report.CPUSeconds * 1e6 / float64(max(r.Pages, 1))
	r.BytesReceived, r.BytesStored = report.BytesReceived, report.BytesStored
	r.RSSPeak, r.WallSeconds = report.RSSPeakBytes, report.WallSeconds
}

// Sound reports whether nothing is wrong with the archive and the judge found no fault.
func (r *Result) Sound() bool {
	return (r.Judged == nil || r.Verdict != nil && r.Verdict.Sound()) && (r.Archive == nil || r.Archive.OK())
}
