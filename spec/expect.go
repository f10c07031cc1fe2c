package spec

import (
	"cmp"
	"fmt"
)

// Call is what a specification depends on in addition to the data: the number of ranks, and the root and the peer where
// the primitive has these parameters.
type Call struct {
	Size, Root, Peer int
}

// Env binds rank, size, root and peer.
func (c Call) Env(rank int) Env {
	env := make(Env, 4, 6) // with room for block and q
	copy(env, Env{{"rank", rank}, {"size", c.Size}, {"root", c.Root}, {"peer", c.Peer}})
	return env
}

// Expectation is what a primitive promises of one call, with every number filled in.
type Expectation struct {
	Call  Call
	Order Order
	Ranks []RankExpectation // by rank
}

// RankExpectation is what a primitive promises to one rank. The slices are as long as the rank's buffers have blocks.
type RankExpectation struct {
	Given []Content // what In holds before the call: each an Input or Undefined; nearly always its own name
	In    []Content // what In holds after the call, out of place
	Out   []Content // what Out holds after the call
	// InPlace, Out's block OutBlock is the memory of In's block InBlock (and so on for the blocks around these, as far
	// as both buffers go), and holds then what Out promises. Both are -1 where a rank cannot be in place.
	InBlock, OutBlock int
	Entered           []int // the ranks that have entered the call before this rank leaves it, ascending

	InLengths, OutLengths []Length // how long the blocks are; nil where all blocks of the call are equally long
}

// Content is what one block holds.
type Content struct {
	Kind  ValueKind // Undefined, Unchanged, Input or Fold
	Terms []Term    // of an Input the one block that it is; of a Fold its operands, in rank order
}

// Term is block Block of rank Rank's In, as it was before the call.
type Term struct{ Rank, Block int }

// Aliased returns the block of Out that is, in place, the memory of In's block i, if there is one.
func (r *RankExpectation) Aliased(i int) (block int, ok bool) {
	if r.InBlock < 0 {
		return 0, false
	}
	block = i - r.InBlock + r.OutBlock
	return block, block >= 0 && block < len(r.Out)
}

// RefusedError is the error of a call that one of the primitive's argument errors forbids.
type RefusedError struct {
	Primitive, Reason string
}

func (e *RefusedError) Error() string { return e.Primitive + ": " + e.Reason }

// Expect works out what p promises of the call c. It returns a *RefusedError if p refuses the call, and another error
// if p itself is wrong: an expression without a value, a block that does not exist, two clauses about one block.
func Expect(p Primitive, c Call) (*Expectation, error) {
	if c.Size < 1 {
		return nil, fmt.Errorf("%s: a communicator of %d ranks", p.Name, c.Size)
	}
	x := &expecter{p: p, c: c, e: &Expectation{Call: c, Order: p.Order, Ranks: make([]RankExpectation, c.Size)}}
	for _, pass := range []func(int) error{x.refuse, x.shape, x.given, x.named, x.post, x.lengths} {
		for rank := range c.Size {
			if err := pass(rank); err != nil {
				return nil, err
			}
		}
	}
	return x.e, nil
}

// expecter fills an Expectation in, one pass over all ranks after the other.
type expecter struct {
	p Primitive
	c Call
	e *Expectation
}

func (x *expecter) refuse(rank int) error {
	for _, a := range x.p.Errors {
		when, err := a.When.Eval(x.c.Env(rank))
		if err != nil {
			return err
		}
		if when != 0 {
			return &RefusedError{x.p.Name, a.Reason}
		}
	}
	return nil
}

