package verify_test

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
	"pgregory.net/rapid"
)

// inParts carries a schedule out over channels that give no more than transports promise, with each message cut into
// parts. It knows nothing of graphs and shares no code with the checker.
type inParts struct {
	parts int
	progs [][]*parted
}

// parted is an instruction, and how many parts of its message were sent or taken.
type parted struct {
	simulated
	moved int
	after []*parted
	send  *parted // that it follows part by part, or nil
	prior *parted // the message before it at this end of its channel, or nil
	other *parted // the other end
}

func newInParts(s *gen.Schedule, parts int) *inParts {
	m := &inParts{parts: parts}
	type end struct {
		from, to, channel int
		sends             bool
	}
	ends := map[end][]*parted{}
	for rank := range s.Ranks {
		var prog []*parted
		for _, in := range s.Ranks[rank].Instrs {
			x := &parted{simulated: simulated{Instr: in}}
			prog = append(prog, x)
			if !x.isMessage() {
				continue
			}
			e := end{rank, in.Peer, in.Channel, in.Kind == gen.SendInstr}
			if !e.sends {
				e.from, e.to = e.to, e.from
			}
			if n := len(ends[e]); n > 0 {
				x.prior = ends[e][n-1]
			}
			ends[e] = append(ends[e], x)
		}
		for _, x := range prog {
			for _, a := range x.After {
				x.after = append(x.after, prog[a])
			}
			if x.AfterSend >= 0 {
				x.send = prog[x.AfterSend]
			}
		}
		m.progs = append(m.progs, prog)
	}
	for e, list := range ends {
		e.sends = !e.sends
		for i, x := range list {
			x.other = ends[e][i]
		}
	}
	return m
}

// run goes on until nothing can be done any more, and tells whether everything was.
func (m *inParts) run() bool {
	for {
		moved, left := false, false
		for _, prog := range m.progs {
			for _, x := range prog {
				moved = m.step(x) || moved
				left = left || !x.ended
			}
		}
		if !moved {
			return !left
		}
	}
}

// step does with x what can be done, and tells whether anything was. A send lasts until all of its message was taken.
func (m *inParts) step(x *parted) bool {
	switch {
	case x.ended:
		return false
	case !x.begun:
		x.begun = !slices.ContainsFunc(x.after, func(a *parted) bool { return !a.ended }) && (x.prior == nil || x.prior.begun)
		return x.begun
	case !x.isMessage():
		x.ended = true
		return true
	case x.prior != nil && !x.prior.ended || !x.other.begun || x.other.prior != nil && !x.other.prior.ended:
		return false
	case x.Kind == gen.SendInstr && x.moved == m.parts:
		x.ended = x.other.ended
		return x.ended
	case x.Kind == gen.SendInstr && x.moved > x.other.moved, x.Kind != gen.SendInstr && x.moved == x.other.moved:
		return false
	case x.send != nil && x.send.moved <= x.moved:
		return false
	}
	x.moved++
	x.ended = x.Kind != gen.SendInstr && x.moved == m.parts
	return true
}

// TestRoom: the checker says that a schedule needs no more room than transports promise exactly where it ends with
// that, in however many parts messages go.
func TestRoom(t *testing.T) {
	needing, following := 0, 0
	compare := func(t interface{ Errorf(string, ...any) }, s *gen.Schedule, r verify.Report) {
		all := true
		for parts := 1; parts <= 5; parts++ {
			all = newInParts(s, parts).run() && all
		}
		if all == r.NeedsRoom {
			t.Errorf("it ends in parts: %v; the checker says that it needs room: %v", all, r.NeedsRoom)
		}
		if r.NeedsRoom {
			needing++
		} else if r.Capacity > 0 {
			following++
		}
	}
	for _, x := range capacityCases {
		t.Run(x.name, func(t *testing.T) {
			r, err := verify.Schedule(x.s, false)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, x.s, r)
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		for range rapid.IntRange(0, 2).Draw(t, "mutations") {
			mutate(t, s)
		}
		if r, err := verify.Schedule(s, false); err == nil {
			compare(t, s, r)
		}
	})
	t.Logf("%d schedules need room, %d need what is promised for AfterSend", needing, following)
	if needing == 0 || following == 0 {
		t.Error("only one kind was seen")
	}
}

// TestRoomInParts: the case that only goes as long as messages are not cut.
func TestRoomInParts(t *testing.T) {
	i := slices.IndexFunc(capacityCases,
		func(x capacityCase) bool { return x.name == "a message that follows, part by part, one behind another" })
	for parts, want := range map[int]bool{1: true, 2: false, 3: false} {
		if got := newInParts(capacityCases[i].s, parts).run(); got != want {
			t.Errorf("in %d parts it ends: %v, want %v", parts, got, want)
		}
	}
}
