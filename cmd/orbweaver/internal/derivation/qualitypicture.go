package derivation

import (
	"fmt"
	"io"
	"strings"

	"orbweaver/derive/quality"
)

// Sizes of the picture, in pixels.
const (
	panelSide  = 300
	panelLeft  = 50 // of the first panel
	panelTop   = 40
	panelApart = 380
)

// drawQuality draws the curves: the part of all rank against the part of pages, by PageRank and by in-degree.
func drawQuality(w io.Writer, r *quality.Report) error {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="760" height="430" ` +
		`font-family="sans-serif" font-size="12">` + "\n" +
		`<rect width="100%" height="100%" fill="white"/>` + "\n")
	drawPanel(&b, panelLeft, "part of all PageRank", r.Figures)
	drawPanel(&b, panelLeft+panelApart, "part of all links", r.InDegree)
	for i, name := range quality.Orders() {
		x := panelLeft + i*140
		fmt.Fprintf(&b, `<path d="M%d 408h24" %s/><text x="%d" y="412">%s</text>`+"\n", x, stroke(name), x+30, name)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// stroke is how the curve of an order is drawn.
func stroke(order string) string {
	switch order {
	case quality.Visited:
		return `fill="none" stroke="#0b6e4f" stroke-width="2.5"`
	case quality.BreadthFirst:
		return `fill="none" stroke="#1f5fbf" stroke-width="1.5"`
	case quality.DepthFirst:
		return `fill="none" stroke="#b3541e" stroke-width="1.5"`
	case quality.Omniscient:
		return `fill="none" stroke="black" stroke-width="1.5"`
	}
	return `fill="none" stroke="#888" stroke-width="1" stroke-dasharray="4 3"`
}

// drawPanel draws one diagram, whose lower left corner is at x.
func drawPanel(b *strings.Builder, x int, title string, f quality.Figures) {
	bottom := panelTop + panelSide
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", x, panelTop-12, title)
	for i := 0; i <= 100; i += 20 {
		at := i * panelSide / 100
		fmt.Fprintf(b, `<path d="M%d %dv-%dM%d %dh%d" stroke="#ddd"/>`, x+at, bottom, panelSide, x, bottom-at, panelSide)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%d %%</text>`, x+at, bottom+16, i)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%.1f</text>`+"\n", x-6, bottom-at+4, float64(i)/100)
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">part of the pages</text>`+"\n", x+panelSide/2, bottom+36)
	for _, name := range quality.Orders() {
		fmt.Fprintf(b, `<path d="M`)
		for i, part := range f.Curves[name] {
			fmt.Fprintf(b, "%.1f %.1f ", float64(x)+panelSide*float64(i)/100, float64(bottom)-panelSide*part)
		}
		fmt.Fprintf(b, `" %s/>`+"\n", stroke(name))
	}
}
