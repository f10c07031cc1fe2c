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

// Value returns a random value of a kind. Values is faster for many.
func Value[T spec.Elem](random *rand.Rand, kind Kind) T { return Values[T](random, kind)() }

// Values returns a function that returns random values of a kind, one after the other.
func Values[T spec.Elem](random *rand.Rand, kind Kind) func() T {
	t := spec.TypeOf[T]()
	size, parts := t.Bytes(), 1
	if t.Class() == spec.Complex {
		size, parts = size/2, 2
	}
	next := encodings(random, kind, t, size*8)
	return func() (x T) {
		for part := range parts {
			put(unsafe.Add(unsafe.Pointer(&x), part*size), size, next())
		}
		return x
	}
}

// put writes the lower bits of v, so many bytes, in the machine's own order.
func put(to unsafe.Pointer, size int, v uint64) {
	switch size {
	case 1:
		*(*uint8)(to) = uint8(v)
	case 2:
		*(*uint16)(to) = uint16(v)
	case 4:
		*(*uint32)(to) = uint32(v)
	case 8:
		*(*uint64)(to) = v
	}
}

// encodings returns a function that returns random numbers, or parts of them, of a type of so many bits.
func encodings(random *rand.Rand, kind Kind, t spec.Type, bits int) func() uint64 {
	fraction := t.Precision() - 1
	isFloat := fraction >= 0
	switch {
	case kind == Mixed:
		var kinds [Mixed]func() uint64
		for k := range kinds {
			kinds[k] = encodings(random, Kind(k), t, bits)
		}
		return func() uint64 { return kinds[random.IntN(len(kinds))]() }
	case t == spec.TypeBool:
		return func() uint64 { return random.Uint64N(2) }
	case kind == AnyBits:
		return random.Uint64
	case kind == Whole && isFloat:
		var whole [9]uint64
		for i := range whole {
			whole[i] = wholeFloat(i-4, bits, fraction)
		}
		return func() uint64 { return whole[random.IntN(len(whole))] }
	case kind == Whole && t.Class() == spec.Unsigned:
		return func() uint64 { return random.Uint64N(8) }
	case kind == Whole:
		return func() uint64 { return uint64(random.IntN(9) - 4) }
	case kind == Special && isFloat:
		return func() uint64 { return specialFloat(random, t, bits, fraction) }
	case kind == Special:
		return func() uint64 { return specialInteger(random, bits) }
	case isFloat:
		return func() uint64 { return ordinaryFloat(random, bits, fraction) }
	}
	return func() uint64 { return uint64(random.IntN(16) - 3) }
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
