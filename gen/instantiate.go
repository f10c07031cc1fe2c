package gen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
)

// FullName is the name under which people and tools know the algorithm: "allreduce/ring".
func (a *Algorithm) FullName() string { return strings.ToLower(a.Primitive.Name) + "/" + a.Name }

// NodeError is an error in an algorithm.
type NodeError struct {
	Algorithm string
	Node      int // index of the action in source order, or -1: not in an action
	Rank      int // or -1: whatever the rank
	Err       error
}

func (e *NodeError) Error() string {
	where := e.Algorithm
	if e.Node >= 0 {
		where += fmt.Sprintf(", action %d", e.Node)
	}
	if e.Rank >= 0 {
		where += fmt.Sprintf(", rank %d", e.Rank)
	}
	return where + ": " + e.Err.Error()
}

// Unwrap is the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// Serves tells whether the algorithm's requirements allow size.
func (a *Algorithm) Serves(size int) bool {
	v, err := a.Requires.Size.OrElse(spec.Int(1)).Eval(spec.Env{{Name: "size", Value: size}})
	return err == nil && v != 0
}

// Instantiate is the algorithm's Schedule for one size, root, peer and depth. Its errors are *NodeError: an expression
// without a value, a rank or a region out of range, a node where it may not stand.
func Instantiate(a *Algorithm, p Params) (*Schedule, error) {
	if p.Size < 1 || p.Root < 0 || p.Root >= p.Size || p.Peer < 0 || p.Peer >= p.Size || p.Depth < 1 {
		return nil, fmt.Errorf("%s: no such call: %+v", a.FullName(), p)
	}
	s := &Schedule{Algorithm: a.FullName(), Primitive: a.Primitive, Requires: a.Requires, Params: p, Ranks: make([]Program, p.Size)}
	b := &builder{a: a, s: s}
	for rank := range s.Ranks {
		if err := b.run(rank); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// builder makes the Programs, one rank after the other.
type builder struct {
	a      *Algorithm
	s      *Schedule
	places slab[Place]
	after  slab[int]

	// Of the current rank:
	rank   int
	prog   *Program
	instrs []Instr
	env    spec.Env
	bufs   []boundBuf
	next   int // index of the next action in source order
	step   int
	ready  int // the instruction that everything of the next step waits for; -1 at the start
	inStep bool
	first  int // the first instruction of the current step
	local  int // the last local instruction of the current step, or -1
}

type boundBuf struct{ name, is spec.Buf }

// slab hands out short slices that lie one behind the other, so that a Schedule is a few allocations.
type slab[T any] struct{ free []T }

func (s *slab[T]) take(n int) []T {
	if len(s.free) < n {
		s.free = make([]T, max(n, 256))
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

func (s *slab[T]) one(value T) []T {
	taken := s.take(1)
	taken[0] = value
	return taken
}

func (b *builder) run(rank int) error {
	*b = builder{a: b.a, s: b.s, places: b.places, after: b.after,
		rank: rank, prog: &b.s.Ranks[rank], instrs: b.instrs[:0], env: b.s.Params.Env(rank), ready: -1}
	err := b.layout()
	if err == nil {
		err = b.body(b.a.Body)
	}
	b.prog.Instrs = slices.Clone(b.instrs)
	var ne *NodeError
	if err != nil && !errors.As(err, &ne) {
		err = &NodeError{Algorithm: b.a.FullName(), Node: -1, Rank: rank, Err: err}
	}
	return err
}

func (b *builder) layout() error {
	chunks, err := b.a.Chunks.OrElse(spec.Int(1)).Eval(b.env)
	if err != nil {
		return err
	}
	if chunks < 1 {
		return fmt.Errorf("a block is cut into %d chunks", chunks)
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
		*x.n = blocks * chunks
	}
	b.prog.Scratch, err = b.a.Scratch.OrElse(spec.Int(0)).Eval(b.env)
	if err == nil && b.prog.Scratch < 0 {
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

// CountActions is the number of actions that stand in nodes.
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

func (b *builder) runStep(s Step) error {
	if b.inStep {
		return errors.New("a Step stands inside of a Step")
	}
	b.inStep, b.first, b.local = true, len(b.instrs), -1
	err := b.body(s)
	b.inStep = false
	if err != nil {
		return err
	}
	if err := b.linkAfterSend(); err != nil {
		return err
	}
	switch n := len(b.instrs); {
	case b.local >= 0:
		b.ready = b.local
	case n == b.first: // nothing for this rank in this step
		return nil
	case n == b.first+1:
		b.ready = b.first
	default:
		b.join()
	}
	b.step++
	return nil
}

// join adds an instruction that waits for all of the current step so far.
func (b *builder) join() {
	j := Instr{Kind: JoinInstr, AfterSend: -1, Step: b.step, Node: -1, After: b.after.take(len(b.instrs) - b.first)}
	for i := range j.After {
		j.After[i] = b.first + i
	}
	b.ready = len(b.instrs)
	b.instrs = append(b.instrs, j)
}

// linkAfterSend gives each receive of the current step that is marked AfterSend (by a placeholder, -2) the send to the
// same peer that it follows.
func (b *builder) linkAfterSend() error {
	instrs := b.instrs
	for i := b.first; i < len(instrs); i++ {
		if instrs[i].AfterSend != markedAfterSend {
			continue
		}
		for j := b.first; j < len(instrs); j++ {
			if instrs[j].Kind == SendInstr && instrs[j].Peer == instrs[i].Peer {
				instrs[i].AfterSend = j
			}
		}
		if instrs[i].AfterSend == markedAfterSend {
			return &NodeError{b.a.FullName(), instrs[i].Node, b.rank, errors.New("AfterSend, but the step sends nothing to the same rank")}
		}
	}
	return nil
}

const markedAfterSend = -2

func (b *builder) action(n Node, index int) error {
	in := Instr{AfterSend: -1, Step: b.step, Node: index}
	var err error
	switch n := n.(type) {
	case Send:
		in.Kind = SendInstr
		err = b.message(&in, n.To, n.Data, true)
	case Recv:
		in.Kind = RecvInstr
		err = b.message(&in, n.From, n.Into, false)
		mark(&in, n.AfterSend)
	case RecvReduce:
		in.Kind = RecvReduceInstr
		err = errors.Join(b.message(&in, n.From, n.Into, false), b.operand(&in, n))
		mark(&in, n.AfterSend)
	case Copy:
		in.Kind = CopyInstr
		err = b.copy(&in, n)
	case Reduce:
		in.Kind = ReduceInstr
		err = b.reduce(&in, n)
	case Finish:
		in.Kind = FinishInstr
		in.Dst, err = b.place(n.Data)
	default:
		err = fmt.Errorf("%T is not an action", n)
	}
	if err != nil {
		return err
	}
	return b.add(in)
}

func mark(in *Instr, afterSend bool) {
	if afterSend {
		in.AfterSend = markedAfterSend
	}
}

// add appends in to the program, unless it moves nothing.
func (b *builder) add(in Instr) error {
	if in.isEmpty() {
		return nil
	}
	isLocal := in.Kind >= CopyInstr
	switch {
	case !isLocal && b.local >= 0:
		return errors.New("a send or receive is listed after a local action of the same step")
	case isLocal && b.local >= 0:
		in.After = b.after.one(b.local)
	case isLocal && len(b.instrs) > b.first:
		b.join()
		in.After = b.after.one(b.ready)
	case b.ready >= 0:
		in.After = b.after.one(b.ready)
	}
	if isLocal {
		b.local = len(b.instrs)
	}
	b.instrs = append(b.instrs, in)
	return nil
}

// isEmpty tells whether in speaks of a region of no chunks. An empty message, which names no region, is not empty.
func (in *Instr) isEmpty() bool {
	switch {
	case in.Kind == SendInstr:
		return in.Srcs[0].Buf != "" && in.Srcs[0].N == 0
	default:
		return in.Dst.Buf != "" && in.Dst.N == 0
	}
}

func (b *builder) message(in *Instr, peer spec.Expr, data Region, send bool) error {
	p, err := peer.Eval(b.env)
	if err != nil {
		return err
	}
	if p < 0 || p >= b.s.Size {
		return fmt.Errorf("peer %v is %d, with %d ranks", peer, p, b.s.Size)
	}
	if p == b.rank {
		return fmt.Errorf("peer %v is the rank itself", peer)
	}
	in.Peer = p
	place, err := b.place(data)
	if send {
		in.Srcs = b.places.one(place)
	} else {
		in.Dst = place
	}
	return err
}

func (b *builder) operand(in *Instr, n RecvReduce) error {
	with, err := b.place(n.With)
	if err != nil {
		return err
	}
	first, err := n.ReceivedFirst.OrElse(spec.Int(0)).Eval(b.env)
	in.Srcs, in.ReceivedFirst = b.places.one(with), first != 0
	return errors.Join(err, sameShape(in.Dst, with))
}

func (b *builder) copy(in *Instr, n Copy) error {
	src, err := b.place(n.From)
	if err != nil {
		return err
	}
	in.Srcs = b.places.one(src)
	in.Dst, err = b.place(n.Into)
	return errors.Join(err, sameShape(in.Dst, src))
}

func (b *builder) reduce(in *Instr, n Reduce) error {
	times, err := n.N.Eval(b.env)
	if err != nil {
		return err
	}
	if times < 1 {
		return fmt.Errorf("a reduction of %d operands", times)
	}
	in.Srcs = b.places.take(times)
	env := len(b.env)
	defer func() { b.env = b.env[:env] }()
	if in.Dst, err = b.place(n.Into); err != nil {
		return err
	}
	for i := range in.Srcs {
		b.env = b.env[:env].With(n.Var, i)
		src, err := b.place(n.From)
		if err = errors.Join(err, sameShape(in.Dst, src)); err != nil {
			return err
		}
		in.Srcs[i] = src
	}
	return nil
}

// sameShape reports two places whose lengths in elements can differ.
func sameShape(x, y Place) error {
	if x.N != y.N || x.Like != y.Like && x.N > 0 {
		return fmt.Errorf("%v and %v differ in length", x, y)
	}
	return nil
}

// String is the place as people write it: out[3..5).
func (p Place) String() string {
	switch {
	case p.Buf == "":
		return "nothing"
	case p.N == 1:
		return fmt.Sprintf("%s[%d]", p.Buf, p.At)
	}
	return fmt.Sprintf("%s[%d..%d)", p.Buf, p.At, p.At+p.N)
}

func (b *builder) buf(name spec.Buf) spec.Buf {
	for i := len(b.bufs) - 1; i >= 0; i-- {
		if b.bufs[i].name == name {
			return b.bufs[i].is
		}
	}
	return name
}

func (b *builder) place(r Region) (Place, error) {
	if r.Buf == "" {
		return Place{}, nil
	}
	at, err := r.At.Eval(b.env)
	if err != nil {
		return Place{}, err
	}
	n, err := r.N.OrElse(spec.Int(1)).Eval(b.env)
	if err != nil {
		return Place{}, err
	}
	p := Place{Buf: b.buf(r.Buf), At: at, N: n, Like: at}
	limit := b.prog.Len(p.Buf)
	if at < 0 || n < 0 || at > limit || n > limit-at {
		return Place{}, fmt.Errorf("%v is out of range: the buffer has %d", p, limit)
	}
	p.Like, err = b.like(p, r.Like)
	return p, err
}

// like is the index, in its block, of the chunk that the first one of p is as long as.
func (b *builder) like(p Place, stated spec.Expr) (int, error) {
	switch {
	case b.s.Chunks == 1:
		return 0, nil
	case stated.IsAbsent() && p.Buf == spec.Scratch:
		return 0, fmt.Errorf("%v needs Like: the chunks of a block differ in length", p)
	case stated.IsAbsent():
		return p.At % b.s.Chunks, nil
	case p.Buf == spec.Scratch && p.N > 1:
		return 0, fmt.Errorf("%v is more than one slot, and the chunks of a block differ in length", p)
	}
	like, err := stated.Eval(b.env)
	switch {
	case err != nil:
		return 0, err
	case like < 0:
		return 0, fmt.Errorf("%v: Like is %d", p, like)
	case p.Buf != spec.Scratch && like%b.s.Chunks != p.At%b.s.Chunks:
		return 0, fmt.Errorf("%v is not like chunk %d", p, like)
	}
	return like % b.s.Chunks, nil
}

// Len is the length of a buffer in chunks, or of scratch in slots.
func (p *Program) Len(buf spec.Buf) int {
	switch buf {
	case spec.In:
		return p.In
	case spec.Out:
		return p.Out
	case spec.Scratch:
		return p.Scratch
	}
	return 0
}
