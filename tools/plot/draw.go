package main

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// chart is one picture: lines over two axes.
type chart struct {
	title  string
	note   string // below the title: what was measured, with what
	x, y   axis
	marks  []float64 // ticks of x; nil if the library chooses them
	series []series
	// isLegendLow: the legend is at the bottom.
	isLegendLow bool
}

type axis struct {
	label string
	log   bool
}

// series is one line.
type series struct {
	name   string // for the legend; "" for none
	points plotter.XYs
	dots   bool // each point is a measurement of its own, and has a dot
}

const width, height = 20 * vg.Centimeter, 11 * vg.Centimeter

var errNothing = errors.New("a chart without points")

// save draws the chart into a file whose format its name tells.
func (c *chart) save(name string) error {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.Title.Text = c.title + "\n" + c.note
	p.Legend.Top = !c.isLegendLow
	p.Add(plotter.NewGrid())
	drawn := 0
	for i, s := range c.series {
		line, dots, err := plotter.NewLinePoints(s.points)
		if err != nil {
			return err
		}
		drawn += len(s.points)
		line.Color, dots.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width = vg.Points(1.5)
		dots.Shape = plotutil.Shape(i)
		p.Add(line)
		thumbs := []plot.Thumbnailer{line}
		if s.dots {
			p.Add(dots)
			thumbs = append(thumbs, dots)
		}
		if s.name != "" {
			p.Legend.Add(s.name, thumbs...)
		}
	}
	if drawn == 0 {
		return errNothing
	}
	c.x.set(&p.X)
	c.y.set(&p.Y)
	if len(c.marks) > 0 {
		ticks := make(plot.ConstantTicks, len(c.marks))
		for i, v := range c.marks {
			ticks[i] = plot.Tick{Value: v, Label: text(v)}
		}
		p.X.Tick.Marker = ticks
		p.X.Min, p.X.Max = c.marks[0], c.marks[len(c.marks)-1]
	}
	if err := p.Save(width, height, name); err != nil {
		return err
	}
	return addFallbacks(name)
}

// Pictures name the typeface that the library measures texts with. Arial and Helvetica have the same widths, and each
// machine has one of the three.
const (
	typeface  = "font-family:Liberation Sans"
	fallbacks = typeface + ",Arial,Helvetica,sans-serif"
)

// addFallbacks names the other typefaces in a picture.
func addFallbacks(name string) error {
	picture, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, bytes.ReplaceAll(picture, []byte(typeface), []byte(fallbacks)), 0o644)
}

// set gives an axis of the library its label and scale. A linear axis begins at 0, a logarithmic one at a power of ten.
func (a axis) set(of *plot.Axis) {
	of.Label.Text = a.label
	if !a.log {
		of.Min = 0
		return
	}
	of.Scale, of.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	of.Min = math.Pow10(int(math.Floor(math.Log10(of.Min))))
	of.Max = math.Pow10(int(math.Ceil(math.Log10(of.Max))))
}

// text writes a number as the legends and ticks do.
func text(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
