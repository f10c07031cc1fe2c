package plan

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/gen"
)

// builder makes the instructions of one rank.
type builder struct {
	s      *gen.Schedule
	rank   int
	instrs []gen.Instr
	number int // of the step
	ready  int // the instruction that the step waits for; -1 at the start
}

// step adds a step: its messages wait for the step before, and the rest for the messages, one after the other.
func (b *builder) step(actions []action) error {
	first, local := len(b.instrs), -1
	var marked []int // receives that are AfterSend
	for i, a := range actions {
		in, err := a.instr(b.s, b.rank)
		if err != nil {
			return fmt.Errorf("action %d: %w", i, err)
		}
		in.Step, in.Node, in.AfterSend = b.number, -1, -1
		isLocal := in.Kind >= gen.CopyInstr
		switch {
		case !isLocal && local >= 0:
			return fmt.Errorf("action %d: a send or receive comes after an action of the rank by itself", i)
		case isLocal && local >= 0:
			in.After = []int{local}
		case isLocal && len(b.instrs) > first:
			b.join(first)
			in.After = []int{b.ready}
		case b.ready >= 0:
			in.After = []int{b.ready}
		}
		if isLocal {
			local = len(b.instrs)
		}
		if a.AfterSend {
			marked = append(marked, len(b.instrs))
		}
		b.instrs = append(b.instrs, in)
	}
	b.end(first, local)
	return b.link(first, marked)
}

// end says what the next step waits for.
func (b *builder) end(first, local int) {
	switch n := len(b.instrs); {
	case local >= 0:
		b.ready = local
	case n == first: // nothing
	case n == first+1:
		b.ready = first
	default:
		b.join(first)
	}
}

// join adds an instruction that waits for all from first on.
func (b *builder) join(first int) {
	j := gen.Instr{Kind: gen.JoinInstr, AfterSend: -1, Step: b.number, Node: -1}
	for i := first; i < len(b.instrs); i++ {
		j.After = append(j.After, i)
	}
	b.ready = len(b.instrs)
	b.instrs = append(b.instrs, j)
}

// link gives receives that are marked the send to the same peer.
func (b *builder) link(first int, marked []int) error {
	sends := map[int][]int{}
	for i := first; i < len(b.instrs); i++ {
		if in := &b.instrs[i]; in.Kind == gen.SendInstr {
			sends[in.Peer] = append(sends[in.Peer], i)
		}
	}
	for _, i := range marked {
		in := &b.instrs[i]
		if len(sends[in.Peer]) != 1 {
			return fmt.Errorf("a receive has afterSend, but the step sends rank %d %d messages", in.Peer,
				len(sends[in.Peer]))
		}
		in.AfterSend = sends[in.Peer][0]
	}
	return nil
}

// instr returns the instruction that a says, of a rank.
func (a *action) instr(s *gen.Schedule, rank int) (in gen.Instr, err error) {
	kinds := 0
	for _, is := range []bool{a.Send != "", a.Recv != "", a.Copy != "", a.Reduce != nil, a.Finish != ""} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return in, errors.New("it has to have one of send, recv, copy, reduce and finish")
	}
	in.Channel, in.Lend, in.ReceivedFirst = a.Channel, a.Lend, a.ReceivedFirst
	p := placer{s: s, rank: rank}
	switch {
	case a.Send != "":
		in.Kind, in.Srcs, err = gen.SendInstr, p.all(a.Send), a.peer(&in, a.To, "to")
	case a.Recv != "":
		in.Kind, in.Dst, err = gen.RecvInstr, p.one(a.Recv), a.peer(&in, a.From, "from")
		if a.Plus != "" {
			in.Kind, in.Srcs = gen.RecvReduceInstr, p.all(a.Plus)
		}
	case a.Copy != "":
		in.Kind, in.Srcs, in.Dst = gen.CopyInstr, p.all(a.Copy), p.one(a.Into)
	case a.Reduce != nil:
		in.Kind, in.Srcs, in.Dst = gen.ReduceInstr, p.all(a.Reduce...), p.one(a.Into)
	default:
		in.Kind, in.Dst = gen.FinishInstr, p.one(a.Finish)
	}
	return in, errors.Join(err, p.err)
}

// peer sets the peer of a message.
func (a *action) peer(in *gen.Instr, peer *int, name string) error {
	if peer == nil {
		return fmt.Errorf("it does not say %s which rank", name)
	}
	in.Peer = *peer
	return nil
}
