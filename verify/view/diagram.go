package view

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// Of returns what a page shows of a call of an algorithm: New of its schedule, or a part of that where it is too large.
func Of(a *gen.Algorithm, p gen.Params, inPlace bool) (*Data, error) {
	if !a.HasDepth() {
		p.Depth = 1
	}
	d, err := ofCall(a, p, inPlace)
	if err != nil {
		return nil, err
	}
	d.Doc, d.Source = a.Doc, a.Source
	return d, nil
}

func ofCall(a *gen.Algorithm, p gen.Params, inPlace bool) (*Data, error) {
	fits, err := fits(a, p)
	if err != nil {
		return nil, err
	}
	if !fits {
		return diagram(a, p)
	}
	s, err := gen.Instantiate(a, p)
	if err != nil {
		return nil, err
	}
	d, err := New(s, inPlace)
	if err == ErrTooLarge {
		return diagram(a, p)
	}
	if err == nil {
		d.Plan = planText(s)
	}
	return d, err
}

// fits reports whether a schedule has no more than MaxInstrs instructions, without holding it.
func fits(a *gen.Algorithm, p gen.Params) (bool, error) {
	n := 0
	for rank := range p.Size {
		for step, err := range gen.Steps(a, p, rank) {
			if err != nil {
				return false, err
			}
			if n += len(step); n > MaxInstrs {
				return false, nil
			}
		}
	}
	return true, nil
}

// How much of a large schedule a diagram has.
const (
	diagramRanks = 48
	diagramSteps = 64
)

// diagram returns the messages among the first ranks in the first steps of a schedule that is too large.
func diagram(a *gen.Algorithm, p gen.Params) (*Data, error) {
	s := &gen.Schedule{Algorithm: a.FullName(), Primitive: a.Primitive, Requires: a.Requires, Params: p}
	d := newData(s)
	d.Size, d.Layout = min(p.Size, diagramRanks), Layout{Kind: Circle}
	cut := &cutter{sends: map[[3]int][]sent{}, data: d}
	for rank := range d.Size {
		if err := cut.rank(a, p, rank); err != nil {
			return nil, err
		}
	}
	cut.match()
	d.Clipped = fmt.Sprintf("This schedule has more than %d actions or chunks, too many to show what every chunk "+
		"contains. The picture has the messages among the first %d of %d ranks in their first %d steps.", MaxInstrs,
		d.Size, p.Size, d.Rounds)
	return d, nil
}

// cutter collects the messages of a part of a schedule.
type cutter struct {
	sends map[[3]int][]sent // by sender, receiver and channel
	recvs []received
	data  *Data
}

type sent struct {
	step int
	from gen.Place
}

type received struct {
	name     [3]int
	step     int
	in       gen.Kind
	to, with gen.Place
}

// rank takes the first steps of one rank.
func (c *cutter) rank(a *gen.Algorithm, p gen.Params, rank int) error {
	number := 0
	for step, err := range gen.Steps(a, p, rank) {
		if err != nil {
			return err
		}
		if number++; number > diagramSteps {
			return nil
		}
		c.data.Rounds = max(c.data.Rounds, number)
		for i := range step {
			c.instr(&step[i], rank, number-1)
		}
	}
	return nil
}

func (c *cutter) instr(in *gen.Instr, rank, step int) {
	switch {
	case in.Kind == gen.SendInstr:
		name := [3]int{rank, in.Peer, in.Channel}
		c.sends[name] = append(c.sends[name], sent{step, in.Srcs[0]})
	case in.Kind.IsReceive() && in.Peer < c.data.Size:
		x := received{[3]int{in.Peer, rank, in.Channel}, step, in.Kind, in.Dst, gen.Place{}}
		if in.Kind == gen.RecvReduceInstr {
			x.with = in.Srcs[0]
		}
		c.recvs = append(c.recvs, x)
	}
}

// match adds the messages that have both ends in the picture.
func (c *cutter) match() {
	for _, x := range c.recvs {
		list := c.sends[x.name]
		if len(list) == 0 {
			continue
		}
		s := list[0]
		c.sends[x.name] = list[1:]
		flags := 0
		if x.in == gen.RecvReduceInstr {
			flags = reduces
		}
		c.data.Messages = append(c.data.Messages, x.name[0], x.name[1], min(s.step, x.step), max(s.step, x.step),
			number(s.from.Buf), s.from.At, number(x.to.Buf), x.to.At, x.to.N, flags, number(x.with.Buf), x.with.At)
	}
}
