package ref

import (
	"math"
	"math/big"

	"github.com/collgen/collgen/spec"
)

// floats are the element types whose sums are rounded.
type floats interface {
	spec.Float8E4M3 | spec.Float8E5M2 | spec.Float16 | spec.BFloat16 | float32 | float64 | complex64 | complex128
}

// ExactSum returns the exact sum of floats, one or more, rounded once to nearest even; of complex numbers, by parts. A
// NaN wins, and so do infinities of both signs. A sum of 0 is -0 only if all operands are.
func ExactSum[T floats](xs ...T) T {
	var sum any
	switch xs := any(xs).(type) {
	case []spec.Float16:
		sum = nearest(totalOf(xs, func(x spec.Float16) float64 { return float64(x.Float32()) }), 11, -24,
			func(x float64) spec.Float16 { return spec.NewFloat16(float32(x)) })
	case []spec.BFloat16:
		sum = nearest(totalOf(xs, func(x spec.BFloat16) float64 { return float64(x.Float32()) }), 8, -133,
			func(x float64) spec.BFloat16 { return spec.NewBFloat16(float32(x)) })
	case []spec.Float8E4M3:
		sum = nearest(totalOf(xs, func(x spec.Float8E4M3) float64 { return float64(x.Float32()) }), 4, -9,
			func(x float64) spec.Float8E4M3 { return spec.NewFloat8E4M3(float32(x)) })
	case []spec.Float8E5M2:
		sum = nearest(totalOf(xs, func(x spec.Float8E5M2) float64 { return float64(x.Float32()) }), 3, -16,
			func(x float64) spec.Float8E5M2 { return spec.NewFloat8E5M2(float32(x)) })
	case []float32:
		sum = nearest(totalOf(xs, func(x float32) float64 { return float64(x) }), 24, -149,
			func(x float64) float32 { return float32(x) })
	case []float64:
		sum = nearest(totalOf(xs, func(x float64) float64 { return x }), 53, -1074, func(x float64) float64 { return x })
	case []complex64:
		re, im := parts(xs, func(x complex64) (float32, float32) { return real(x), imag(x) })
		sum = complex(ExactSum(re...), ExactSum(im...))
	case []complex128:
		re, im := parts(xs, func(x complex128) (float64, float64) { return real(x), imag(x) })
		sum = complex(ExactSum(re...), ExactSum(im...))
	}
	return sum.(T)
}

// parts returns the real and the imaginary parts of xs.
func parts[T, Part any](xs []T, of func(T) (re, im Part)) (re, im []Part) {
	for _, x := range xs {
		r, i := of(x)
		re, im = append(re, r), append(im, i)
	}
	return re, im
}

// total is an exact sum: a number, or else a float64 that is infinite, a NaN, or -0.
type total struct {
	number *big.Float
	other  float64
}

// totalOf returns the exact sum of xs.
func totalOf[T any](xs []T, float func(T) float64) total {
	special, zeros := 0.0, 0
	number := new(big.Float).SetPrec(2304) // enough for 2^200 of the largest and the least float64
	for _, x := range xs {
		switch f := float(x); {
		case math.IsNaN(f) || math.IsInf(f, 0):
			special += f
		default:
			if f == 0 && math.Signbit(f) {
				zeros++
			}
			number.Add(number, big.NewFloat(f))
		}
	}
	switch {
	case special != 0:
		return total{other: special}
	case zeros == len(xs):
		return total{other: math.Copysign(0, -1)}
	}
	return total{number: number}
}

// nearest returns t, rounded to nearest even: to so many bits, of which none is for less than 2^least. Narrow is exact
// for numbers that have such a form, and for those that are not finite.
func nearest[T any](t total, bits uint, least int, narrow func(float64) T) T {
	if t.number == nil {
		return narrow(t.other)
	}
	if t.number.Sign() == 0 {
		return narrow(0)
	}
	// A number 0.m·2^e has its last bit at e-bits, unless that is less than the least.
	exponent := t.number.MantExp(nil)
	if last := exponent - int(bits); last < least {
		if bits := exponent - least; bits <= 0 { // no bit is left: the number is less than 2^least
			half := new(big.Float).SetMantExp(big.NewFloat(1), least-1)
			x := 0.0
			if new(big.Float).Abs(t.number).Cmp(half) > 0 {
				x = math.Ldexp(1, least)
			}
			return narrow(math.Copysign(x, float64(t.number.Sign())))
		}
		bits = uint(exponent - least)
	}
	rounded := new(big.Float).SetPrec(bits).SetMode(big.ToNearestEven).Set(t.number)
	x, _ := rounded.Float64() // exact, or too large
	return narrow(x)
}
