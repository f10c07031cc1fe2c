package gen

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/spec"
)

// Instantiate returns the algorithm's Schedule for one size, root, peer and depth. Its errors are *NodeError: an
// expression without a value, a rank or a region out of range, a node where it may not stand.
func Instantiate(a *Algorithm, p Params) (*Schedule, error) {
	if err := p.validate(a); err != nil {
		return nil, err
	}
	s := &Schedule{Algorithm: a.FullName(), Primitive: a.Primitive, Requires: a.Requires, Params: p}
	s.Ranks = make([]Program, p.Size)
	b := &builder{a: a, s: s}
	for rank := range s.Ranks {
		if err := b.run(rank); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p Params) validate(a *Algorithm) error {
	if p.Size < 1 || p.Root < 0 || p.Root >= p.Size || p.Peer < 0 || p.Peer >= p.Size || p.Depth < 1 {
		return fmt.Errorf("%s: no such call: %+v", a.FullName(), p)
	}
	return nil
}

// limit is what the numbers of an algorithm may come to on one rank, so that a mistake ends in an error: chunks, slots,
// operands of a reduction, turns of all loops.
const limit = 1 << 24

// builder makes the Programs, one rank after the other.
type builder struct {
	a      *Algorithm
	s      *Schedule
	places slab[Place]
	after  slab[int]
	each   func([]Instr) bool // takes every step, and says whether it wants more; nil: all are kept

	// Of the current rank:
	rank   int
	prog   *Program
	instrs []Instr
	env    spec.Env
	bufs   []boundBuf
	next   int // index of the next action in source order
	turns  int // of loops, so far
	step   int
	ready  int // the instruction that everything of the next step waits for; -1 at the start
	inStep bool
	first  int // the first instruction of the current step
	local  int // the last local instruction of the current step, or -1
}

type boundBuf struct{ name, is spec.Buf }

func (b *builder) run(rank int) error {
	*b = builder{a: b.a, s: b.s, places: b.places, after: b.after,
		rank: rank, prog: &b.s.Ranks[rank], instrs: b.instrs[:0], env: b.s.Params.Env(rank), ready: -1}
	err := b.make()
	b.prog.Instrs = slices.Clone(b.instrs)
	return err
}

// make makes the current rank's program.
func (b *builder) make() error {
	err := b.layout()
	if err == nil {
		err = b.body(b.a.Body)
	}
	var ne *NodeError
	if err != nil && err != errEnough && !errors.As(err, &ne) {
		err = &NodeError{Algorithm: b.a.FullName(), Node: -1, Rank: b.rank, Err: err}
	}
	return err
}

// ChunksOf returns how many chunks a cuts each block of a call into.
func ChunksOf(a *Algorithm, p Params) (int, error) {
	chunks, err := a.Chunks.OrElse(spec.Int(1)).Eval(p.Env(0))
	if err == nil && (chunks < 1 || chunks > limit) {
		err = fmt.Errorf("a block is cut into %d chunks", chunks)
	}
	return chunks, err
}

func (b *builder) layout() error {
	chunks, err := ChunksOf(b.a, b.s.Params)
	if err != nil {
		return err
	}
	b.s.Chunks = chunks
	for _, x := range []struct {
		n   *int
		buf spec.Buffer
	}{{&b.prog.In, b.a.Primitive.In}, {&b.prog.Out, b.a.Primitive.Out}} {
		blocks, err := x.buf.Len(b.env)
		if err != nil {
			return err
		}
		if blocks < 0 || blocks > limit {
			return fmt.Errorf("a buffer of %d blocks", blocks)
		}
		*x.n = blocks * chunks
	}
	b.prog.Scratch, err = b.a.Scratch.OrElse(spec.Int(0)).Eval(b.env)
	if err == nil && (b.prog.Scratch < 0 || b.prog.Scratch > limit) {
		err = fmt.Errorf("%d slots of scratch", b.prog.Scratch)
	}
	return err
}

// body runs nodes in a scope of their own. Where it does not execute an action it still counts it, so that an action's
// index is its position in the source.
func (b *builder) body(nodes []Node) error {
	env, bufs := len(b.env), len(b.bufs)
	defer func() { b.env, b.bufs = b.env[:env], b.bufs[:bufs] }()
	for _, n := range nodes {
		if err := b.node(n); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) node(n Node) error {
	switch n := n.(type) {
	case For:
		return b.forLoop(n)
	case If:
		return b.branch(n)
	case Let:
		v, err := n.Is.Eval(b.env)
		b.env = b.env.With(n.Name, v)
		return err
	case LetBuf:
		v, err := n.Cond.Eval(b.env)
		is := n.Else
		if v != 0 {
			is = n.Then
		}
		b.bufs = append(b.bufs, boundBuf{n.Name, b.buf(is)})
		return err
	case Step:
		return b.runStep(n)
	}
	if !b.inStep {
		return fmt.Errorf("%T stands outside of a Step", n)
	}
	index := b.next
	b.next++
	if err := b.action(n, index); err != nil {
		return &NodeError{Algorithm: b.a.FullName(), Node: index, Rank: b.rank, Err: err}
	}
	return nil
}

func (b *builder) forLoop(n For) error {
	times, err := n.N.Eval(b.env)
	if err != nil {
		return err
	}
	start := b.next
	for i := range times {
		if b.turns++; b.turns > limit {
			return fmt.Errorf("for %s < %v takes %d turns, with those of other loops more than %d", n.Var, n.N, times, limit)
		}
		b.next = start
		b.env = b.env.With(n.Var, i)
		err := b.body(n.Body)
		b.env = b.env[:len(b.env)-1]
		if err != nil {
			return err
		}
	}
	b.next = start + CountActions(n.Body)
	return nil
}

func (b *builder) branch(n If) error {
	c, err := n.Cond.Eval(b.env)
	if err != nil {
		return err
	}
	start := b.next
	if c != 0 {
		err = b.body(n.Then)
	} else {
		b.next += CountActions(n.Then)
		err = b.body(n.Else)
	}
	b.next = start + CountActions(n.Then) + CountActions(n.Else)
	return err
}

// CountActions returns the number of actions that stand in nodes.
func CountActions(nodes []Node) int {
	total := 0
	for _, n := range nodes {
		switch n := n.(type) {
		case For:
			total += CountActions(n.Body)
		case If:
			total += CountActions(n.Then) + CountActions(n.Else)
		case Step:
			total += CountActions(n)
		case Let, LetBuf:
		default:
			total++
		}
	}
	return total
}