// shape makes the rank's buffers, all unchanged, and finds the blocks that are shared in place.
func (x *expecter) shape(rank int) error {
	r, env := &x.e.Ranks[rank], x.c.Env(rank)
	in, err := x.p.In.Len(env)
	if err != nil {
		return err
	}
	out, err := x.p.Out.Len(env)
	if err != nil {
		return err
	}
	if in < 0 || out < 0 {
		return fmt.Errorf("%s, rank %d: %d and %d blocks", x.p.Name, rank, in, out)
	}
	r.Given, r.In, r.Out = make([]Content, in), make([]Content, in), make([]Content, out)
	for i := range r.In {
		r.In[i].Kind = Unchanged
	}
	for i := range r.Out {
		r.Out[i].Kind = Unchanged
	}
	r.InBlock, r.OutBlock = -1, -1
	if x.p.IsUneven() {
		var err1, err2 error
		r.InLengths, err1 = x.p.In.lengths(env, in)
		r.OutLengths, err2 = x.p.Out.lengths(env, out)
		if err := cmp.Or(err1, err2); err != nil {
			return err
		}
	}
	if x.p.InPlace.InBlock.IsAbsent() || in == 0 || out == 0 {
		return nil
	}
	return x.alias(r, env)
}

func (x *expecter) alias(r *RankExpectation, env Env) (err error) {
	if r.InBlock, err = x.p.InPlace.InBlock.Eval(env); err != nil {
		return err
	}
	if r.OutBlock, err = x.p.InPlace.OutBlock.Eval(env); err != nil {
		return err
	}
	if !has(r.In, r.InBlock) || !has(r.Out, r.OutBlock) {
		return fmt.Errorf("%s: in place, block %d of %d in is block %d of %d out",
			x.p.Name, r.InBlock, len(r.In), r.OutBlock, len(r.Out))
	}
	return nil
}

func has(blocks []Content, i int) bool { return i >= 0 && i < len(blocks) }

// given works out what In holds before the call.
func (x *expecter) given(rank int) error {
	r := &x.e.Ranks[rank]
	for _, c := range x.p.Pre {
		if c.Buf != In || c.Value.Kind != Input {
			return fmt.Errorf("%s: a precondition speaks of %q, not of an input", x.p.Name, c.Buf)
		}
		if err := x.clause(c, rank, r.Given, Undefined); err != nil {
			return err
		}
	}
	return nil
}

// named checks that what In is said to hold is what that place itself is said to hold: each value has one name.
func (x *expecter) named(rank int) error {
	for b, c := range x.e.Ranks[rank].Given {
		if c.Kind == Undefined {
			continue
		}
		t := c.Terms[0]
		if g := x.e.Ranks[t.Rank].Given[t.Block]; g.Kind == Undefined || g.Terms[0] != t {
			return fmt.Errorf("%s: block %d of rank %d is given as block %d of rank %d, which is given as something else",
				x.p.Name, b, rank, t.Block, t.Rank)
		}
	}
	return nil
}

