package fast

import (
	"context"
	"fmt"
	"strings"
)

// The types and functions of this file, and Call and Buffer, are what generated code is written in. Programs that call
// collectives need none of them.

// Collective is a primitive and the algorithms that can carry it out. Generated code declares one per primitive.
type Collective struct {
	Name         string // "AllReduce"
	Hash         uint64 // of the specification
	Reduces      bool   // takes an op
	PointToPoint bool   // is the call of two ranks alone, Root and Peer
	Algorithms   []Algorithm
	// Rules say which algorithm a call gets: that of the first rule that matches. A call that none matches gets the first
	// of Algorithms that serves it.
	Rules []Rule
}

// Algorithm is one generated algorithm.
type Algorithm struct {
	Name        string              // "ring"
	Hash        uint64              // of the algorithm's text
	Commutative bool                // needs a commutative op
	OutOfPlace  bool                // needs distinct buffers: it gets a copy of In where the caller's overlap
	Serves      func(size int) bool // nil: every size
	Run         func(ctx context.Context, x *Call) error
}

// Rule is a line of a selection table. It matches a call if all of its conditions hold and its algorithm serves the
// call. Whether a rank's buffers overlap makes no difference: the ranks would not agree on it.
type Rule struct {
	Algorithm        string
	MinSize, MaxSize int // ranks, inclusive; MaxSize 0: any number
	MaxBytes         int // bytes per block, inclusive; 0: any number
	// PieceBytes sets the depth of a pipelined algorithm: as many pieces as there are PieceBytes in a block, rounded up.
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

// serves tells whether a can carry out a call with op among size ranks.
func (a *Algorithm) serves(size int, op Op) bool {
	return (a.Serves == nil || a.Serves(size)) && (!a.Commutative || op == 0 || op.Commutative())
}

func (r *Rule) matches(size, bytes int) bool {
	return size >= r.MinSize && (r.MaxSize == 0 || size <= r.MaxSize) && (r.MaxBytes == 0 || bytes <= r.MaxBytes)
}

// depth is how many pieces a block of that many bytes is cut into. Without a rule it is 1.
func (r *Rule) depth(bytes int) int {
	if r == nil || r.PieceBytes <= 0 || bytes == 0 {
		return 1
	}
	return (bytes-1)/r.PieceBytes + 1
}

// plan is the algorithm and the depth for a call among size ranks, whose blocks have count elements and so many bytes.
func (k *Collective) plan(size, count, bytes int, op Op, opts []Option) (a *Algorithm, depth int, err error) {
	var name string
	for i := range opts {
		switch o := &opts[i]; o.kind {
		case algorithmOption:
			name = o.name
			if a = k.algorithm(name); a == nil {
				return nil, 0, Refuse(k.Name, "no algorithm is called %q; there are %s", name, k.names())
			}
		case depthOption:
			if depth = o.depth; depth < 1 {
				return nil, 0, Refuse(k.Name, "depth is %d, want at least 1", depth)
			}
		}
	}
	if a != nil && !a.serves(size, op) {
		return nil, 0, Refuse(k.Name, "algorithm %q does not serve %d ranks and op %v", name, size, op)
	}
	rule := k.rule(size, bytes, op, a)
	if a == nil {
		if a = k.selected(rule, size, op); a == nil {
			return nil, 0, Refuse(k.Name, "no algorithm serves %d ranks and op %v", size, op)
		}
	}
	if depth == 0 {
		depth = rule.depth(bytes)
	}
	return a, max(1, min(depth, count)), nil
}

// selected is the algorithm of rule, or the first one that serves the call if there is no rule for it.
func (k *Collective) selected(rule *Rule, size int, op Op) *Algorithm {
	if rule != nil {
		return k.algorithm(rule.Algorithm)
	}
	for i := range k.Algorithms {
		if k.Algorithms[i].serves(size, op) {
			return &k.Algorithms[i]
		}
	}
	return nil
}

// rule is the first rule that matches; for a given algorithm it is the first one of that algorithm, which has its depth.
func (k *Collective) rule(size, bytes int, op Op, given *Algorithm) *Rule {
	for i := range k.Rules {
		r := &k.Rules[i]
		a := given
		if given == nil && r.matches(size, bytes) {
			a = k.algorithm(r.Algorithm)
		}
		if a != nil && a.Name == r.Algorithm && a.serves(size, op) {
			return r
		}
	}
	return nil
}

func (k *Collective) algorithm(name string) *Algorithm {
	for i := range k.Algorithms {
		if k.Algorithms[i].Name == name {
			return &k.Algorithms[i]
		}
	}
	return nil
}

// names are the names of all algorithms, for people.
func (k *Collective) names() string {
	names := make([]string, len(k.Algorithms))
	for i := range k.Algorithms {
		names[i] = k.Algorithms[i].Name
	}
	return strings.Join(names, ", ")
}
