package fast

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/selection"
)

// The types and functions of this file, and Call and Buffer, are what generated code is written in. Programs that call
// collectives need none of them.

// Collective is a primitive and the algorithms that can carry it out. Generated code declares one per primitive.
type Collective struct {
	Name         string // "AllReduce"
	Hash         uint64 // of the specification
	Reduces      bool   // takes an op
	PointToPoint bool   // is the call of two ranks alone, Root and Peer
	Needs        Needs  // which ranks' calls it takes for one to end
	Algorithms   []Algorithm
	// Rules say which algorithm a call gets: that of the first rule that matches. A call that none matches gets the
	// first of Algorithms that serves it. Algorithms that were not proved for so many ranks are passed over.
	Rules []Rule
}

// Needs says which ranks have to begin a call with data, or a barrier, before a rank's own can end: those on whose
// input its result depends, or that have to enter.
type Needs uint8

// The needs.
const (
	NeedsUnknown Needs = iota
	AllNeedAll         // as of AllReduce
	AllNeedRoot        // as of Broadcast
	RootNeedsAll       // as of Reduce
)

// needs reports whether the call of rank cannot end before other has begun its own.
func (n Needs) needs(rank, other, root int) bool {
	return n == AllNeedAll || n == AllNeedRoot && other == root || n == RootNeedsAll && rank == root
}

// Algorithm is one generated algorithm.
type Algorithm struct {
	Name        string              // "ring"
	Hash        uint64              // of the algorithm's text
	Commutative bool                // needs a commutative op
	Pipelined   bool                // the depth of a call makes a difference to it
	OutOfPlace  bool                // needs distinct buffers: it gets a copy of In where the caller's overlap
	Serves      func(size int) bool // nil: every size
	Proved      Proved              // for which calls: others get it only with Unproved
	Run         func(ctx context.Context, x *Call) error
}

// Rule is a line of a selection table: the algorithm of calls for which all of its conditions hold. The first rule that
// matches a call and whose algorithm serves it counts.
type Rule = selection.Rule

// Args are the arguments of a call besides its buffers.
type Args struct {
	Count      int // elements per block
	Op         Op
	Root, Peer int
	// In place, In's element AliasIn is Out's element AliasOut. NoAlias: the buffers may not overlap.
	AliasIn, AliasOut int
	NoAlias           bool
}

// Refuse returns the error of a call of primitive with a bad argument. It wraps ErrInvalidArgument.
func Refuse(primitive, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", primitive, ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// renamed returns k under another name, by which a part of its ranks call it.
func (k *Collective) renamed(name string) Collective {
	as := *k
	as.Name = name
	return as
}

// within returns k as a part of another operation, which has that name: it matches k nowhere else.
func (k *Collective) within(operation string) Collective {
	part := k.renamed(operation)
	for _, b := range []byte(operation) {
		part.Hash = mix(part.Hash ^ uint64(b))
	}
	return part
}

// algorithm returns the index of the algorithm of that name; -1 if there is none.
func (k *Collective) algorithm(name string) int {
	for i := range k.Algorithms {
		if k.Algorithms[i].Name == name {
			return i
		}
	}
	return -1
}

// names returns the names of all algorithms.
func (k *Collective) names() []string {
	names := make([]string, len(k.Algorithms))
	for i := range k.Algorithms {
		names[i] = k.Algorithms[i].Name
	}
	return names
}

// Collectives returns the names of this package's collectives, in alphabetical order: "AllGather", "AllReduce" and so
// on.
func Collectives() []string {
	names := make([]string, len(collectives))
	for i, k := range collectives {
		names[i] = k.Name
	}
	return names
}

// Algorithms returns the names, for WithAlgorithm, of the algorithms of one of Collectives; nil if there is no such
// collective. Not every one serves every number of ranks and every op: a call that it does not serve gets
// ErrInvalidArgument.
func Algorithms(collective string) []string {
	if k := collectiveOf(collective); k != nil {
		return k.names()
	}
	return nil
}

// collectiveOf returns this package's collective of that name; nil if there is none.
func collectiveOf(name string) *Collective {
	for _, k := range collectives {
		if k.Name == name {
			return k
		}
	}
	return nil
}
