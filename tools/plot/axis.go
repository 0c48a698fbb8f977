package main

import (
	"math"
	"strconv"
	"strings"
)

// axis maps values to places on a line.
type axis struct {
	label string
	log   bool
	low   float64 // of the values; on a logarithmic axis above 0
	high  float64
	from  float64 // place of low
	to    float64 // place of high
}

// ticksWanted is about how many ticks a linear axis has.
const ticksWanted = 6

// widen makes an axis hold all values, and end at round ones. A linear axis begins at 0.
func (a *axis) widen(values []float64) {
	a.low, a.high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		a.low, a.high = min(a.low, v), max(a.high, v)
	}
	if a.log {
		a.low, a.high = roundDown(a.low), roundUp(a.high)
		return
	}
	a.low = 0
	step := a.step()
	a.high = math.Ceil(a.high/step) * step
}

// step is the distance of two ticks of a linear axis: 1, 2 or 5 times a power of ten.
func (a *axis) step() float64 {
	if a.high <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(a.high/ticksWanted)))
	for _, m := range []float64{1, 2, 5} {
		if a.high <= ticksWanted*m*power {
			return m * power
		}
	}
	return 10 * power
}

// roundDown is the largest of 1, 2 and 5 times powers of ten that is not above v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, m := range []float64{5, 2} {
		if v >= m*power*(1-1e-9) {
			return m * power
		}
	}
	return power
}

// roundUp is the smallest of 1, 2 and 5 times powers of ten that is not below v.
func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, m := range []float64{1, 2, 5} {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// at is where a value is on the line.
func (a *axis) at(v float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	if high == low {
		return (a.from + a.to) / 2
	}
	return a.from + (v-low)/(high-low)*(a.to-a.from)
}

// ticks are the values that are written beside the line, ascending.
func (a *axis) ticks() (all []float64) {
	if !a.log {
		step := a.step()
		for n := 0; float64(n)*step <= a.high*(1+1e-9); n++ {
			all = append(all, float64(n)*step)
		}
		return all
	}
	multiples := []float64{1, 2, 5}
	if a.high/a.low > 1e3 {
		multiples = multiples[:1]
	}
	for power := math.Pow(10, math.Floor(math.Log10(a.low)+1e-9)); power <= a.high*(1+1e-9); power *= 10 {
		for _, m := range multiples {
			if v := m * power; v >= a.low*(1-1e-9) && v <= a.high*(1+1e-9) {
				all = append(all, v)
			}
		}
	}
	return all
}

// text writes a tick: 0.2, 500, 16,000, 10M, 1G.
func text(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}} {
		if v >= unit.size*(1-1e-9) {
			return strconv.FormatFloat(v/unit.size, 'g', 4, 64) + unit.name
		}
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if v != math.Trunc(v) {
		s = strconv.FormatFloat(v, 'g', 3, 64)
	}
	whole, rest, _ := strings.Cut(s, ".")
	if len(whole) > 3 {
		whole = whole[:len(whole)-3] + "," + whole[len(whole)-3:]
	}
	if rest == "" {
		return whole
	}
	return whole + "." + rest
}
