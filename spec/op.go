package spec

import "fmt"

// Op is a reduction operator: one of those below, or one that DeclareOp has returned.
type Op uint8

// The operators that are specified. The zero Op is none.
const (
	OpSum Op = iota + 1
	OpProd
	OpMin
	OpMax
	OpAvg
	OpBAnd
	OpBOr
	OpBXor
	OpLAnd
	OpLOr
	OpMinLoc
	OpMaxLoc

	opEnd // one more than the last of them
)

// TypeSet is a set of types: bit t stands for Type t.
type TypeSet uint32

// The sets of types that operators take.
const (
	integerTypes = TypeSet(1<<TypeInt8 | 1<<TypeInt16 | 1<<TypeInt32 | 1<<TypeInt64 |
		1<<TypeUint8 | 1<<TypeUint16 | 1<<TypeUint32 | 1<<TypeUint64)
	truthTypes = integerTypes | 1<<TypeBool
	realTypes  = integerTypes | 1<<TypeFloat8E4M3 | 1<<TypeFloat8E5M2 | 1<<TypeFloat16 | 1<<TypeBFloat16 |
		1<<TypeFloat32 | 1<<TypeFloat64
	complexTypes = TypeSet(1<<TypeComplex64 | 1<<TypeComplex128)
	allTypes     = realTypes | complexTypes
)

// Has reports whether t is in s.
func (s TypeSet) Has(t Type) bool { return s>>t&1 != 0 }

// Identity names the value e of each type for which e ⊕ x = x.
type Identity uint8

// The identities.
const (
	Zero       Identity = iota + 1 // 0; -0 of a float, because +0 ⊕ -0 is +0
	One                            // 1
	Lowest                         // the smallest integer, or -Inf; -448 of Float8E4M3
	Highest                        // the largest integer, or +Inf; 448 of Float8E4M3
	AllOnes                        // all bits set
	False                          // 0, as a truth value
	True                           // 1, as a truth value
	HighestLoc                     // (+Inf, +Inf)
	LowestLoc                      // (-Inf, +Inf)
)

// FinishRule says what an operator does once to the reduction of all operands.
type FinishRule uint8

// The rules.
const (
	Keep         FinishRule = iota // nothing
	DivideBySize                   // one division by the number of ranks
)

// FloatRule says what an operator does to floats. What is said of floats holds for each part of a complex number, but
// where the operator takes it for a pair.
type FloatRule uint8

// The rules.
const (
	NoFloats FloatRule = iota // takes no floats
	// each ⊕ is rounded to nearest even; Inf, -0 and NaN (any sign and payload) as IEEE 754 has it
	Rounds
	Selects // yields one of the operands, a NaN if any is, and -0 < +0
)

// opRow defines an operator.
type opRow struct {
	name     string
	types    TypeSet
	identity Identity
	floats   FloatRule
	finish   FinishRule
	doc      string
}

// opTable defines the operators that are specified. Types follow MPI 4.1, section 6.9.2.
var opTable = [opEnd]opRow{
	OpSum: {"sum", allTypes, Zero, Rounds, Keep,
		"Sum adds. Integers wrap around. Of floats of 8 or 16 bits each single addition is carried out in float32 and its " +
			"result rounded to their type."},
	OpProd: {"prod", allTypes, One, Rounds, Keep,
		"Prod multiplies. Integers wrap around. Of floats of 8 or 16 bits each single multiplication is carried " +
			"out in float32 and its result rounded to their type. The product of complex numbers (a, b) and (c, d) is (ac-bd, " +
			"ad+bc), in which each of the four products is rounded, and then the difference and the sum; no operation is " +
			"fused, and nothing special is done for infinities."},
	OpMin: {"min", realTypes, Highest, Selects, Keep,
		"Min takes the smaller operand. If any operand is a NaN, the result is a NaN, whose sign and payload are " +
			"unspecified; -0 is smaller than +0; infinities are ordinary numbers."},
	OpMax: {"max", realTypes, Lowest, Selects, Keep,
		"Max takes the larger operand. If any operand is a NaN, the result is a NaN, whose sign and payload are " +
			"unspecified; +0 is larger than -0; infinities are ordinary numbers."},
	OpAvg: {"avg", allTypes, Zero, Rounds, DivideBySize,
		"Avg is Sum, and in the end one division by the number of ranks n; there is never a multiplication by 1/n. " +
			"Integers: the sum wraps around, and the quotient, of whole numbers because n may be more than the type holds, is " +
			"truncated toward zero. Floats: one IEEE 754 division by n as a number of the same type; of floats of 8 or 16 " +
			"bits, n and the division are float32, and the result is rounded to their type. Complex numbers: both parts " +
			"are divided."},
	OpBAnd: {"band", integerTypes, AllOnes, NoFloats, Keep,
		"BAnd is the bitwise and."},
	OpBOr: {"bor", integerTypes, Zero, NoFloats, Keep,
		"BOr is the bitwise or."},
	OpBXor: {"bxor", integerTypes, Zero, NoFloats, Keep,
		"BXor is the bitwise exclusive or."},
	OpLAnd: {"land", truthTypes, True, NoFloats, Keep,
		"LAnd is 1 if both operands are not 0, and otherwise 0. The reduction of a single operand is that operand as it is."},
	OpLOr: {"lor", truthTypes, False, NoFloats, Keep,
		"LOr is 1 if any operand is not 0, and otherwise 0. The reduction of a single operand is that operand as it is."},
	OpMinLoc: {"minloc", complexTypes, HighestLoc, Selects, Keep,
		"MinLoc takes a complex number for a pair: its real part is a value, its imaginary part an index. The result is " +
			"the pair with the smaller value, compared as Min does; of equal values, the one with the smaller index. A " +
			"value that is a NaN wins, and of equal values an index that is one. Indices are exact up to 2^24 in a " +
			"complex64, 2^53 in a complex128."},
	OpMaxLoc: {"maxloc", complexTypes, LowestLoc, Selects, Keep,
		"MaxLoc takes a complex number for a pair: its real part is a value, its imaginary part an index. The result is " +
			"the pair with the larger value, compared as Max does; of equal values, the one with the smaller index. A " +
			"value that is a NaN wins, and of equal values an index that is one. Indices are exact up to 2^24 in a " +
			"complex64, 2^53 in a complex128."},
}

