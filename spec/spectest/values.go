package spectest

import (
	mathbits "math/bits"
	"math/rand/v2"
	"unsafe"

	"github.com/collgen/collgen/spec"
)

// Kind is a kind of values.
type Kind uint8

// The kinds of values.
const (
	Ordinary Kind = iota // small integers; floats of which sums and products of many are finite, and round
	Special              // 0, 1, extremes; of floats also -0, subnormals, infinities and NaN
	AnyBits              // all encodings alike; a bool has two
	Mixed                // each value of any of the above
	Whole                // whole numbers from -4 to 4, or to 7 if there is no sign
)

// Value returns a random value of a kind.
func Value[T spec.Elem](random *rand.Rand, kind Kind) T {
	var x T
	t := spec.TypeOf[T]()
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&x)), unsafe.Sizeof(x))
	part := len(bytes)
	if t.Class() == spec.Complex {
		part /= 2
	}
	for ; len(bytes) > 0; bytes = bytes[part:] {
		put(bytes[:part], encoding(random, kind, t, part*8))
	}
	return x
}

// put writes the lower bits of v in the machine's own order, which is that of all machines that collgen supports.
func put(to []byte, v uint64) {
	for i := range to {
		to[i] = byte(v >> (8 * i))
	}
}

// encoding returns a random number, or part of one, of a type of so many bits.
func encoding(random *rand.Rand, kind Kind, t spec.Type, bits int) uint64 {
	if kind == Mixed {
		kind = Kind(random.IntN(int(Mixed)))
	}
	isFloat := t.Precision() > 0
	switch {
	case t == spec.TypeBool:
		return random.Uint64N(2)
	case kind == AnyBits:
		return random.Uint64()
	case kind == Whole && isFloat:
		return wholeFloat(random.IntN(9)-4, bits, t.Precision()-1)
	case kind == Whole && t.Class() == spec.Unsigned:
		return random.Uint64N(8)
	case kind == Whole:
		return uint64(random.IntN(9) - 4)
	case kind == Special && isFloat:
		return specialFloat(random, t, bits, t.Precision()-1)
	case kind == Special:
		return specialInteger(random, bits)
	case isFloat:
		return ordinaryFloat(random, bits, t.Precision()-1)
	}
	return uint64(random.IntN(16) - 3)
}

// specialInteger returns 0, 1, 2, -1, -2, or one of the largest and smallest signed and unsigned numbers and their
// neighbours.
func specialInteger(random *rand.Rand, bits int) uint64 {
	top := uint64(1) << (bits - 1)
	all := [...]uint64{0, 1, 2, ^uint64(0), ^uint64(1), top, top + 1, top - 1, top - 2}
	return all[random.IntN(len(all))]
}

// specialFloat returns the encoding of a special number, of either sign, of a format with a fraction of so many bits.
func specialFloat(random *rand.Rand, t spec.Type, bits, fraction int) uint64 {
	sign, unit := uint64(1)<<(bits-1), uint64(1)<<fraction
	inf := sign - unit
	one := inf / 2 &^ (unit - 1) // the exponent is half of the largest one
	all := [...]uint64{
		0, 1, unit - 1, unit, // zero, the smallest and largest subnormal, the smallest normal
		one, one + 1, one - 1, // 1 and its neighbours
		inf - 1, inf, inf | unit/2, inf | unit/2 | 1, inf | 1, // the largest number, infinity, two quiet NaNs, another
	}
	if t == spec.TypeFloat8E4M3 { // its largest numbers and its NaN have the exponent that others have of infinities
		all[7], all[8], all[9], all[10], all[11] = sign-3, sign-2, sign-1, sign-1, sign-1
	}
	i := random.IntN(2 * len(all))
	return all[i/2] | uint64(i%2)*sign
}

// wholeFloat returns the encoding of a small whole number.
func wholeFloat(x, bits, fraction int) uint64 {
	if x == 0 {
		return 0
	}
	sign, size := uint64(0), uint64(max(x, -x))
	if x < 0 {
		sign = 1 << (bits - 1)
	}
	e := mathbits.Len64(size) - 1
	bias := 1<<(bits-2-fraction) - 1
	return sign | uint64(bias+e)<<fraction | (size<<fraction>>e)&(1<<fraction-1)
}

// ordinaryFloat has any sign and fraction, and an exponent of -2..1.
func ordinaryFloat(random *rand.Rand, bits, fraction int) uint64 {
	bias := uint64(1)<<(bits-2-fraction) - 1
	exponent := bias - 2 + random.Uint64N(4)
	return random.Uint64N(2)<<(bits-1) | exponent<<fraction | random.Uint64N(1<<fraction)
}
