package exec

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// Generated code uses the types and functions of this file, and Call and Buffer. Programs that call collectives need
// none of them.

// Collective is a primitive and the algorithms that can carry it out. Generated code declares one per primitive.
type Collective struct {
	Name         string // "AllReduce"
	Hash         uint64 // of the specification
	Reduces      bool   // takes an op
	PointToPoint bool   // is the call of two ranks alone, Root and Peer
	Uneven       bool   // its blocks may differ in length
	SameCounts   bool   // of uneven blocks: every rank passes the lengths of all blocks of one of its buffers
	Needs        Needs  // which ranks must begin the call before a rank's own can end
	Algorithms   []Algorithm
	// Rules select the algorithm of a call: the first rule that matches decides. A call that matches none gets the
	// first of Algorithms that serves it. Algorithms not proved for the number of ranks are skipped.
	Rules []selection.Rule
}

// Needs says which ranks have to begin a call with data, or a barrier, before a rank's own can end: the ranks on whose
// input its result depends, or that must enter the barrier.
type Needs uint8

// The needs.
const (
	NeedsUnknown Needs = iota
	AllNeedAll         // as of AllReduce
	AllNeedRoot        // as of Broadcast
	RootNeedsAll       // as of Reduce
	AllNeedLower       // each rank those before it, as of Scan
)

// Needs reports whether the call of rank cannot end before other has begun its own.
func (n Needs) Needs(rank, other, root int) bool {
	switch n {
	case AllNeedAll:
		return true
	case AllNeedRoot:
		return other == root
	case RootNeedsAll:
		return rank == root
	case AllNeedLower:
		return other < rank
	}
	return false
}

// Algorithm is one generated algorithm.
type Algorithm struct {
	Name        string                     // "ring"
	Hash        uint64                     // of the algorithm's text
	Commutative bool                       // needs a commutative op
	Pipelined   bool                       // the algorithm depends on the depth of a call
	OutOfPlace  bool                       // needs distinct buffers: In is copied if the caller's overlap
	Local       bool                       // it depends on the number of ranks on each host
	AtOnce      bool                       // reduces all operands of a result at once
	Param       int                        // the number that Run leaves open, such as a radix; 0: none
	Serves      func(size, local int) bool // nil: every size
	Proved      Proved                     // for which calls; others get it only with Unproved
	Run         func(ctx context.Context, x *Call) error
}

// Args are the arguments of a call besides its buffers.
type Args struct {
	Count      int // elements per block; of uneven blocks, of all that every rank knows
	Op         spec.Op
	Root, Peer int
	// If the call is in place, In's element AliasIn is Out's element AliasOut. NoAlias: the buffers must not overlap.
	AliasIn, AliasOut int
	NoAlias           bool
}

// Renamed returns k under another name, which some of its ranks call it by.
func (k *Collective) Renamed(name string) Collective {
	as := *k
	as.Name = name
	return as
}

// Within returns k as a part of the named operation. It does not match k outside that operation.
func (k *Collective) Within(operation string) Collective {
	part := k.Renamed(operation)
	for _, b := range []byte(operation) {
		part.Hash = wire.Mix(part.Hash ^ uint64(b))
	}
	return part
}

// algorithm returns the index of the algorithm of that name, or -1.
func (k *Collective) algorithm(name string) int {
	for i := range k.Algorithms {
		if k.Algorithms[i].Name == name {
			return i
		}
	}
	return -1
}

// Names returns the names of all algorithms.
func (k *Collective) Names() []string {
	names := make([]string, len(k.Algorithms))
	for i := range k.Algorithms {
		names[i] = k.Algorithms[i].Name
	}
	return names
}

// same reports whether *args == *a. It compares word by word, because args were just stored that way, and a processor
// that compares in larger pieces has to wait for those stores.
func (args *Args) same(a *Args) bool {
	return args.Count == a.Count && args.Op == a.Op && args.Root == a.Root && args.Peer == a.Peer &&
		args.AliasIn == a.AliasIn && args.AliasOut == a.AliasOut && args.NoAlias == a.NoAlias
}

// inPlace reports whether the buffers share memory in the permitted way.
func (args *Args) inPlace(dst, src []byte, elem int) bool {
	return !args.NoAlias && Address(dst)+uintptr(args.AliasOut*elem) == Address(src)+uintptr(args.AliasIn*elem)
}

// Proved says for which calls an algorithm was proved: with every root and, for point-to-point calls, every pair. The
// zero Proved means that nothing was proved.
type Proved struct {
	Sizes  int // every number of ranks up to this one that it serves
	Depths int // these with every depth up to this one; 0: the depth makes no difference
	// by induction, every number of ranks and every depth, up to those of package selection, whatever the above say
	Every bool
}

// Covers reports whether calls among size ranks were proved at some depth.
func (p Proved) Covers(size int) bool {
	return size <= p.Sizes || p.Every && size <= selection.MaxRanks
}

// Deepest returns the largest depth up to which a was proved among size ranks, or 0 if it was not proved.
func (a *Algorithm) Deepest(size int) int {
	switch p := a.Proved; {
	case !p.Covers(size):
		return 0
	case !a.Pipelined:
		return maxInt
	case !p.Every:
		return p.Depths
	}
	return selection.MaxDepth
}

// String returns for which calls the algorithm was proved, such as "up to 64 ranks and depth 4".
func (p Proved) String() string {
	switch {
	case p.Every:
		return "every number of ranks and every depth"
	case p.Sizes == 0:
		return "nothing"
	case p.Depths == 0:
		return fmt.Sprintf("up to %d ranks", p.Sizes)
	}
	return fmt.Sprintf("up to %d ranks and depth %d", p.Sizes, p.Depths)
}
