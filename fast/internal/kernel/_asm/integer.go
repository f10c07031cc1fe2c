package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// combine writes x = x ⊕ y. y is a register as large as x, or memory; nil where the operator takes only one.
type combine func(x vector, y operand.Op)

// operator loads the constants that ⊕ needs, and says how it is done.
type operator func(c *code) combine

// instruction is one with two sources and a destination, which comes last.
type instruction func(ctx *build.Context, ops ...operand.Op)

// plain returns an operator that is an instruction.
func plain(i instruction) operator {
	return func(c *code) combine {
		return func(x vector, y operand.Op) { i(c.Context, y, x, x) }
	}
}

func bitwise(i func(c *code, y, x, to operand.Op)) operator {
	return func(c *code) combine {
		return func(x vector, y operand.Op) { i(c, y, x, x) }
	}
}

// product8 multiplies the even bytes as the lower ones of words, and the odd ones as the upper ones.
func product8(c *code) combine {
	lower := c.constant(16, 0x00ff)
	return func(x vector, y operand.Op) {
		y = c.loaded(y, x)
		mask, even, upper := sized(lower, x), c.like(x), c.like(x)
		c.VPMULLW(y, x, even)
		c.andNot(y, mask, upper)
		c.VPSRLW(operand.U8(8), x, x)
		c.VPMULLW(upper, x, x)
		c.and(mask, even, even)
		c.or(even, x, x)
	}
}

// product64 is, without an instruction for it, lower·lower + (lower·upper + upper·lower)<<32 of the halves.
func product64(c *code) combine {
	if c.wide() {
		return plain((*build.Context).VPMULLQ)(c)
	}
	return func(x vector, y operand.Op) {
		y = c.loaded(y, x)
		crossed, sum := c.like(x), c.like(x)
		c.VPSHUFD(operand.U8(0b10_11_00_01), y, crossed)
		c.VPMULLD(x, crossed, crossed)
		c.VPSRLQ(operand.U8(32), crossed, sum)
		c.VPADDD(crossed, sum, sum)
		c.VPSLLQ(operand.U8(32), sum, sum)
		c.VPMULUDQ(y, x, x)
		c.VPADDQ(sum, x, x)
	}
}

// Which operand is the result where x > y.
const (
	takesX = true
	takesY = false
)

// choice64 returns the smaller or larger of x and y. AVX2 has only a comparison, of signed numbers: the flip of the
// first bit makes one of unsigned ones.
func choice64(i instruction, xWhereGreater bool, flip uint64) operator {
	return func(c *code) combine {
		if c.wide() {
			return plain(i)(c)
		}
		flipped := func(v operand.Op, _ vector) operand.Op { return v }
		if flip != 0 {
			bits := c.constant(64, flip)
			flipped = func(v operand.Op, x vector) operand.Op {
				f := c.like(x)
				c.xor(sized(bits, x), v, f)
				return f
			}
		}
		return func(x vector, y operand.Op) {
			y = c.loaded(y, x)
			greater := c.like(x)
			c.VPCMPGTQ(flipped(y, x), flipped(x, x), greater)
			if xWhereGreater {
				c.VPBLENDVB(greater, x, y, x)
			} else {
				c.VPBLENDVB(greater, y, x, x)
			}
		}
	}
}

// bothTrue is 1 where neither x nor y is 0: the smallest of x, y and 1, as unsigned numbers.
func bothTrue(bits int, min instruction) operator {
	return func(c *code) combine {
		one := c.constant(bits, 1)
		return func(x vector, y operand.Op) {
			min(c.Context, y, x, x)
			min(c.Context, sized(one, x), x, x)
		}
	}
}

func anyTrue(bits int, min instruction) operator {
	return func(c *code) combine {
		one := c.constant(bits, 1)
		return func(x vector, y operand.Op) {
			c.or(y, x, x)
			min(c.Context, sized(one, x), x, x)
		}
	}
}

func bothTrue64(c *code) combine {
	if c.wide() {
		return bothTrue(64, (*build.Context).VPMINUQ)(c)
	}
	zero, one := c.constant(64, 0), c.constant(64, 1)
	return func(x vector, y operand.Op) {
		none := c.like(x)
		c.VPCMPEQQ(y, sized(zero, x), none)
		c.VPCMPEQQ(sized(zero, x), x, x)
		c.or(none, x, x)
		c.andNot(sized(one, x), x, x)
	}
}

func anyTrue64(c *code) combine {
	if c.wide() {
		return anyTrue(64, (*build.Context).VPMINUQ)(c)
	}
	zero, one := c.constant(64, 0), c.constant(64, 1)
	return func(x vector, y operand.Op) {
		c.or(y, x, x)
		c.VPCMPEQQ(sized(zero, x), x, x)
		c.andNot(sized(one, x), x, x)
	}
}
