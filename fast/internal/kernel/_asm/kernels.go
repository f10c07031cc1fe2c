package main

import (
	"strings"

	"github.com/mmcloughlin/avo/build"
)

// The shapes that a kernel may have.
const (
	isBinary   = iota
	isFoldable // binary, and a fold of many operands
	isDivision
)

// kernel is what is written for each instruction set.
type kernel struct {
	ops, types string // of package spec; the first ones name the kernel
	shape      int
	size       int // of an element, in bytes
	unroll     int // how many vectors are taken at a time
	operator   operator
}

// widened is the type of which a vector holds half as many bytes, because it becomes twice as large.
const widened = "Float16"

// kernels are all kernels. Where it makes no difference, signed and unsigned integers share one, and a complex number
// is two floats.
var kernels = []kernel{
	{"Sum Avg", "Int8 Uint8", isFoldable, 1, 4, plain((*build.Context).VPADDB)},
	{"Sum Avg", "Int16 Uint16", isFoldable, 2, 4, plain((*build.Context).VPADDW)},
	{"Sum Avg", "Int32 Uint32", isFoldable, 4, 4, plain((*build.Context).VPADDD)},
	{"Sum Avg", "Int64 Uint64", isFoldable, 8, 4, plain((*build.Context).VPADDQ)},
	{"Sum Avg", "Float16", isFoldable, 2, 2, float16(plain((*build.Context).VADDPS))},
	{"Sum Avg", "BFloat16", isFoldable, 2, 1, bfloat16(plain((*build.Context).VADDPS), rounding)},
	{"Sum Avg", "Float32 Complex64", isFoldable, 4, 4, plain((*build.Context).VADDPS)},
	{"Sum Avg", "Float64 Complex128", isFoldable, 8, 4, plain((*build.Context).VADDPD)},

	{"Prod", "Int8 Uint8", isBinary, 1, 2, product8},
	{"Prod", "Int16 Uint16", isBinary, 2, 4, plain((*build.Context).VPMULLW)},
	{"Prod", "Int32 Uint32", isBinary, 4, 4, plain((*build.Context).VPMULLD)},
	{"Prod", "Int64 Uint64", isBinary, 8, 2, product64},
	{"Prod", "Float16", isBinary, 2, 2, float16(plain((*build.Context).VMULPS))},
	{"Prod", "BFloat16", isBinary, 2, 1, bfloat16(plain((*build.Context).VMULPS), rounding)},
	{"Prod", "Float32", isBinary, 4, 4, plain((*build.Context).VMULPS)},
	{"Prod", "Float64", isBinary, 8, 4, plain((*build.Context).VMULPD)},
	{"Prod", "Complex64", isBinary, 8, 2, productComplex64},
	{"Prod", "Complex128", isBinary, 16, 2, productComplex128},

	{"Min", "Int8", isBinary, 1, 4, plain((*build.Context).VPMINSB)},
	{"Min", "Int16", isBinary, 2, 4, plain((*build.Context).VPMINSW)},
	{"Min", "Int32", isBinary, 4, 4, plain((*build.Context).VPMINSD)},
	{"Min", "Int64", isBinary, 8, 4, choice64((*build.Context).VPMINSQ, takesY, 0)},
	{"Min", "Uint8", isBinary, 1, 4, plain((*build.Context).VPMINUB)},
	{"Min", "Uint16", isBinary, 2, 4, plain((*build.Context).VPMINUW)},
	{"Min", "Uint32", isBinary, 4, 4, plain((*build.Context).VPMINUD)},
	{"Min", "Uint64", isBinary, 8, 4, choice64((*build.Context).VPMINUQ, takesY, 1<<63)},
	{"Min", "Float16", isBinary, 2, 2, float16(smaller((*build.Context).VMINPS))},
	{"Min", "BFloat16", isBinary, 2, 1, bfloat16(smaller((*build.Context).VMINPS), exact)},
	{"Min", "Float32", isBinary, 4, 4, smaller((*build.Context).VMINPS)},
	{"Min", "Float64", isBinary, 8, 4, smaller((*build.Context).VMINPD)},

	{"Max", "Int8", isBinary, 1, 4, plain((*build.Context).VPMAXSB)},
	{"Max", "Int16", isBinary, 2, 4, plain((*build.Context).VPMAXSW)},
	{"Max", "Int32", isBinary, 4, 4, plain((*build.Context).VPMAXSD)},
	{"Max", "Int64", isBinary, 8, 4, choice64((*build.Context).VPMAXSQ, takesX, 0)},
	{"Max", "Uint8", isBinary, 1, 4, plain((*build.Context).VPMAXUB)},
	{"Max", "Uint16", isBinary, 2, 4, plain((*build.Context).VPMAXUW)},
	{"Max", "Uint32", isBinary, 4, 4, plain((*build.Context).VPMAXUD)},
	{"Max", "Uint64", isBinary, 8, 4, choice64((*build.Context).VPMAXUQ, takesX, 1<<63)},
	{"Max", "Float16", isBinary, 2, 2, float16(larger((*build.Context).VMAXPS, (*build.Context).VSUBPS))},
	{"Max", "BFloat16", isBinary, 2, 1, bfloat16(larger((*build.Context).VMAXPS, (*build.Context).VSUBPS), exact)},
	{"Max", "Float32", isBinary, 4, 4, larger((*build.Context).VMAXPS, (*build.Context).VSUBPS)},
	{"Max", "Float64", isBinary, 8, 4, larger((*build.Context).VMAXPD, (*build.Context).VSUBPD)},

	{"BAnd", integers, isBinary, 1, 4, bitwise((*code).and)},
	{"BOr", integers, isBinary, 1, 4, bitwise((*code).or)},
	{"BXor", integers, isBinary, 1, 4, bitwise((*code).xor)},

	{"LAnd", "Int8 Uint8 Bool", isBinary, 1, 4, bothTrue(8, (*build.Context).VPMINUB)},
	{"LAnd", "Int16 Uint16", isBinary, 2, 4, bothTrue(16, (*build.Context).VPMINUW)},
	{"LAnd", "Int32 Uint32", isBinary, 4, 4, bothTrue(32, (*build.Context).VPMINUD)},
	{"LAnd", "Int64 Uint64", isBinary, 8, 4, bothTrue64},
	{"LOr", "Int8 Uint8 Bool", isBinary, 1, 4, anyTrue(8, (*build.Context).VPMINUB)},
	{"LOr", "Int16 Uint16", isBinary, 2, 4, anyTrue(16, (*build.Context).VPMINUW)},
	{"LOr", "Int32 Uint32", isBinary, 4, 4, anyTrue(32, (*build.Context).VPMINUD)},
	{"LOr", "Int64 Uint64", isBinary, 8, 4, anyTrue64},

	{"Divide", "Float16", isDivision, 2, 1, float16(quotient32)},
	{"Divide", "BFloat16", isDivision, 2, 1, bfloat16(quotient32, rounding)},
	{"Divide", "Float32 Complex64", isDivision, 4, 2, quotient32},
	{"Divide", "Float64 Complex128", isDivision, 8, 2, quotient64},
}

const integers = "Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64"

// name returns that of the kernel's function, less the instruction set: sumInt8.
func (k kernel) name() string {
	name := lower(first(k.ops))
	if k.types != integers {
		name += first(k.types)
	}
	return name
}

// width returns how many bytes of the kernel's operands make a vector.
func (k kernel) width(s set) int {
	if first(k.types) == widened {
		return s.bytes / 2
	}
	return s.bytes
}

func (k kernel) write(c *code) {
	switch k.shape {
	case isDivision:
		c.inPlace(k)
	case isFoldable:
		c.fold(k)
		c.binary(k)
	default:
		c.binary(k)
	}
}

func first(list string) string {
	name, _, _ := strings.Cut(list, " ")
	return name
}

func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
