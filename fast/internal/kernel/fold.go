package kernel

import (
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Many reduces operands, two or more and none shorter than dst, from left to right. Each is the same memory as dst, or
// disjoint from it.
type Many func(dst []byte, operands [][]byte)

// ManyFor returns what reduces many operands with op at once. It is nil where that is not faster than one kernel after
// the other: Fold does without.
func ManyFor(op spec.Op, t spec.Type) Many {
	if !op.Valid() || !op.Takes(t) {
		return nil
	}
	return best.folds[op][t]
}

// Piece is how many bytes Fold works on at a time: so few that they stay in the first-level cache from one operand to
// the next.
const Piece = 8 << 10

// Fold sets into to the reduction of operands, from left to right, one or more, by many, or by k if many is nil. Each
// operand is as long as into, and is the same memory or disjoint. spare is Piece bytes that are overwritten.
func Fold(k wire.Kernel, many Many, into []byte, operands [][]byte, spare []byte) {
	switch {
	case len(operands) == 1:
		Copy(into, operands[0])
	case len(operands) == 2:
		k(into, operands[0], operands[1])
	case many != nil:
		for _, operand := range operands {
			_ = operand[:len(into)] // assembly has no bounds checks
		}
		many(into, operands)
	case overwritesLater(into, operands):
		foldPieces(k, into, operands, spare)
	default:
		foldPieces(k, into, operands, nil)
	}
}

// foldPieces is Fold, piece by piece: in spare, if it is not nil.
func foldPieces(k wire.Kernel, into []byte, operands [][]byte, spare []byte) {
	for from := 0; from < len(into); from += Piece {
		to := min(from+Piece, len(into))
		result := into[from:to]
		if spare != nil {
			result = spare[:to-from]
		}
		k(result, operands[0][from:to], operands[1][from:to])
		for _, operand := range operands[2:] {
			k(result, result, operand[from:to])
		}
		if spare != nil {
			copy(into[from:to], result)
		}
	}
}

// overwritesLater reports whether into is an operand that is read after the first partial result was written.
func overwritesLater(into []byte, operands [][]byte) bool {
	for _, operand := range operands[2:] {
		if unsafe.SliceData(operand) == unsafe.SliceData(into) {
			return true
		}
	}
	return false
}
