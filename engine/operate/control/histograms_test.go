package control

import (
	"strings"
	"testing"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/counters"
)

// measured is a crawl with some values in its histograms.
type measured struct{ *fake }

func (measured) Report() (r report.Report) {
	d := new(counters.Distributions)
	d.FirstByte.Observe(0, 20*time.Millisecond)
	d.FirstByte.Observe(1, 3*time.Second)
	d.BodySize.Observe(2, 1000)
	r.Version, r.Distributions = "1.2.3", d
	return r
}

// Histograms have cumulative counts by upper bound, in seconds or bytes, and the labels that their fields declare. The
// version is a label of build_info.
func TestMetrics_histogramsAndBuildInfo(t *testing.T) {
	text := get(t, measured{new(fake)}, "/metrics")
	for _, want := range []string{
		"# TYPE orbweaver_fetch_phase_seconds histogram\n",
		`orbweaver_fetch_phase_seconds_bucket{phase="first_byte",le="0.016"} 0`,
		`orbweaver_fetch_phase_seconds_bucket{phase="first_byte",le="0.032"} 1`,
		`orbweaver_fetch_phase_seconds_bucket{phase="first_byte",le="4.096"} 2`,
		`orbweaver_fetch_phase_seconds_bucket{phase="first_byte",le="+Inf"} 2`,
		`orbweaver_fetch_phase_seconds_sum{phase="first_byte"} 3.02`,
		`orbweaver_fetch_phase_seconds_count{phase="connect"} 0`,
		`orbweaver_response_body_bytes_bucket{le="512"} 0`,
		`orbweaver_response_body_bytes_bucket{le="1024"} 1`,
		"orbweaver_response_body_bytes_sum 1000\n",
		`orbweaver_build_info{goversion="go`,
		`version="1.2.3"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
}
