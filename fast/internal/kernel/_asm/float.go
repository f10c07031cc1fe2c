package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// smaller has spec's rules for NaN and -0, which the instruction has not: of two zeros, and where one operand is a NaN,
// it yields its second operand. So both orders are tried. Of two zeros, the or of both has the sign of -0; of a NaN and
// anything, it is a NaN.
func smaller(min instruction) operator {
	return func(c *code) combine {
		return func(x vector, y operand.Op) {
			t := c.like(x)
			min(c.Context, y, x, t)
			min(c.Context, x, t, x)
			c.or(t, x, x)
		}
	}
}

// larger, as smaller, tries both orders. d is where they differ, and what they have in common or differ in, less d, is
// +0 of two zeros (-0 - -0), and a NaN if there is one; otherwise d is 0. It is how V8 does it.
func larger(max, sub instruction) operator {
	return func(c *code) combine {
		return func(x vector, y operand.Op) {
			t, d := c.like(x), c.like(x)
			max(c.Context, y, x, t)
			max(c.Context, x, t, x)
			c.xor(t, x, d)
			c.or(t, d, t)
			sub(c.Context, d, t, x)
		}
	}
}

// productComplex64 is (ac-bd, ad+bc) of (a, b) and (c, d).
func productComplex64(c *code) combine {
	subAdd := c.subtractEvenAddOdd(32, uint64(math.Float32bits(1)), (*build.Context).VADDSUBPS,
		(*build.Context).VFMADDSUB213PS)
	return func(x vector, y operand.Op) {
		re, im, crossed := c.like(x), c.like(x), c.like(x)
		c.VMOVSLDUP(x, re)
		c.VMOVSHDUP(x, im)
		c.VPERMILPS(operand.U8(0b10_11_00_01), y, crossed)
		c.VMULPS(y, re, x)
		c.VMULPS(crossed, im, im)
		subAdd(x, im)
	}
}

func productComplex128(c *code) combine {
	subAdd := c.subtractEvenAddOdd(64, math.Float64bits(1), (*build.Context).VADDSUBPD, (*build.Context).VFMADDSUB213PD)
	return func(x vector, y operand.Op) {
		re, im, crossed := c.like(x), c.like(x), c.like(x)
		c.VMOVDDUP(x, re)
		c.VPERMILPD(operand.U8(0b11111111), x, im)
		c.VPERMILPD(operand.U8(0b01010101), y, crossed)
		c.VMULPD(y, re, x)
		c.VMULPD(crossed, im, im)
		subAdd(x, im)
	}
}

// subtractEvenAddOdd returns x-y of the real parts and x+y of the imaginary ones. AVX-512 has no such instruction, but
// a fused one of x·1 and y, which has no rounding but that of the sum.
func (c *code) subtractEvenAddOdd(bits int, one uint64, subAdd func(_ *build.Context, y, x, to operand.Op),
	fused instruction) combine {
	if !c.wide() {
		return func(x vector, y operand.Op) { subAdd(c.Context, y, x, x) }
	}
	ones := c.constant(bits, one)
	return func(x vector, y operand.Op) { fused(c.Context, y, sized(ones, x), x) }
}

// float16 returns an operator of float32 on Float16: the conversions are instructions, with spec's rules.
func float16(of operator) operator {
	return func(c *code) combine {
		of := of(c)
		widened := func(from operand.Op, x vector) operand.Op {
			w := c.vector(2 * int(x.Size()))
			c.VCVTPH2PS(from, w)
			return w
		}
		return func(x vector, y operand.Op) {
			if y != nil {
				y = widened(y, x)
			}
			w := widened(x, x).(vector)
			of(w, y)
			c.VCVTPS2PH(operand.U8(0), w, x) // 0: to nearest even
		}
	}
}

// bfloat16 returns an operator of float32 on BFloat16, with integer arithmetic: the upper halves of lanes of 32 bits
// are numbers once the lower ones are cleared, and the lower halves once they are shifted up.
func bfloat16(of operator, round operator) operator {
	return func(c *code) combine {
		upper := c.constant(32, 0xffff0000)
		of, round := of(c), round(c)
		split := func(v operand.Op, x vector) (hi, lo vector) {
			hi, lo = c.like(x), c.like(x)
			v = c.loaded(v, x)
			c.VPSLLD(operand.U8(16), v, lo)
			c.and(sized(upper, x), v, hi)
			return hi, lo
		}
		return func(x vector, y operand.Op) {
			hi, lo := split(x, x)
			if y != nil {
				yHi, yLo := split(y, x)
				of(hi, yHi)
				of(lo, yLo)
			} else {
				of(hi, nil)
				of(lo, nil)
			}
			round(hi, nil)
			round(lo, nil)
			c.and(sized(upper, x), hi, hi)
			c.VPSRLD(operand.U8(16), lo, lo)
			c.or(lo, hi, x)
		}
	}
}

// exact is for results that need no rounding.
func exact(*code) combine { return func(vector, operand.Op) {} }

// rounding adds to x just less than half of the last place of a BFloat16, or half if that place is odd; the lower half
// is to be cut off. A NaN needs nothing: the processor has made it quiet, and the lower half of its payload, which is
// that of an operand, is 0, so that nothing is carried.
func rounding(c *code) combine {
	one, half := c.constant(32, 1), c.constant(32, 0x7fff)
	return func(x vector, _ operand.Op) {
		odd := c.like(x)
		c.VPSRLD(operand.U8(16), x, odd)
		c.and(sized(one, x), odd, odd)
		c.VPADDD(sized(half, x), x, x)
		c.VPADDD(odd, x, x)
	}
}

func quotient32(c *code) combine {
	by, x := c.vector(c.bytes), c.XMM()
	c.VXORPS(x, x, x)
	c.VCVTSI2SSQ(c.param("size"), x, x)
	c.VBROADCASTSS(x, by)
	return func(x vector, _ operand.Op) { c.VDIVPS(sized(by, x), x, x) }
}

func quotient64(c *code) combine {
	by, x := c.vector(c.bytes), c.XMM()
	c.VXORPS(x, x, x)
	c.VCVTSI2SDQ(c.param("size"), x, x)
	c.VBROADCASTSD(x, by)
	return func(x vector, _ operand.Op) { c.VDIVPD(sized(by, x), x, x) }
}

// param returns a parameter in a register.
func (c *code) param(name string) operand.Op { return c.Load(c.Param(name), c.GP64()) }
