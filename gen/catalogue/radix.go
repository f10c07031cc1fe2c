package catalogue

import (
	"slices"

	"github.com/collgen/collgen/gen"
)

// The algorithms that count ranks by digits have the radix for a parameter. It is a power of two, so that a digit is so
// many bits, and powers of it are shifts, of which solvers know enough.
var (
	radices = gen.Param{Name: "radix", Values: []int{4, 8}}
	radix   = v("radix")

	// digits is the preamble of these: rounds is how many digits the numbers below size have, of width bits each.
	digits = []gen.Node{
		let("width", log2(radix)),
		let("levels", ceilLog2(size)),
		let("rounds", div(sub(add(v("levels"), v("width")), one), v("width"))),
	}

	// Outside of a body, of 2 ranks and more: how many digits size-1 has below its first one, and that.
	digitsBelow = div(log2(sub(size, one)), log2(radix))
	firstDigit  = shr(sub(size, one), mul(log2(radix), digitsBelow))

	// How many messages a rank sends that has one for each digit from 1 on, at each place.
	ofDigits = add(mul(sub(radix, one), digitsBelow), firstDigit)
)

// farther returns a body in whose step k each rank does something with those that are c × radix^k before and after it,
// for each digit c.
func farther(messages ...gen.Node) []gen.Node {
	return append(slices.Clone(digits), loop("k", v("rounds"), []gen.Node{
		let("shift", mul(v("width"), v("k"))),
		let("peers", least(sub(radix, one), shr(sub(size, one), v("shift")))), // the last step may have fewer
		gen.Step{loop("c", v("peers"), append([]gen.Node{
			let("distance", shl(add(v("c"), one), v("shift"))),
			let("after", up(add(rank, v("distance")), size)),
			let("before", down(sub(rank, v("distance")), size)),
		}, messages...))},
	}))
}
