package gen

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/spec"
)

func (b *builder) runStep(s Step) error {
	if b.inStep {
		return errors.New("a Step is inside another Step")
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
	if b.each != nil {
		return b.deliver()
	}
	return nil
}

// linkAfterSend gives each receive of the current step that is marked AfterSend (by a placeholder, -2) the send to the
// same peer that it follows.
func (b *builder) linkAfterSend() error {
	step := b.instrs[b.first:]
	for i := range step {
		if in := &step[i]; in.AfterSend == markedAfterSend {
			sends := 0
			for j := range step {
				if step[j].Kind == SendInstr && step[j].Peer == in.Peer {
					in.AfterSend = b.first + j
					sends++
				}
			}
			if sends != 1 {
				err := fmt.Errorf("it is marked AfterSend, but the step sends rank %d %d messages", in.Peer, sends)
				return &NodeError{b.a.FullName(), in.Node, b.rank, err}
			}
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
		in.Lend = n.Lend
		err = b.message(&in, n.From, n.Into, false)
		mark(&in, n.AfterSend)
	case RecvReduce:
		in.Kind = RecvReduceInstr
		if err = b.message(&in, n.From, n.Into, false); err == nil {
			err = b.operand(&in, n)
		}
		mark(&in, n.AfterSend)
	case Copy:
		in.Kind, in.Lend = CopyInstr, n.Lend
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
	var place Place
	if data.Buf != "" {
		place, err = b.place(data)
	}
	if send {
		in.Srcs = b.places.one(place)
	} else {
		in.Dst = place
	}
	return err
}

func (b *builder) operand(in *Instr, n RecvReduce) error {
	first, err := n.ReceivedFirst.OrElse(spec.Int(0)).Eval(b.env)
	if err != nil {
		return err
	}
	in.ReceivedFirst = first != 0
	return b.source(in, n.With)
}

func (b *builder) copy(in *Instr, n Copy) error {
	var err error
	if in.Dst, err = b.place(n.Into); err != nil {
		return err
	}
	return b.source(in, n.From)
}

// source sets the only source of in, which is as long as its destination.
func (b *builder) source(in *Instr, from Region) error {
	src, err := b.place(from)
	if err != nil {
		return err
	}
	in.Srcs = b.places.one(src)
	return sameShape(in.Dst, src)
}

func (b *builder) reduce(in *Instr, n Reduce) error {
	times, err := n.N.Eval(b.env)
	if err != nil {
		return err
	}
	if times < 1 || times > limit {
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
		if in.Srcs[i], err = b.place(n.From); err != nil {
			return err
		}
		if err := sameShape(in.Dst, in.Srcs[i]); err != nil {
			return err
		}
	}
	return nil
}

// sameShape reports two places whose lengths in elements can differ.
func sameShape(x, y Place) error {
	if x.N != y.N || x.N > 0 && (x.Like != y.Like || x.Length != y.Length) {
		return fmt.Errorf("%v and %v differ in length", x, y)
	}
	return nil
}
