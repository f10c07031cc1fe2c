package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// piece is what a kernel takes at a time: vectors that lie side by side, of so many bytes each, or of as many as mask
// says.
type piece struct {
	bytes, vectors int
	mask           reg.Register // nil: all bytes
}

// walk writes a loop over n bytes, the rest that fills no vector included. do works on a piece, and advance goes on
// by so many bytes. No byte is touched twice or outside of the n.
func (c *code) walk(k kernel, n reg.Register, do func(piece), advance func(bytes int)) {
	width := k.width(c.set)
	c.repeat(piece{width, k.unroll, nil}, n, do, advance)
	if k.unroll*width > masks || k.unroll > 1 && !c.wide() {
		c.repeat(piece{width, 1, nil}, n, do, advance)
	}
	if c.wide() {
		c.masked(width, n, do, advance)
		return
	}
	for bytes := width / 2; bytes >= k.size; bytes /= 2 {
		next := c.label("less")
		c.TESTQ(operand.U32(bytes), n)
		c.JZ(next)
		do(piece{bytes, 1, nil})
		advance(bytes)
		c.place(next)
	}
}

// repeat does a piece as long as n has so many bytes. n becomes what is left.
func (c *code) repeat(p piece, n reg.Register, do func(piece), advance func(bytes int)) {
	loop, less, bytes := c.label("loop"), c.label("less"), p.bytes*p.vectors
	c.SUBQ(operand.U32(bytes), n)
	c.JB(less)
	c.place(loop)
	do(p)
	advance(bytes)
	c.SUBQ(operand.U32(bytes), n)
	c.JAE(loop)
	c.place(less)
	c.ADDQ(operand.U32(bytes), n)
}

// masks is how many bytes masked can do at most: an instruction takes their number from 8 bits.
const masks = 256

// masked does what is left, n < masks, by vectors of which only the n first bytes are read and written.
func (c *code) masked(width int, n reg.Register, do func(piece), advance func(bytes int)) {
	loop, done := c.label("masked"), c.label("done")
	ones, bits, mask := c.GP64(), c.GP64(), c.K()
	c.JZ(done)
	c.MOVQ(operand.I32(-1), ones)
	c.place(loop)
	c.BZHIQ(n, ones, bits) // all of them, if n is more than there are
	c.KMOVQ(bits, mask)
	do(piece{width, 1, mask})
	advance(width)
	c.SUBQ(operand.U32(width), n)
	c.JA(loop)
	c.place(done)
}

// load returns a vector of the piece from memory. Of fewer than 16 bytes, the others are anything.
func (c *code) load(p piece, from operand.Mem) vector {
	x := c.vector(p.bytes)
	switch {
	case p.mask != nil:
		c.VMOVDQU8_Z(from, p.mask, x)
	case p.bytes >= 16:
		c.move(from, x)
	case p.bytes == 8:
		c.VMOVQ(from, x)
	case p.bytes == 4:
		c.VMOVD(from, x)
	case p.bytes == 2:
		c.VPBROADCASTW(from, x)
	default:
		c.VPBROADCASTB(from, x)
	}
	return x
}

// operand returns a vector of the piece as an instruction's operand: memory, where all of it may be read.
func (c *code) operand(p piece, from operand.Mem) operand.Op {
	if p.mask == nil && p.bytes >= 16 {
		return from
	}
	return c.load(p, from)
}

func (c *code) store(p piece, x vector, to operand.Mem) {
	switch {
	case p.mask != nil:
		c.VMOVDQU8(x, p.mask, to)
	case p.bytes >= 16:
		c.move(x, to)
	case p.bytes == 8:
		c.VMOVQ(x, to)
	case p.bytes == 4:
		c.VMOVD(x, to)
	case p.bytes == 2:
		c.VPEXTRW(operand.U8(0), x, to)
	default:
		c.VPEXTRB(operand.U8(0), x, to)
	}
}

// loadAll returns the vectors of a piece.
func (c *code) loadAll(p piece, from reg.Register) []vector {
	all := make([]vector, p.vectors)
	for i := range all {
		all[i] = c.load(p, p.at(from, i))
	}
	return all
}

// combineAll is x = x ⊕ y of each vector of a piece.
func (c *code) combineAll(p piece, combine combine, xs []vector, y reg.Register) {
	for i, x := range xs {
		combine(x, c.operand(p, p.at(y, i)))
	}
}

