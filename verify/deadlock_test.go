package verify_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
	"github.com/google/go-cmp/cmp"
)

func TestMessages(t *testing.T) {
	empty := gen.Place{}
	for _, x := range []handCase{
		{"one message", pair([]gen.Instr{send(1, in(0))}, []gen.Instr{recv(0, out(0))}), "", ""},
		{"a signal", pair([]gen.Instr{send(1, empty)}, []gen.Instr{recv(0, empty)}), "", ""},
		{"a message left over", pair([]gen.Instr{send(1, in(0)), send(1, in(0))}, []gen.Instr{recv(0, out(0))}),
			verify.Unmatched, verify.Unmatched},
		{"a receive left over", pair([]gen.Instr{send(1, in(0))}, []gen.Instr{recv(0, out(0)), recv(0, out(1))}),
			verify.Unmatched, verify.Unmatched},
		{"sent on another channel", pair([]gen.Instr{on(1, send(1, in(0)))}, []gen.Instr{recv(0, out(0))}),
			verify.Unmatched, verify.Unmatched},
		{"a signal for a message", pair([]gen.Instr{send(1, empty)}, []gen.Instr{recv(0, out(0))}), verify.Length,
			verify.Length},
		{"one chunk for two",
			pair([]gen.Instr{send(1, in(0))}, []gen.Instr{recv(0, gen.Place{Buf: "out", N: 2})}), verify.Length,
			verify.Length},
	} {
		x.run(t)
	}
}

// capacityCase is a schedule that ends, with the capacity that all its channels need, those that each one needs, and
// whether it needs room that no transport promises.
type capacityCase struct {
	name    string
	s       *gen.Schedule
	uniform int
	each    []int // by from, to and channel

	needsRoom bool
}

var capacityCases = []capacityCase{
	{"a rendezvous", pair([]gen.Instr{send(1, in(0))}, []gen.Instr{recv(0, out(0))}), 0, []int{0}, false},
	{"an exchange in one step",
		pair([]gen.Instr{send(1, in(0)), recv(1, out(0))}, []gen.Instr{send(0, in(0)), recv(0, out(0))}), 0, []int{0, 0},
		false},
	{"both send first",
		pair([]gen.Instr{send(1, in(0)), recv(1, out(0), 0)}, []gen.Instr{send(0, in(0)), recv(0, out(0), 0)}), 1,
		[]int{0, 1}, true},
	{"both send twice first", pair(
		[]gen.Instr{send(1, in(0)), send(1, in(1), 0), recv(1, out(0), 1), recv(1, out(1), 2)},
		[]gen.Instr{send(0, in(0)), send(0, in(1), 0), recv(0, out(0), 1), recv(0, out(1), 2)}), 2, []int{0, 2}, true},
	{"two channels, received in the other order", pair(
		[]gen.Instr{on(0, send(1, in(0))), on(1, send(1, in(1), 0))},
		[]gen.Instr{on(1, recv(0, out(1))), on(0, recv(0, out(0), 0))}), 1, []int{1, 0}, true},
	{"both overwrite what they send", pair(
		[]gen.Instr{send(1, slot(0)), afterSend(0, recv(1, slot(0)))},
		[]gen.Instr{send(0, slot(0)), afterSend(0, recv(0, slot(0)))}), 1, []int{0, 1}, false},
	{"one overwrites what it sends", pair(
		[]gen.Instr{send(1, slot(0)), afterSend(0, recv(1, slot(0)))},
		[]gen.Instr{send(0, slot(0)), recv(0, slot(1))}), 0, []int{0, 0}, false},
	{"a later message waits behind one that overwrites", pair(
		[]gen.Instr{on(1, send(1, slot(0))), afterSend(0, recv(1, slot(0))), recv(1, slot(1))},
		[]gen.Instr{send(0, in(0)), send(0, in(1)), on(1, recv(0, slot(0), 1))}), 1, []int{1, 0}, true},
	{"three in a row that send first", byHand(nothing,
		[]gen.Instr{send(1, in(0)), recv(2, out(0), 0)},
		[]gen.Instr{send(2, in(0)), recv(0, out(0), 0)},
		[]gen.Instr{send(0, in(0)), recv(1, out(0), 0)}), 1, []int{0, 1, 0}, true},
	{"two swaps, one after the other", pair(
		[]gen.Instr{send(1, slot(0)), afterSend(0, recv(1, slot(0))), send(1, slot(0), 0, 1),
			afterSend(2, recv(1, slot(0), 0, 1))},
		[]gen.Instr{send(0, slot(0)), afterSend(0, recv(0, slot(0))), send(0, slot(0), 0, 1),
			afterSend(2, recv(0, slot(0), 0, 1))}),
		1, []int{0, 1}, false},
	// In one part each, rank 1's message is sent, then the first one of rank 0 is received, and the second, and then
	// that of rank 1. In two parts, the second one of rank 1 waits until rank 0 has taken the first.
	{"a message that follows, part by part, one behind another", pair(
		[]gen.Instr{send(1, in(0)), send(1, slot(0)), afterSend(1, recv(1, slot(0)))},
		[]gen.Instr{send(0, slot(0)), afterSend(0, recv(0, slot(0))), recv(0, slot(1))}), 1, []int{0, 1}, true},
}

