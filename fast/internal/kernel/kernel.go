// Package kernel has the inner loops of reductions, one for each operator and element type, exactly as package spec
// defines them.
//
// Memory is passed as bytes, and has to be as aligned as its elements are. That it always is: a caller's slice by Go's
// own rules, scratch memory because it is aligned to more than any element, and every cut falls on an element.
package kernel

import (
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// For is the kernel that computes op on elements of type t. It is nil where op is not defined on t.
func For(op spec.Op, t spec.Type) wire.Kernel {
	if !op.Takes(t) {
		return nil
	}
	return table[op][t]
}

// Finish does, in place, what op does once to the reduction of all operands of size ranks.
func Finish(op spec.Op, t spec.Type, data []byte, size int) {
	if op.Finish() == spec.DivideBySize && t.Valid() {
		divisions[t](data, size)
	}
}

// Piece is how many bytes Fold works on at a time: so few that they stay in the first-level cache from one operand to
// the next.
const Piece = 8 << 10

// Fold sets into to the reduction of operands by k, from left to right, one or more. Each operand is as long as into, and is
// the same memory or disjoint. spare is Piece bytes that are overwritten.
func Fold(k wire.Kernel, into []byte, operands [][]byte, spare []byte) {
	if len(operands) == 1 {
		copy(into, operands[0])
		return
	}
	overwrites := overwritesLater(into, operands)
	for from := 0; from < len(into); from += Piece {
		to := min(from+Piece, len(into))
		result := into[from:to]
		if overwrites {
			result = spare[:to-from]
		}
		k(result, operands[0][from:to], operands[1][from:to])
		for _, operand := range operands[2:] {
			k(result, result, operand[from:to])
		}
		if overwrites {
			copy(into[from:to], result)
		}
	}
}

// overwritesLater tells whether into is an operand that is read after the first partial result was written.
func overwritesLater(into []byte, operands [][]byte) bool {
	for _, operand := range operands[2:] {
		if unsafe.SliceData(operand) == unsafe.SliceData(into) {
			return true
		}
	}
	return false
}
