package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// set is an instruction set.
type set struct {
	name  string
	bytes int // of a vector
}

// AVX-512 stands for its parts F, DQ, BW and VL, and BMI2. AVX2 includes F16C.
var sets = []set{{"AVX2", 32}, {"AVX512", 64}}

// code is a function that is being written, for an instruction set.
type code struct {
	*build.Context
	set
	labels int
}

// vector is a register of 16, 32 or 64 bytes, before one is chosen.
type vector = reg.VecVirtual

// wide reports whether the instruction set is AVX-512.
func (c *code) wide() bool { return c.bytes == 64 }

// begin starts a function that keeps no pointer.
func (c *code) begin(name, signature, doc string) {
	c.Function(name + c.name)
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr(signature)
	c.Pragma("noescape")
	c.Doc(name + c.name + " " + doc)
}

func (c *code) end() {
	c.VZEROUPPER()
	c.RET()
}

// label returns a new label of the function.
func (c *code) label(name string) operand.LabelRef {
	c.labels++
	return operand.LabelRef(fmt.Sprintf("%s%d", name, c.labels))
}

func (c *code) place(l operand.LabelRef) { c.Label(string(l)) }

// vector returns a new register of at least so many bytes.
func (c *code) vector(bytes int) vector {
	switch {
	case bytes > 32:
		return c.ZMM()
	case bytes > 16:
		return c.YMM()
	}
	return c.XMM()
}

// like returns a new register as large as x.
func (c *code) like(x vector) vector { return c.vector(int(x.Size())) }

// sized returns the part of a constant that is as large as x.
func sized(constant, x vector) operand.Op {
	switch x.Size() {
	case 64:
		return constant.AsZ()
	case 32:
		return constant.AsY()
	}
	return constant.AsX()
}

// constant returns a register full of value, which has so many bits.
func (c *code) constant(bits int, value uint64) vector {
	for ; bits < 64; bits *= 2 {
		value |= value << bits
	}
	r, x, v := c.GP64(), c.XMM(), c.vector(c.bytes)
	c.MOVQ(operand.U64(value), r)
	c.VMOVQ(r, x)
	c.VPBROADCASTQ(x, v)
	return v
}

// loaded is y in a register as large as x.
func (c *code) loaded(y operand.Op, x vector) operand.Op {
	if operand.IsRegister(y) {
		return y
	}
	r := c.like(x)
	c.move(y, r)
	return r
}

// move is of whole registers, to or from memory.
func (c *code) move(from, to operand.Op) {
	if c.wide() {
		c.VMOVDQU64(from, to)
	} else {
		c.VMOVDQU(from, to)
	}
}

// The bitwise operations: to = y ⊕ x, and of andNot y &^ x.

func (c *code) and(y, x, to operand.Op)    { c.bits(c.VPAND, c.VPANDQ, y, x, to) }
func (c *code) or(y, x, to operand.Op)     { c.bits(c.VPOR, c.VPORQ, y, x, to) }
func (c *code) xor(y, x, to operand.Op)    { c.bits(c.VPXOR, c.VPXORQ, y, x, to) }
func (c *code) andNot(y, x, to operand.Op) { c.bits(c.VPANDN, c.VPANDNQ, y, x, to) }

func (c *code) bits(avx2 func(y, x, to operand.Op), avx512 func(ops ...operand.Op), y, x, to operand.Op) {
	if c.wide() {
		avx512(y, x, to)
	} else {
		avx2(y, x, to)
	}
}

// moveBytes is the processor's own loop for copying.
func moveBytes(ctx *build.Context) {
	ctx.Function("moveBytes")
	ctx.Attributes(attr.NOSPLIT)
	ctx.SignatureExpr("func(dst, src []byte)")
	ctx.Pragma("noescape")
	ctx.Doc("moveBytes is dst = src, of the same length, by the instruction REP MOVSB.")
	ctx.Load(ctx.Param("dst").Base(), reg.RDI)
	ctx.Load(ctx.Param("src").Base(), reg.RSI)
	ctx.Load(ctx.Param("dst").Len(), reg.RCX)
	for _, opcode := range []string{"REP", "MOVSB"} { // which avo does not know
		ctx.Instruction(&ir.Instruction{Opcode: opcode, Inputs: []operand.Op{reg.RDI, reg.RSI, reg.RCX}})
	}
	ctx.RET()
}

// cpuid tells what the processor is and has.
func cpuid(ctx *build.Context) {
	ctx.Function("cpuid")
	ctx.Attributes(attr.NOSPLIT)
	ctx.SignatureExpr("func(leaf uint32) (a, b, c, d uint32)")
	ctx.Doc("cpuid is the instruction CPUID, for subleaf 0.")
	ctx.Load(ctx.Param("leaf"), reg.EAX)
	ctx.XORL(reg.ECX, reg.ECX)
	ctx.CPUID()
	for i, r := range []reg.Register{reg.EAX, reg.EBX, reg.ECX, reg.EDX} {
		ctx.Store(r, ctx.ReturnIndex(i))
	}
	ctx.RET()
}
