package gen

import (
	"errors"
	"fmt"
	"iter"
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
	if p.Size < 1 || p.Root < 0 || p.Root >= p.Size || p.Peer < 0 || p.Peer >= p.Size || p.Depth < 1 || p.Local < 0 ||
		p.Local > p.Size || p.Local == 0 && a.HasLocal() {
		return fmt.Errorf("%s: no such call: %+v", a.FullName(), p)
	}
	if a.Param.isOpen() {
		return fmt.Errorf("%s leaves %s open: its members have schedules", a.FullName(), a.Param.Name)
	}
	return nil
}

func (b *builder) run(rank int) error {
	*b = builder{a: b.a, s: b.s, places: b.places, after: b.after,
		rank: rank, prog: &b.s.Ranks[rank], instrs: b.instrs[:0], env: b.a.Param.bind(b.s.Params.Env(rank)), ready: -1}
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
	chunks, err := a.Chunks.OrElse(spec.Int(1)).Eval(a.Param.bind(p.Env(0)))
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
	if chunks != 1 && b.a.Primitive.IsUneven() {
		return fmt.Errorf("uneven blocks are cut into %d chunks", chunks)
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
	case Fold:
		return b.fold(n)
	case Step:
		return b.runStep(n)
	}
	if !b.inStep {
		return fmt.Errorf("%T is outside a Step", n)
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
		if err := b.turn(n.Var, n.N, times); err != nil {
			return err
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

// turn counts one of the turns of a loop.
func (b *builder) turn(name string, n spec.Expr, times int) error {
	if b.turns++; b.turns > limit {
		return fmt.Errorf("for %s < %v takes %d turns: with the turns of other loops, more than %d", name, n, times, limit)
	}
	return nil
}

// fold adds the numbers that n works out to the names that have a value.
func (b *builder) fold(n Fold) error {
	times, err := n.N.Eval(b.env)
	if err != nil {
		return err
	}
	state := make(spec.Env, len(n.State))
	for i, x := range n.State {
		state[i].Name = x.Name
		if state[i].Value, err = x.First.Eval(b.env); err != nil {
			return err
		}
	}
	outer := len(b.env)
	b.env = append(b.env, state...)
	for i := range times {
		if err := b.turn(n.Var, n.N, times); err != nil {
			return err
		}
		if err := b.foldTurn(n, i, state); err != nil {
			return err
		}
		copy(b.env[outer:], state)
	}
	return nil
}

// foldTurn sets state to the numbers after turn i, before which they are those of the environment.
func (b *builder) foldTurn(n Fold, i int, state spec.Env) error {
	env := len(b.env)
	defer func() { b.env = b.env[:env] }()
	b.env = b.env.With(n.Var, i)
	for _, inner := range n.Body {
		switch inner.(type) {
		case Let, Fold:
		default:
			return fmt.Errorf("%T is inside a Fold", inner)
		}
		if err := b.node(inner); err != nil {
			return err
		}
	}
	holds, err := n.When.OrElse(spec.Int(1)).Eval(b.env)
	if err != nil || holds == 0 {
		return err
	}
	for i, x := range n.State {
		if state[i].Value, err = x.Next.Eval(b.env); err != nil {
			return err
		}
	}
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

// Steps returns what one rank does in the Schedule that [Instantiate] makes, step by step: its instructions, of which
// After and AfterSend count from the first one of the step. It is for schedules that are too large to be held: each
// step is in the memory of the one before. After an error, which is like those of Instantiate, nothing follows.
func Steps(a *Algorithm, p Params, rank int) iter.Seq2[[]Instr, error] {
	return func(yield func([]Instr, error) bool) {
		err := p.validate(a)
		if err == nil && (rank < 0 || rank >= p.Size) {
			err = fmt.Errorf("%s: there is no rank %d of %d", a.FullName(), rank, p.Size)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		s := &Schedule{Params: p, Primitive: a.Primitive, Ranks: make([]Program, 1)}
		b := &builder{a: a, s: s, rank: rank, prog: &s.Ranks[0], env: a.Param.bind(p.Env(rank)), ready: -1,
			each: func(step []Instr) bool { return yield(step, nil) }}
		if err = b.make(); err != nil && err != errEnough {
			yield(nil, err)
		}
	}
}
