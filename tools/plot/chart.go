package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"slices"
)

// chart is one picture: lines over two axes.
type chart struct {
	title  string
	note   string // below the title: what was measured, with what
	x, y   axis
	marks  []float64 // ticks of x, if they are to be these
	series []series
}

// series is one line.
type series struct {
	name   string // written at its end; "" for none
	points []point
	dots   bool // each point is a measurement of its own, and has a dot
}

type point struct{ x, y float64 }

const (
	width, height    = 760, 420
	left, top, below = 76, 64, 54 // of the frame
	right            = 28         // of the frame, if no line has a name
	rightNamed       = 128        // the same beside names
	nameApart        = 15         // between the names of two lines
)

// style has both palettes: dark pages ask for theirs. The colours are told apart by those who see few.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f}
.title{font-size:16px;font-weight:600}.note,.tick{fill:#57606a}.tick{font-size:12px}.note{font-size:12px}
.back{fill:#fff}.grid{stroke:#d8dee4;stroke-width:1}.frame{stroke:#8c959f;stroke-width:1}
.line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.s0{stroke:#0969da}.s1{stroke:#bc4c00}.s2{stroke:#1a7f37}.s3{stroke:#8250df}.s4{stroke:#9a6700}.s5{stroke:#cf222e}
.d0,.n0{fill:#0969da}.d1,.n1{fill:#bc4c00}.d2,.n2{fill:#1a7f37}.d3,.n3{fill:#8250df}.d4,.n4{fill:#9a6700}.d5,.n5{fill:#cf222e}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.note,.tick{fill:#9198a1}.back{fill:#0d1117}.grid{stroke:#2a313c}.frame{stroke:#656c76}
.s0{stroke:#58a6ff}.s1{stroke:#f0883e}.s2{stroke:#3fb950}.s3{stroke:#bc8cff}.s4{stroke:#d29922}.s5{stroke:#ff7b72}
.d0,.n0{fill:#58a6ff}.d1,.n1{fill:#f0883e}.d2,.n2{fill:#3fb950}.d3,.n3{fill:#bc8cff}.d4,.n4{fill:#d29922}.d5,.n5{fill:#ff7b72}
}
</style>
`

const colours = 6

var errNothing = errors.New("a chart without points, or with a value that is not on its axis")

// svg draws the chart.
func (c *chart) svg() ([]byte, error) {
	if err := c.fit(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n%s",
		width, height, width, height, escape(c.title), style)
	fmt.Fprintf(&b, `<rect class="back" width="%d" height="%d"/>`+"\n", width, height)
	write(&b, "title", "start", left, 26, c.title)
	write(&b, "note", "start", left, 45, c.note)
	c.drawAxes(&b)
	c.drawLines(&b)
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

// fit lays the axes around the points.
func (c *chart) fit() error {
	xs, ys := slices.Clone(c.marks), []float64(nil)
	for _, s := range c.series {
		for _, p := range s.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	for _, a := range []struct {
		*axis
		values []float64
	}{{&c.x, xs}, {&c.y, ys}} {
		for _, v := range a.values {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || (a.log && v == 0) {
				return fmt.Errorf("%w: %v on %q", errNothing, v, a.label)
			}
		}
	}
	if len(ys) == 0 {
		return errNothing
	}
	c.x.from, c.x.to, c.y.from, c.y.to = left, c.end(), height-below, top
	c.x.widen(xs)
	c.y.widen(ys)
	if c.x.log && len(c.marks) > 0 { // the marks are the ends: there is nothing beyond them
		c.x.low, c.x.high = slices.Min(xs), slices.Max(xs)
	}
	return nil
}

// end is where the frame ends on the right.
func (c *chart) end() float64 {
	for _, s := range c.series {
		if s.name != "" {
			return width - rightNamed
		}
	}
	return width - right
}

func (c *chart) drawAxes(b *bytes.Buffer) {
	for _, v := range c.y.ticks() {
		at := c.y.at(v)
		fmt.Fprintf(b, `<line class="grid" x1="%d" x2="%.0f" y1="%.1f" y2="%.1f"/>`+"\n", left, c.x.to, at, at)
		write(b, "tick", "end", left-8, at+4, text(v))
	}
	marks := c.marks
	if len(marks) == 0 {
		marks = c.x.ticks()
	}
	for _, v := range marks {
		at := c.x.at(v)
		fmt.Fprintf(b, `<line class="frame" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>`+"\n", at, at, height-below, height-below+5)
		write(b, "tick", "middle", at, height-below+20, text(v))
	}
	fmt.Fprintf(b, `<line class="frame" x1="%d" x2="%.0f" y1="%d" y2="%d"/>`+"\n", left, c.x.to, height-below, height-below)
	write(b, "note", "middle", (c.x.from+c.x.to)/2, height-12, c.x.label)
	fmt.Fprintf(b, `<text class="note" text-anchor="middle" transform="translate(18 %d) rotate(-90)">%s</text>`+"\n", (top+height-below)/2, escape(c.y.label))
}

func (c *chart) drawLines(b *bytes.Buffer) {
	places := c.namePlaces()
	for i, s := range c.series {
		n := i % colours
		fmt.Fprintf(b, `<polyline class="line s%d" points="`, n)
		for _, p := range s.points {
			fmt.Fprintf(b, "%.1f,%.1f ", c.x.at(p.x), c.y.at(p.y))
		}
		b.WriteString("\"/>\n")
		for _, p := range s.points {
			if s.dots {
				fmt.Fprintf(b, `<circle class="d%d" cx="%.1f" cy="%.1f" r="3.5"><title>%s: %s</title></circle>`+"\n", n, c.x.at(p.x), c.y.at(p.y), text(p.x), text(p.y))
			}
		}
		if s.name != "" {
			write(b, fmt.Sprintf("n%d", n), "start", c.x.to+8, places[i]+4, s.name)
		}
	}
}

// namePlaces is where the name of each line goes: at the height of its end, but apart from the others.
func (c *chart) namePlaces() []float64 {
	places := make([]float64, len(c.series))
	var order []int
	for i, s := range c.series {
		if len(s.points) == 0 {
			continue
		}
		places[i] = c.y.at(s.points[len(s.points)-1].y)
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case places[i] < places[j]:
			return -1
		case places[i] > places[j]:
			return 1
		}
		return 0
	})
	for k := 1; k < len(order); k++ {
		places[order[k]] = max(places[order[k]], places[order[k-1]]+nameApart)
	}
	bottom := float64(height - below)
	for k := len(order) - 1; k >= 0; k-- {
		places[order[k]] = min(places[order[k]], bottom)
		bottom = places[order[k]] - nameApart
	}
	return places
}

func write(b *bytes.Buffer, class, anchor string, x, y float64, words string) {
	fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`+"\n", class, anchor, x, y, escape(words))
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a bytes.Buffer does not fail
	return b.String()
}
