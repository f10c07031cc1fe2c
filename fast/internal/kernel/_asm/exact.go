package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exactSum is a sum of many operands that is exact before it is rounded once: each element is the sum of two numbers,
// after Knuth, and what these lose is observed. Elements become lanes that have all of them, of 32 or 64 bits.
type exactSum struct {
	types string
	size  int // of an element, in bytes
	lane  int // in bytes
	// load returns vectors of lanes, exactVectors of them, and store puts such vectors back.
	load  func(c *code, from reg.Register) []vector
	store func(c *code) func(xs []vector, to reg.Register)
}

var exactSums = []exactSum{
	{"Float16", 2, 4, loadFloat16, storeFloat16},
	{"BFloat16", 2, 4, loadBFloat16, storeBFloat16},
	{"Float32 Complex64", 4, 8, loadFloat32, storeFloat32},
	{"Float64 Complex128", 8, 8, loadFloat64, storeFloat64},
}

// exactVectors is how many vectors of lanes are summed at a time.
const exactVectors = 2

func (k exactSum) name() string { return "exact" + first(k.types) }

// bytes returns how many bytes of memory are in a vector of lanes.
func (k exactSum) bytes(c *code) int { return c.bytes / k.lane * k.size }

// running is the sum of one lane's operands so far: that of high and low, unless a bit of lost is set.
type running struct{ high, low, lost vector }

func (c *code) exact(k exactSum) {
	c.begin(k.name(), "func(dst []byte, operands [][]byte, from int) (to int)", "is a quickSum.")
	bytes := exactVectors * k.bytes(c)
	dst, n := c.base("dst"), c.length("dst")
	first, end := c.headers("operands")
	offset, next, from := c.Load(c.Param("from"), c.GP64()), c.GP64(), c.GP64()
	c.SUBQ(offset, n)
	c.ADDQ(offset, dst)
	store := k.store(c)
	loop, operands, done := c.label("loop"), c.label("operand"), c.label("done")
	c.place(loop)
	c.SUBQ(operand.U32(bytes), n)
	c.JL(done)
	c.MOVQ(operand.Mem{Base: first}, from)
	c.ADDQ(offset, from)
	c.LEAQ(operand.Mem{Base: first, Disp: sliceBytes}, next)
	var sums [exactVectors]running
	for i, x := range k.load(c, from) {
		sums[i] = running{x, c.like(x), c.like(x)}
		c.xor(sums[i].low, sums[i].low, sums[i].low)
		c.xor(sums[i].lost, sums[i].lost, sums[i].lost)
	}
	c.place(operands)
	c.MOVQ(operand.Mem{Base: next}, from)
	c.ADDQ(offset, from)
	for i, y := range k.load(c, from) {
		c.observe(k, sums[i], y)
	}
	c.ADDQ(operand.U32(sliceBytes), next)
	c.CMPQ(next, end)
	c.JB(operands)
	var results []vector
	for _, s := range sums {
		results = append(results, c.rounded(k, s))
	}
	c.leaveIfSet(sums, done)
	store(results, dst)
	c.ADDQ(operand.U32(bytes), dst)
	c.ADDQ(operand.U32(bytes), offset)
	c.JMP(loop)
	c.place(done)
	c.Store(offset, c.ReturnIndex(0))
	c.end()
}

// observe adds y, and what that loses to lost.
func (c *code) observe(k exactSum, s running, y vector) {
	c.or(c.twoSum(k, s.low, c.twoSum(k, s.high, y)), s.lost, s.lost)
}

// twoSum is x = x + y, and returns what that leaves out, in y.
func (c *code) twoSum(k exactSum, x, y vector) vector {
	sum, y1 := c.like(x), c.like(x)
	c.add(k, y, x, sum)
	c.sub(k, x, sum, y1)
	c.sub(k, y1, y, y) // y - y1
	c.sub(k, y1, sum, y1)
	c.sub(k, y1, x, y1) // x - (sum - y1)
	c.add(k, y, y1, y)
	c.move(sum, x)
	return y
}

// rounded returns the sum of both numbers. It sets a bit of lost where it is not finite, and where lanes are rounded
// again and it has lost anything. -0 and -0 are -0, because the low number is subtracted.
func (c *code) rounded(k exactSum, s running) vector {
	result, t := c.like(s.high), c.like(s.high)
	c.xor(t, t, t)
	c.sub(k, s.low, t, t)
	c.sub(k, t, s.high, result)
	c.sub(k, result, result, t)
	c.or(t, s.lost, s.lost)
	if k.lane != k.size {
		c.or(c.twoSum(k, s.high, s.low), s.lost, s.lost)
	}
	return result
}