func TestCapacity(t *testing.T) {
	for _, x := range capacityCases {
		t.Run(x.name, func(t *testing.T) {
			r, err := verify.Schedule(x.s, false)
			if err != nil {
				t.Fatal(err)
			}
			if r.Capacity != x.uniform {
				t.Errorf("capacity %d, want %d", r.Capacity, x.uniform)
			}
			if r.NeedsRoom != x.needsRoom {
				t.Errorf("it needs room: %v, want %v", r.NeedsRoom, x.needsRoom)
			}
			channels, err := verify.Channels(x.s)
			if err != nil {
				t.Fatal(err)
			}
			var each []int
			for _, c := range channels {
				each = append(each, c.Capacity)
			}
			if diff := cmp.Diff(x.each, each); diff != "" {
				t.Errorf("capacities (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTooManyChannels: plans with more channels than can be looked at one by one are refused.
func TestTooManyChannels(t *testing.T) {
	s := pair(nil, nil)
	for channel := range 4000 {
		for from := range s.Ranks {
			p := &s.Ranks[from]
			n := len(p.Instrs)
			p.Instrs = append(p.Instrs, on(channel, send(1-from, gen.Place{})), on(channel, recv(1-from, gen.Place{}, n)))
		}
	}
	for range 50_000 {
		s.Ranks[0].Instrs = append(s.Ranks[0].Instrs, join())
	}
	if r, err := verify.Schedule(s, false); err != nil || r.Capacity != 1 {
		t.Fatalf("capacity %d, %v", r.Capacity, err)
	}
	var f *verify.Failure
	if _, err := verify.Channels(s); !errors.As(err, &f) || f.Check != verify.Shape {
		t.Errorf("got %v", err)
	}
}

// deadlocks end for no capacity.
var deadlocks = []handCase{
	{"both receive first",
		pair([]gen.Instr{recv(1, out(0)), send(1, in(0), 0)}, []gen.Instr{recv(0, out(0)), send(0, in(0), 0)}),
		verify.Deadlock, verify.Deadlock},
	{"three receive first", byHand(nothing,
		[]gen.Instr{recv(2, out(0)), send(1, in(0), 0)},
		[]gen.Instr{recv(0, out(0)), send(2, in(0), 0)},
		[]gen.Instr{recv(1, out(0)), send(0, in(0), 0)}), verify.Deadlock, verify.Deadlock},
	{"two lanes that wait for each other", pair(
		[]gen.Instr{on(0, recv(1, slot(0))), on(1, send(1, in(1), 0))},
		[]gen.Instr{on(1, recv(0, slot(0))), on(0, send(0, in(1), 0))}), verify.Deadlock, verify.Deadlock},
	{"a receive that follows a send that waits for it", pair(
		[]gen.Instr{afterSend(1, recv(1, slot(0))), send(1, slot(0), 0)},
		[]gen.Instr{send(0, in(0)), recv(0, slot(0))}), verify.Deadlock, verify.Deadlock},
	{"a message behind another on its channel", pair(
		[]gen.Instr{recv(1, slot(0)), send(1, in(0), 0), send(1, in(1))},
		[]gen.Instr{recv(0, slot(0)), recv(0, slot(1)), send(0, in(0), 1)}), verify.Deadlock, verify.Deadlock},
}

func TestDeadlock(t *testing.T) {
	for _, x := range deadlocks {
		x.run(t)
	}
}

// TestCycle: a deadlock is shown as a cycle, with the reason of each wait.
func TestCycle(t *testing.T) {
	for i, words := range [][]string{
		0: {"rank 0, step 0: recv", "rank 0, step 0: send", "rank 1, step 0: recv", "rank 1, step 0: send",
			"message is sent by"},
		3: {"overwrites what is first to be sent by"},
		4: {"comes, on its channel, after"},
	} {
		var f *verify.Failure
		if _, err := verify.Schedule(deadlocks[i].s, false); !errors.As(err, &f) {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(f.Trace, w) {
				t.Errorf("%s: the cycle does not show %q:\n%s", deadlocks[i].name, w, f.Trace)
			}
		}
	}
}
