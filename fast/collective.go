package fast

import (
	"context"
	"fmt"
)

// The types and functions of this file, and Call and Buffer, are what generated code is written in. Programs that call
// collectives need none of them.

// Collective is a primitive and the algorithms that can carry it out. Generated code declares one per primitive.
type Collective struct {
	Name       string // "AllReduce"
	Hash       uint64 // of the specification
	Algorithms []Algorithm
	Rules      []Rule // which algorithm a call gets: that of the first rule that matches
}

// Algorithm is one generated algorithm.
type Algorithm struct {
	Name        string              // "ring"
	Hash        uint64              // of the algorithm's text
	Commutative bool                // needs a commutative op
	OutOfPlace  bool                // needs distinct buffers
	Serves      func(size int) bool // nil: every size
	Run         func(ctx context.Context, x *Call) error
}

// Rule is a line of a selection table. It matches a call if all of its conditions hold, and if its algorithm serves
// the communicator's size and the op.
type Rule struct {
	Algorithm        string
	MinSize, MaxSize int // ranks; MaxSize 0: any number
	MaxBytes         int // bytes per block, inclusive; 0: any number
	// PieceBytes sets the depth of a pipelined algorithm: a block is cut into as many pieces of this length as it takes.
	// 0: depth 1.
	PieceBytes int
}

// Args are the arguments of a call besides its buffers.
type Args struct {
	Count      int // elements per block
	Op         Op
	Root, Peer int
	// In place, In's element AliasIn is Out's element AliasOut. NoAlias: the buffers may not overlap.
	AliasIn, AliasOut int
	NoAlias           bool
}

// Refuse is the error of a call of primitive with a bad argument. It wraps ErrInvalidArgument.
func Refuse(primitive, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", primitive, ErrInvalidArgument, fmt.Sprintf(format, args...))
}