// post works out what the rank's buffers hold after the call, and whom it has met.
func (x *expecter) post(rank int) error {
	r := &x.e.Ranks[rank]
	for _, c := range x.p.Post {
		var err error
		switch {
		case c.Value.Kind == Entered:
			err = x.entered(c, rank)
		case c.Buf == In:
			err = x.clause(c, rank, r.In, Unchanged)
		case c.Buf == Out:
			err = x.clause(c, rank, r.Out, Unchanged)
		default:
			err = fmt.Errorf("%s: a postcondition speaks of %q", x.p.Name, c.Buf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clause sets those of blocks that c mentions. What no clause mentioned yet has the kind unsaid.
func (x *expecter) clause(c Clause, rank int, blocks []Content, unsaid ValueKind) error {
	env := x.c.Env(rank)
	for b := range blocks {
		env := env.With("block", b)
		where, err := c.Where.OrElse(Int(1)).Eval(env)
		if err != nil {
			return err
		}
		if where == 0 {
			continue
		}
		if blocks[b].Kind != unsaid {
			return fmt.Errorf("%s, rank %d: two clauses speak of block %d of %s", x.p.Name, rank, b, c.Buf)
		}
		if blocks[b], err = x.content(c.Value, env, unsaid == Undefined); err != nil {
			return fmt.Errorf("%s, rank %d, %s block %d: %w", x.p.Name, rank, c.Buf, b, err)
		}
	}
	return nil
}

// content resolves v. An input is a name when it is being given, and otherwise has to have been given.
func (x *expecter) content(v Value, env Env, giving bool) (Content, error) {
	switch v.Kind {
	case Undefined:
		return Content{}, nil
	case Input:
		q, err := v.Rank.Eval(env)
		if err != nil {
			return Content{}, err
		}
		t, err := x.term(v, env, q, giving)
		return Content{Kind: Input, Terms: []Term{t}}, err
	case Fold:
		return x.fold(v, env)
	}
	return Content{}, fmt.Errorf("a clause cannot say %v of a block", v.Kind)
}

func (x *expecter) fold(v Value, env Env) (Content, error) {
	c := Content{Kind: Fold, Terms: make([]Term, 0, x.c.Size)}
	for q := range x.c.Size {
		env := env.With("q", q)
		where, err := v.Where.OrElse(Int(1)).Eval(env)
		if err != nil {
			return c, err
		}
		if where == 0 {
			continue
		}
		t, err := x.term(v, env, q, false)
		if err != nil {
			return c, err
		}
		c.Terms = append(c.Terms, t)
	}
	if len(c.Terms) == 0 {
		return c, fmt.Errorf("a reduction of no operands")
	}
	return c, nil
}

// term returns the block of rank q that v mentions.
func (x *expecter) term(v Value, env Env, q int, giving bool) (Term, error) {
	b, err := v.Block.Eval(env)
	if err != nil {
		return Term{}, err
	}
	switch {
	case q < 0 || q >= x.c.Size || !has(x.e.Ranks[q].Given, b):
		return Term{}, fmt.Errorf("rank %d has no block %d", q, b)
	case giving:
		return Term{q, b}, nil
	case x.e.Ranks[q].Given[b].Kind == Undefined:
		return Term{}, fmt.Errorf("block %d of rank %d is not an input by any precondition", b, q)
	}
	return x.e.Ranks[q].Given[b].Terms[0], nil
}

func (x *expecter) entered(c Clause, rank int) error {
	env, r := x.c.Env(rank), &x.e.Ranks[rank]
	if on, err := c.Where.OrElse(Int(1)).Eval(env); err != nil || on == 0 {
		return err
	}
	for q := range x.c.Size {
		where, err := c.Value.Where.OrElse(Int(1)).Eval(env.With("q", q))
		if err != nil {
			return err
		}
		if where != 0 {
			r.Entered = append(r.Entered, q)
		}
	}
	return nil
}

// lengths returns those of n blocks.
func (b Buffer) lengths(env Env, n int) ([]Length, error) {
	all := make([]Length, n)
	for i := range all {
		var err error
		if all[i], err = b.Length(env, i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// lengths checks that each block of an uneven primitive is as long as what it holds, whatever the counts are. In place,
// In and Out share one block: where others lie is for the call to say.
func (x *expecter) lengths(rank int) error {
	r := &x.e.Ranks[rank]
	if !x.p.IsUneven() {
		return nil
	}
	shared := 0
	for i := range r.In {
		b, ok := r.Aliased(i)
		if !ok {
			continue
		}
		if shared++; shared > 1 {
			return fmt.Errorf("%s, rank %d: in place, more than one uneven block is shared", x.p.Name, rank)
		}
		if r.InLengths[i] != r.OutLengths[b] {
			return fmt.Errorf("%s, rank %d: in place, block %d of in is block %d of out, and not as long", x.p.Name, rank, i, b)
		}
	}
	return cmp.Or(x.holdAsMuch(rank, In, r.In, r.InLengths), x.holdAsMuch(rank, Out, r.Out, r.OutLengths))
}

func (x *expecter) holdAsMuch(rank int, buf Buf, blocks []Content, lengths []Length) error {
	for b, c := range blocks {
		for _, t := range c.Terms {
			if x.e.Ranks[t.Rank].InLengths[t.Block] != lengths[b] {
				return fmt.Errorf("%s, rank %d: block %d of %s holds block %d of rank %d, which is not as long",
					x.p.Name, rank, b, buf, t.Block, t.Rank)
			}
		}
	}
	return nil
}