// leaveIfSet jumps if a bit of any lost is set.
func (c *code) leaveIfSet(sums [exactVectors]running, to operand.LabelRef) {
	lost := sums[0].lost
	for _, s := range sums[1:] {
		c.or(s.lost, lost, lost)
	}
	if !c.wide() {
		c.VPTEST(lost, lost)
		c.JNZ(to)
		return
	}
	mask, set := c.K(), c.GP32()
	c.VPTESTMQ(lost, lost, mask)
	c.KMOVB(mask, set)
	c.TESTL(set, set)
	c.JNZ(to)
}

// add is to = x + y, and sub is to = x - y, of lanes.

func (c *code) add(k exactSum, y, x, to vector) { c.lanes(k, c.VADDPS, c.VADDPD, y, x, to) }
func (c *code) sub(k exactSum, y, x, to vector) { c.lanes(k, c.VSUBPS, c.VSUBPD, y, x, to) }

func (c *code) lanes(k exactSum, single, double func(ops ...operand.Op), y, x, to vector) {
	if k.lane == 4 {
		single(y, x, to)
	} else {
		double(y, x, to)
	}
}

// consecutive loads or stores vectors that lie side by side, of so many bytes each.
func consecutive(bytes int, base reg.Register, each func(i int, at operand.Mem)) {
	for i := range exactVectors {
		each(i, operand.Mem{Base: base, Disp: i * bytes})
	}
}

// converted returns vectors that an instruction loads, from so many bytes each.
func (c *code) converted(bytes int, from reg.Register, load func(from, to operand.Op)) []vector {
	var xs []vector
	consecutive(bytes, from, func(_ int, at operand.Mem) {
		x := c.vector(c.bytes)
		load(at, x)
		xs = append(xs, x)
	})
	return xs
}

func loadFloat64(c *code, from reg.Register) []vector { return c.converted(c.bytes, from, c.move) }

func storeFloat64(c *code) func(xs []vector, to reg.Register) {
	return func(xs []vector, to reg.Register) {
		consecutive(c.bytes, to, func(i int, at operand.Mem) { c.move(xs[i], at) })
	}
}

func loadFloat32(c *code, from reg.Register) []vector {
	return c.converted(c.bytes/2, from, func(from, to operand.Op) { c.VCVTPS2PD(from, to) })
}

func storeFloat32(c *code) func(xs []vector, to reg.Register) {
	narrow := func(x, to operand.Op) { c.VCVTPD2PSY(x, to) }
	if c.wide() {
		narrow = func(x, to operand.Op) { c.VCVTPD2PS(x, to) }
	}
	return func(xs []vector, to reg.Register) {
		consecutive(c.bytes/2, to, func(i int, at operand.Mem) {
			half := c.vector(c.bytes / 2)
			narrow(xs[i], half)
			c.move(half, at)
		})
	}
}

func loadFloat16(c *code, from reg.Register) []vector {
	return c.converted(c.bytes/2, from, func(from, to operand.Op) { c.VCVTPH2PS(from, to) })
}

func storeFloat16(c *code) func(xs []vector, to reg.Register) {
	return func(xs []vector, to reg.Register) {
		consecutive(c.bytes/2, to, func(i int, at operand.Mem) {
			c.VCVTPS2PH(operand.U8(0), xs[i], at) // 0: to nearest even
		})
	}
}

// loadBFloat16 returns the lower and the upper halves of lanes of 32 bits, which are every other element.
func loadBFloat16(c *code, from reg.Register) []vector {
	low, high := c.vector(c.bytes), c.vector(c.bytes)
	c.move(operand.Mem{Base: from}, high)
	c.VPSLLD(operand.U8(16), high, low)
	c.cut(high)
	return []vector{low, high}
}

func storeBFloat16(c *code) func(xs []vector, to reg.Register) {
	round := rounding(c)
	return func(xs []vector, to reg.Register) {
		low, high := xs[0], xs[1]
		round(low, nil)
		round(high, nil)
		c.VPSRLD(operand.U8(16), low, low)
		c.cut(high)
		c.or(low, high, high)
		c.move(high, operand.Mem{Base: to})
	}
}

// cut clears the lower half of each lane of 32 bits.
func (c *code) cut(x vector) {
	c.VPSRLD(operand.U8(16), x, x)
	c.VPSLLD(operand.U8(16), x, x)
}