// Valid reports whether o is one of the operators that are specified.
func (o Op) Valid() bool { return o > 0 && o < opEnd }

// String returns the operator's name: "sum".
func (o Op) String() string {
	if d := o.declared(); d != nil {
		return d.name
	}
	if !o.Valid() {
		return fmt.Sprintf("op(%d)", uint8(o))
	}
	return opTable[o].name
}

// MarshalText returns the name of o: that is how JSON has it.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText does the reverse of MarshalText. It knows the operators that this process has declared, too.
func (o *Op) UnmarshalText(name []byte) error {
	for _, x := range append(Ops(), declaredOps()...) {
		if x.String() == string(name) {
			*o = x
			return nil
		}
	}
	return fmt.Errorf("no operator is called %q", name)
}

// Doc returns one paragraph that defines o.
func (o Op) Doc() string {
	if !o.Valid() {
		return ""
	}
	return opTable[o].doc
}

// Takes reports whether o is defined on t.
func (o Op) Takes(t Type) bool {
	if d := o.declared(); d != nil {
		return d.takes == t
	}
	return o.Valid() && t.Valid() && opTable[o].types.Has(t)
}

// Types returns the set of types on which o is defined.
func (o Op) Types() TypeSet {
	if !o.Valid() {
		return 0
	}
	return opTable[o].types
}

// Commutative reports whether a ⊕ b and b ⊕ a are the same, to the bit (of a NaN: that it is one). All operators that
// are specified are.
func (o Op) Commutative() bool {
	if d := o.declared(); d != nil {
		return d.commutative
	}
	return o.Valid()
}

// Associative reports whether operands may be grouped at will, in any tree: all operators are, in the sense that MPI
// gives it, in which rounding does not count. See [Op.Exact] for when the bits are the same too.
func (o Op) Associative() bool { return o.Valid() }

// Exact reports whether on t the result is the same in every tree, to the bit (of a NaN: that it is one).
func (o Op) Exact(t Type) bool {
	return o.Valid() && o.Takes(t) && (t.Precision() == 0 || opTable[o].floats == Selects)
}

// Identity names the value that leaves every operand as it is; 0 if o is not valid.
func (o Op) Identity() Identity {
	if !o.Valid() {
		return 0
	}
	return opTable[o].identity
}

// Floats says what o does to floats.
func (o Op) Floats() FloatRule {
	if !o.Valid() {
		return NoFloats
	}
	return opTable[o].floats
}

// Finish says what o does to the reduction of all operands in the end.
func (o Op) Finish() FinishRule {
	if !o.Valid() {
		return Keep
	}
	return opTable[o].finish
}

// Finishes reports whether o does anything in the end.
func (o Op) Finishes() bool { return o.Finish() != Keep }

// Ops returns all operators that are specified, in ascending order.
func Ops() []Op {
	all := make([]Op, 0, opEnd-1)
	for o := Op(1); o < opEnd; o++ {
		all = append(all, o)
	}
	return all
}
