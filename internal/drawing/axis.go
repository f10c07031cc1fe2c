package drawing

import (
	"math"
	"strconv"
)

// Axis is a logarithmic axis of a chart. Values from Least to Most are at the coordinates From and To.
type Axis struct {
	Least, Most float64
	From, To    float64
}

// Tick is a labelled position on an axis.
type Tick struct {
	At    float64
	Label string
}

// At returns the coordinate of a value.
func (a *Axis) At(v float64) float64 {
	if a.Most <= a.Least {
		return (a.From + a.To) / 2
	}
	return a.From + (a.To-a.From)*math.Log(v/a.Least)/math.Log(a.Most/a.Least)
}

// Extend makes the axis include a value.
func (a *Axis) Extend(v float64) {
	if a.Least == 0 || v < a.Least {
		a.Least = v
	}
	a.Most = max(a.Most, v)
}

// Sizes returns ticks at powers of two, as many as fit, with the labels of these numbers.
func (a *Axis) Sizes(label func(n int) string) (ticks []Tick) {
	first, last := int(math.Ceil(math.Log2(a.Least))), int(math.Floor(math.Log2(a.Most)))
	step := (last-first)/12 + 1
	for p := first; p <= last; p += step {
		ticks = append(ticks, Tick{a.At(math.Exp2(float64(p))), label(1 << p)})
	}
	return ticks
}

// Decades returns ticks at powers of ten and, if these are few, at 2 and 5 times them. It extends the axis, so that it
// ends at ticks.
func (a *Axis) Decades() (ticks []Tick) {
	low, high := math.Floor(math.Log10(a.Least)), math.Ceil(math.Log10(a.Most))
	a.Least, a.Most = math.Pow(10, low), math.Pow(10, high)
	multiples := []float64{1}
	if high-low <= 3 {
		multiples = []float64{1, 2, 5}
	}
	for p := low; p <= high; p++ {
		for _, m := range multiples {
			if v := m * math.Pow(10, p); v <= a.Most*1.0001 {
				ticks = append(ticks, Tick{a.At(v), strconv.FormatFloat(v, 'f', max(0, -int(p)), 64)})
			}
		}
	}
	return ticks
}
