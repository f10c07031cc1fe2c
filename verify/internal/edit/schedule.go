package edit

import (
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Site is an instruction of a schedule that may be changed.
type Site struct {
	Schedule    *gen.Schedule
	Rank, Index int
}

func (x Site) program() *gen.Program { return &x.Schedule.Ranks[x.Rank] }
func (x Site) instr() *gen.Instr     { return &x.program().Instrs[x.Index] }

// Operator is one mistake. Plant makes it at a site, and reports whether it can be made there.
type Operator struct {
	Name  string
	Plant func(Site) bool
}

// Operators are the mistakes that are planted in schedules: those of one rank, and then those that both ends of a
// message make together, which neither counts nor lengths give away.
var Operators = slices.Concat(presence, waiting, naming, places, combining, permissions, agreed)

var presence = []Operator{
	{"an action is left out", func(x Site) bool {
		in := x.instr()
		if in.Kind == gen.JoinInstr {
			return false
		}
		*in = gen.Instr{Kind: gen.JoinInstr, AfterSend: -1, After: in.After, Step: in.Step, Node: -1}
		return true
	}},
	{"an action is done again at the end", func(x Site) bool {
		p, again := x.program(), *x.instr()
		again.After, again.AfterSend = []int{len(p.Instrs) - 1}, -1
		p.Instrs = append(p.Instrs, again)
		return again.Kind != gen.JoinInstr
	}},
	{"an action is done twice, one right after the other", func(x Site) bool {
		p, again := x.program(), *x.instr()
		again.After, again.AfterSend = []int{x.Index}, -1
		for j := x.Index + 1; j < len(p.Instrs); j++ {
			y := &p.Instrs[j]
			for k, a := range y.After {
				if a >= x.Index { // what waited for the first waits for both
					y.After[k]++
				}
			}
			if y.AfterSend > x.Index {
				y.AfterSend++
			}
		}
		p.Instrs = slices.Insert(p.Instrs, x.Index+1, again)
		return again.Kind != gen.JoinInstr
	}},
	{"two actions in a row are exchanged", func(x Site) bool {
		p := x.program()
		j := x.Index + 1
		for j < len(p.Instrs) && p.Instrs[j].Kind == gen.JoinInstr {
			j++
		}
		if j == len(p.Instrs) || x.instr().Kind == gen.JoinInstr {
			return false
		}
		a, b := x.instr(), &p.Instrs[j]
		if a.AfterSend >= 0 || b.AfterSend >= 0 || isPaired(p, x.Index) || isPaired(p, j) {
			return false
		}
		*a, *b = *b, *a
		a.After, b.After, a.Step, b.Step = b.After, a.After, b.Step, a.Step
		return true
	}},
}

// isPaired reports whether a receive of p follows the send i.
func isPaired(p *gen.Program, i int) bool {
	return slices.ContainsFunc(p.Instrs, func(y gen.Instr) bool { return y.AfterSend == i })
}

var waiting = []Operator{
	{"it waits for nothing", func(x Site) bool {
		had := len(x.instr().After) > 0
		x.instr().After = nil
		return had
	}},
	{"it forgets to wait for one", func(x Site) bool {
		if len(x.instr().After) < 2 {
			return false
		}
		x.instr().After = x.instr().After[1:]
		return true
	}},
	{"it waits for what comes before", func(x Site) bool {
		after := x.instr().After
		if len(after) == 0 || after[0] == 0 {
			return false
		}
		after[0]--
		return true
	}},
	{"it waits for itself", func(x Site) bool {
		x.instr().After = append(x.instr().After, x.Index)
		return true
	}},
}

var naming = []Operator{
	{"the next peer", func(x Site) bool { return toPeer(x, 1) }},
	{"the peer before", func(x Site) bool { return toPeer(x, -1) }},
	{"itself for its peer", func(x Site) bool {
		x.instr().Peer = x.Rank
		return isMessage(x.instr())
	}},
	{"a peer that does not exist", func(x Site) bool {
		x.instr().Peer = x.Schedule.Size
		return isMessage(x.instr())
	}},
	{"another channel", func(x Site) bool {
		x.instr().Channel++
		return isMessage(x.instr())
	}},
}

func isMessage(in *gen.Instr) bool { return in.Kind == gen.SendInstr || in.Kind.IsReceive() }

// toPeer names another peer, by places after the right one, itself left out.
func toPeer(x Site, by int) bool {
	in := x.instr()
	if !isMessage(in) || x.Schedule.Size < 3 {
		return false
	}
	right := in.Peer
	for in.Peer == right || in.Peer == x.Rank {
		in.Peer = (in.Peer + by + x.Schedule.Size) % x.Schedule.Size
	}
	return true
}

var places = slices.Concat(
	placeOperators("the destination", func(in *gen.Instr) *gen.Place { return &in.Dst }),
	placeOperators("the first source", func(in *gen.Instr) *gen.Place {
		if len(in.Srcs) == 0 {
			return nil
		}
		return &in.Srcs[0]
	}),
	placeOperators("the last of several sources", func(in *gen.Instr) *gen.Place {
		if len(in.Srcs) < 2 {
			return nil
		}
		return &in.Srcs[len(in.Srcs)-1]
	}),
)

// placeOperators returns the mistakes about one place of an instruction.
func placeOperators(which string, of func(*gen.Instr) *gen.Place) []Operator {
	at := func(name string, change func(x Site, p *gen.Place) bool) Operator {
		return Operator{which + name, func(x Site) bool {
			p := of(x.instr())
			return p != nil && p.N > 0 && change(x, p)
		}}
	}
	return []Operator{
		at(": the chunk after it", func(x Site, p *gen.Place) bool { return shift(x, p, 1) }),
		at(": the chunk before it", func(x Site, p *gen.Place) bool { return shift(x, p, -1) }),
		at(": another buffer", func(x Site, p *gen.Place) bool { return toBuffer(x, p, 1) }),
		at(": yet another buffer", func(x Site, p *gen.Place) bool { return toBuffer(x, p, 2) }),
		at(": too long", func(_ Site, p *gen.Place) bool { p.N++; return true }),
		at(": too short", func(_ Site, p *gen.Place) bool { p.N--; return true }),
		at(": as long as another chunk", func(x Site, p *gen.Place) bool {
			p.Like = (p.Like + 1) % x.Schedule.Chunks
			return x.Schedule.Chunks > 1
		}),
		at(": as long as another block", func(x Site, p *gen.Place) bool {
			p.Length[0] = (p.Length[0] + 1) % x.Schedule.Size
			return x.Schedule.Primitive.IsUneven()
		}),
		at(": none", func(_ Site, p *gen.Place) bool { *p = gen.Place{}; return true }),
	}
}

// shift moves a place within its buffer, and from its end to its beginning.
func shift(x Site, p *gen.Place, by int) bool {
	places := x.program().Len(p.Buf) - p.N + 1
	if places < 1 || by != 0 && places == 1 {
		return false
	}
	p.At = (p.At + by + places) % places
	if p.Buf != spec.Scratch {
		p.Like = p.At % x.Schedule.Chunks
	}
	return true
}

// toBuffer takes the same place of another buffer.
func toBuffer(x Site, p *gen.Place, by int) bool {
	buffers := []spec.Buf{spec.In, spec.Out, spec.Scratch}
	p.Buf = buffers[(slices.Index(buffers, p.Buf)+by)%len(buffers)]
	return shift(x, p, 0)
}

var combining = []Operator{
	{"store for reduce", func(x Site) bool {
		in := x.instr()
		was := in.Kind
		switch was {
		case gen.RecvReduceInstr:
			in.Kind, in.Srcs = gen.RecvInstr, nil
		case gen.ReduceInstr:
			in.Kind, in.Srcs = gen.CopyInstr, in.Srcs[:1]
		}
		return was != in.Kind
	}},
	{"reduce for store", func(x Site) bool {
		in := x.instr()
		switch {
		case in.Dst.N == 0:
			return false
		case in.Kind == gen.RecvInstr:
			in.Kind, in.Srcs, in.Lend = gen.RecvReduceInstr, []gen.Place{in.Dst}, false
		case in.Kind == gen.CopyInstr:
			in.Kind, in.Srcs, in.Lend = gen.ReduceInstr, []gen.Place{in.Dst, in.Srcs[0]}, false
		default:
			return false
		}
		return true
	}},
	{"the operands the other way around", func(x Site) bool {
		in := x.instr()
		in.ReceivedFirst = !in.ReceivedFirst
		if in.Kind == gen.ReduceInstr && len(in.Srcs) > 1 {
			in.ReceivedFirst = false
			slices.Reverse(in.Srcs)
			return true
		}
		return in.Kind == gen.RecvReduceInstr
	}},
	{"an operand is left out", func(x Site) bool {
		in := x.instr()
		if in.Kind != gen.ReduceInstr || len(in.Srcs) < 2 {
			return false
		}
		in.Srcs = in.Srcs[1:]
		return true
	}},
	{"an operand is taken twice", func(x Site) bool {
		in := x.instr()
		if in.Kind != gen.ReduceInstr {
			return false
		}
		in.Srcs = append(in.Srcs, in.Srcs[len(in.Srcs)-1])
		return true
	}},
	{"finish for copy", func(x Site) bool {
		in := x.instr()
		if in.Kind != gen.CopyInstr {
			return false
		}
		in.Kind, in.Srcs, in.Lend = gen.FinishInstr, nil, false
		return true
	}},
	{"what was written is finished", func(x Site) bool {
		p, in := x.program(), x.instr()
		if in.Dst.N == 0 {
			return false
		}
		p.Instrs = append(p.Instrs, gen.Instr{Kind: gen.FinishInstr, Dst: in.Dst, AfterSend: -1,
			After: []int{len(p.Instrs) - 1}, Step: p.Instrs[len(p.Instrs)-1].Step})
		return true
	}},
}

var permissions = []Operator{
	{"not after the send", func(x Site) bool {
		had := x.instr().AfterSend >= 0
		x.instr().AfterSend = -1
		return had
	}},
	{"after a send to somebody else", func(x Site) bool {
		in := x.instr()
		j := slices.IndexFunc(x.program().Instrs, func(y gen.Instr) bool {
			return y.Kind == gen.SendInstr &&
				y.Peer != in.Peer
		})
		if in.AfterSend < 0 || j < 0 {
			return false
		}
		in.AfterSend = j
		return true
	}},
	{"lent", func(x Site) bool {
		in := x.instr()
		had := in.Lend
		in.Lend = true
		return !had && (in.Kind == gen.RecvInstr || in.Kind == gen.CopyInstr)
	}},
	{"no longer lent", func(x Site) bool {
		had := x.instr().Lend
		x.instr().Lend = false
		return had
	}},
	{"in another step", func(x Site) bool {
		x.instr().Step++
		return x.instr().Kind == gen.ReduceInstr
	}},
}

// agreed are the mistakes of both ends of a message.
var agreed = []Operator{
	both("a message is left out", func(_ *gen.Schedule, send, recv *gen.Instr) bool {
		for _, in := range []*gen.Instr{send, recv} {
			*in = gen.Instr{Kind: gen.JoinInstr, AfterSend: -1, After: in.After, Step: in.Step, Node: -1}
		}
		return true
	}),
	both("a message is shorter", func(_ *gen.Schedule, send, recv *gen.Instr) bool {
		if send.Srcs[0].N < 2 {
			return false
		}
		for _, p := range placesOf(send, recv) {
			p.N--
		}
		return true
	}),
	both("a message begins one chunk late", func(s *gen.Schedule, send, recv *gen.Instr) bool {
		if send.Srcs[0].N < 2 {
			return false
		}
		for _, p := range placesOf(send, recv) {
			p.At, p.N, p.Like = p.At+1, p.N-1, (p.Like+1)%s.Chunks
		}
		return true
	}),
	both("a message is empty", func(_ *gen.Schedule, send, recv *gen.Instr) bool {
		if send.Srcs[0].N == 0 || recv.Kind != gen.RecvInstr {
			return false
		}
		send.Srcs[0], recv.Dst = gen.Place{}, gen.Place{}
		return true
	}),
	both("another channel, at both ends", func(_ *gen.Schedule, send, recv *gen.Instr) bool {
		send.Channel++
		recv.Channel++
		return true
	}),
}

// both returns a mistake that the two ends of a message make together, found by its send.
func both(name string, change func(s *gen.Schedule, send, recv *gen.Instr) bool) Operator {
	return Operator{name, func(x Site) bool {
		send := x.instr()
		if send.Kind != gen.SendInstr || isPaired(x.program(), x.Index) {
			return false
		}
		recv := receiver(x)
		return recv != nil && recv.AfterSend < 0 && change(x.Schedule, send, recv)
	}}
}

// receiver returns the receive that takes the message of the send at x.
func receiver(x Site) *gen.Instr {
	before, peer := 0, x.instr().Peer
	if peer < 0 || peer >= len(x.Schedule.Ranks) {
		return nil
	}
	for _, y := range x.program().Instrs[:x.Index] {
		if y.Kind == gen.SendInstr && y.Peer == peer && y.Channel == x.instr().Channel {
			before++
		}
	}
	theirs := x.Schedule.Ranks[peer].Instrs
	for j := range theirs {
		y := &theirs[j]
		if y.Kind.IsReceive() && y.Peer == x.Rank && y.Channel == x.instr().Channel {
			if before--; before < 0 {
				return y
			}
		}
	}
	return nil
}

// placesOf returns the places that are as long as the message.
func placesOf(send, recv *gen.Instr) []*gen.Place {
	all := []*gen.Place{&send.Srcs[0], &recv.Dst}
	for i := range recv.Srcs {
		all = append(all, &recv.Srcs[i])
	}
	return all
}