func (c *code) storeAll(p piece, xs []vector, to reg.Register) {
	for i, x := range xs {
		c.store(p, x, p.at(to, i))
	}
}

// at returns the place of vector i.
func (p piece) at(base reg.Register, i int) operand.Mem {
	return operand.Mem{Base: base, Disp: i * p.bytes}
}

// base returns the address that a slice has.
func (c *code) base(slice string) reg.Register { return c.Load(c.Param(slice).Base(), c.GP64()) }

// length returns the length of the shortest slice, so that slices of different lengths do no harm.
func (c *code) length(slices ...string) reg.Register {
	n := c.Load(c.Param(slices[0]).Len(), c.GP64())
	for _, s := range slices[1:] {
		m := c.Load(c.Param(s).Len(), c.GP64())
		c.CMPQ(m, n)
		c.CMOVQLT(m, n)
	}
	return n
}

func (c *code) advance(pointers ...reg.Register) func(bytes int) {
	return func(bytes int) {
		for _, p := range pointers {
			c.ADDQ(operand.U32(bytes), p)
		}
	}
}

// binary is the shape dst = a ⊕ b.
func (c *code) binary(k kernel) {
	c.begin(k.name(), "func(dst, a, b []byte)", "is dst = a ⊕ b.")
	dst, a, b, n := c.base("dst"), c.base("a"), c.base("b"), c.length("dst", "a", "b")
	combine := k.operator(c)
	c.walk(k, n, func(p piece) {
		xs := c.loadAll(p, a)
		c.combineAll(p, combine, xs, b)
		c.storeAll(p, xs, dst)
	}, c.advance(dst, a, b))
	c.end()
}

// sliceBytes is the size of a slice's header.
const sliceBytes = 24

// fold is the shape dst = a ⊕ b ⊕ c ⊕ …: every piece of the result is made in registers.
func (c *code) fold(k kernel) {
	k.unroll = max(4, 2*k.unroll) // so that the operators' latency hides: each result waits for the one before
	c.begin(function("fold", k), "func(dst []byte, operands [][]byte)",
		"is dst = a ⊕ b ⊕ …, from left to right, of two operands or more, none shorter than dst.")
	dst, n := c.base("dst"), c.length("dst")
	first, end := c.headers("operands")
	offset := c.GP64()
	c.XORQ(offset, offset)
	combine := k.operator(c)
	next, from := c.GP64(), c.GP64()
	c.walk(k, n, func(p piece) {
		loop := c.label("operand")
		c.MOVQ(operand.Mem{Base: first}, from)
		c.ADDQ(offset, from)
		c.LEAQ(operand.Mem{Base: first, Disp: sliceBytes}, next)
		xs := c.loadAll(p, from)
		c.place(loop)
		c.MOVQ(operand.Mem{Base: next}, from)
		c.ADDQ(offset, from)
		c.combineAll(p, combine, xs, from)
		c.ADDQ(operand.U32(sliceBytes), next)
		c.CMPQ(next, end)
		c.JB(loop)
		c.storeAll(p, xs, dst)
	}, c.advance(dst, offset))
	c.end()
}

// headers returns the addresses where the headers of a slice of slices begin and end.
func (c *code) headers(slices string) (first, end reg.Register) {
	first, end = c.base(slices), c.GP64()
	count := c.Load(c.Param(slices).Len(), c.GP64())
	c.LEAQ(operand.Mem{Base: count, Index: count, Scale: 2}, count)
	c.LEAQ(operand.Mem{Base: first, Index: count, Scale: 8}, end)
	return first, end
}

// inPlace is the shape data = data ⊕ size, of an operator that takes size itself.
func (c *code) inPlace(k kernel) {
	c.begin(k.name(), "func(data []byte, size int)", "divides each element of data by size.")
	data, n := c.base("data"), c.length("data")
	combine := k.operator(c)
	c.walk(k, n, func(p piece) {
		xs := c.loadAll(p, data)
		for _, x := range xs {
			combine(x, nil)
		}
		c.storeAll(p, xs, data)
	}, c.advance(data))
	c.end()
}

// copies is the shape dst = src.
func (c *code) copies() {
	c.begin("copy", "func(dst, src []byte)", "is dst = src.")
	dst, src, n := c.base("dst"), c.base("src"), c.length("dst", "src")
	c.walk(kernel{size: 1, unroll: 4}, n, func(p piece) {
		c.storeAll(p, c.loadAll(p, src), dst)
	}, c.advance(dst, src))
	c.end()
}
