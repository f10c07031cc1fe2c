package report

import (
	"math"
	"strconv"

	"github.com/collgen/collgen/internal/figures"
)

// axis is a logarithmic axis of a chart. Values from least to most are at the coordinates from and to.
type axis struct {
	least, most float64
	from, to    float64
}

// tick is a labelled position on an axis.
type tick struct {
	at    float64
	label string
}

// at returns the coordinate of a value.
func (a *axis) at(v float64) float64 {
	if a.most <= a.least {
		return (a.from + a.to) / 2
	}
	return a.from + (a.to-a.from)*math.Log(v/a.least)/math.Log(a.most/a.least)
}

// extend makes the axis include a value.
func (a *axis) extend(v float64) {
	if a.least == 0 || v < a.least {
		a.least = v
	}
	a.most = max(a.most, v)
}

// sizes returns ticks at powers of two, as many as fit.
func (a *axis) sizes() (ticks []tick) {
	first, last := int(math.Ceil(math.Log2(a.least))), int(math.Floor(math.Log2(a.most)))
	step := (last-first)/12 + 1
	for p := first; p <= last; p += step {
		ticks = append(ticks, tick{a.at(math.Exp2(float64(p))), figures.Size(1 << p).String()})
	}
	return ticks
}

// decades returns ticks at powers of ten and, if these are few, at 2 and 5 times them. It extends the axis, so that it
// ends at ticks.
func (a *axis) decades() (ticks []tick) {
	low, high := math.Floor(math.Log10(a.least)), math.Ceil(math.Log10(a.most))
	a.least, a.most = math.Pow(10, low), math.Pow(10, high)
	multiples := []float64{1}
	if high-low <= 3 {
		multiples = []float64{1, 2, 5}
	}
	for p := low; p <= high; p++ {
		for _, m := range multiples {
			if v := m * math.Pow(10, p); v <= a.most*1.0001 {
				ticks = append(ticks, tick{a.at(v), strconv.FormatFloat(v, 'f', max(0, -int(p)), 64)})
			}
		}
	}
	return ticks
}
