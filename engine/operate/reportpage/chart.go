package reportpage

import (
	"fmt"
	"math"
	"strings"
	"time"

	"orbweaver/engine/operate/history"
	"orbweaver/internal/plural"
)

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
