package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
)

// sum returns an all-reduce of one block on two ranks, with what promise says of its order.
func sum(promise spec.Order, requires gen.Requires, rank0, rank1 []gen.Instr) *gen.Schedule {
	p := spec.AllReduce
	p.Order = promise
	s := byHand(p, rank0, rank1)
	s.Requires = requires
	return s
}

// exchange returns one rank's part of an all-reduce: it sends its block, receives the other's into scratch, and
// reduces.
func exchange(other int, operands ...gen.Place) []gen.Instr {
	return []gen.Instr{send(other, in(0)), recv(other, slot(0)), join(0, 1),
		reduce(out(0), slices.Clone(operands), 2), finish(out(0), 3)}
}

func TestOrders(t *testing.T) {
	var (
		mineFirst = []gen.Place{in(0), slot(0)}
		mineLast  = []gen.Place{slot(0), in(0)}
		commutes  = gen.Requires{Commutative: true}
		rankOrder = func(p spec.Order, r gen.Requires) *gen.Schedule {
			return sum(p, r, exchange(1, mineFirst...), exchange(0, mineLast...))
		}
		otherOrder = func(p spec.Order, r gen.Requires) *gen.Schedule {
			return sum(p, r, exchange(1, mineLast...), exchange(0, mineFirst...))
		}
		mixed = func(p spec.Order, r gen.Requires) *gen.Schedule {
			return sum(p, r, exchange(1, mineFirst...), exchange(0, mineFirst...))
		}
	)
	for _, x := range []struct {
		name  string
		s     *gen.Schedule
		fails verify.Check
		order spec.Order
	}{
		{"rank order", rankOrder(spec.AnyTree, gen.Requires{}), "", spec.RankOrdered},
		{"rank order where it is promised", rankOrder(spec.RankOrdered, gen.Requires{}), "", spec.RankOrdered},
		{"another order, the same on both", otherOrder(spec.SameTree, commutes), "", spec.SameTree},
		{"another order, and an operator that need not commute", otherOrder(spec.SameTree, gen.Requires{}),
			verify.Order, 0},
		{"another order where a left fold is promised", otherOrder(spec.RankOrdered, commutes), verify.Order, 0},
		{"two orders where any will do", mixed(spec.AnyTree, commutes), "", spec.AnyTree},
		{"two orders where one is promised", mixed(spec.SameTree, commutes), verify.Order, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := checkOf(t, x.s, false); got != x.fails {
				t.Errorf("it fails %q, want %q", got, x.fails)
			}
			if r, err := verify.Schedule(x.s, false); err == nil && (r.Order != x.order || !r.Folds) {
				t.Errorf("it achieves %v, want %v", r.Order, x.order)
			}
		})
	}
}

func TestResults(t *testing.T) {
	both := []gen.Place{in(0), slot(0)}
	turned := []gen.Place{slot(0), in(0)}
	right := func() *gen.Schedule {
		return sum(spec.SameTree, gen.Requires{}, exchange(1, both...), exchange(0, turned...))
	}
	with := func(by func(p []gen.Instr)) *gen.Schedule {
		s := right()
		by(s.Ranks[0].Instrs)
		return s
	}
	for _, x := range []handCase{
		{"right", right(), "", ""},
		{"nothing done", byHand(spec.AllReduce, nil, nil), verify.Uninitialized, verify.Postcondition},
		{"an operand twice", with(func(p []gen.Instr) { p[3].Srcs = []gen.Place{in(0), slot(0), slot(0)} }),
			verify.Postcondition, verify.Postcondition},
		{"an operand for the other", with(func(p []gen.Instr) { p[3].Srcs = []gen.Place{in(0), in(0)} }),
			verify.Postcondition, verify.Postcondition},
		{"an operand missing", with(func(p []gen.Instr) { p[3].Srcs = []gen.Place{in(0)} }), verify.Postcondition,
			verify.Postcondition},
		{"an operand that is not there", with(func(p []gen.Instr) { p[3].Srcs[1] = slot(1) }),
			verify.Uninitialized, verify.Uninitialized},
		{"what is not there is read, for no result",
			sum(spec.SameTree, gen.Requires{}, append(exchange(1, both...), move(slot(0), slot(1), 4)),
				exchange(0, turned...)), "", ""},
		{"not finished", with(func(p []gen.Instr) { p[4] = join(3) }), verify.Finish, verify.Finish},
		{"added by itself, and not finished", with(func(p []gen.Instr) {
			p[3], p[4] = move(out(0), in(0), 2), reduce(out(0), []gen.Place{out(0), slot(0)}, 3)
		}), verify.Finish, verify.Finish},
		{"the input finished, not the sum", with(func(p []gen.Instr) { p[4] = finish(slot(0), 3) }),
			verify.Finish, verify.Finish},
		{"In is written, which is Out in place", with(func(p []gen.Instr) { p[4] = finish(in(0), 3) }), verify.Frame, ""},
	} {
		x.run(t)
	}
}

// TestGiven: what a precondition leaves open is no input, and what it says of two places is one value.
func TestGiven(t *testing.T) {
	p := nothing
	p.Pre = []spec.Clause{{Buf: spec.In, Where: spec.Eq(spec.Block, zero),
		Value: spec.Value{Kind: spec.Input, Rank: zero, Block: zero}}}
	p.Post = []spec.Clause{
		{Buf: spec.Out, Where: spec.Eq(spec.Block, zero), Value: spec.Value{Kind: spec.Input, Rank: zero, Block: zero}},
		{Buf: spec.Out, Where: spec.Eq(spec.Block, one), Value: spec.Value{Kind: spec.Undefined}},
	}
	p.InPlace = spec.InPlace{}
	same := byHand(p, []gen.Instr{move(out(0), in(0))}, []gen.Instr{move(out(0), in(0))}) // all ranks have rank 0's block
	if got := checkOf(t, same, false); got != "" {
		t.Errorf("the same block under another name: it fails %q", got)
	}
	open := byHand(p, []gen.Instr{move(out(0), in(0))}, []gen.Instr{move(out(0), in(1))})
	if got := checkOf(t, open, false); got != verify.Uninitialized {
		t.Errorf("a block that no precondition speaks of: it fails %q", got)
	}
}

// TestUnspoken: a block of Out that no clause speaks of stays as it was.
func TestUnspoken(t *testing.T) {
	p := nothing
	p.Post = []spec.Clause{{Buf: spec.Out, Where: spec.Eq(spec.Block, zero),
		Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: zero}}}
	for _, x := range []handCase{
		{"the promised block", byHand(p, []gen.Instr{move(out(0), in(0))}), "", ""},
		{"another block too; in place it is In's own", byHand(p, []gen.Instr{move(out(0), in(0)), move(out(1), in(1))}),
			verify.Frame, ""},
		{"another block, with something else", byHand(p, []gen.Instr{move(out(0), in(0)), move(out(1), in(0))}),
			verify.Frame, verify.Frame},
	} {
		x.run(t)
	}
}

// TestPromisedIn: a primitive may promise what In holds too.
func TestPromisedIn(t *testing.T) {
	p := nothing
	p.InPlace, p.Post = spec.InPlace{}, []spec.Clause{
		{Buf: spec.In, Where: spec.Eq(spec.Block, zero), Value: spec.Value{Kind: spec.Input, Rank: spec.Rank, Block: one}},
		{Buf: spec.Out, Value: spec.Value{Kind: spec.Undefined}},
	}
	if got := checkOf(t, byHand(p, []gen.Instr{move(in(0), in(1))}), false); got != "" {
		t.Errorf("it fails %q", got)
	}
	if got := checkOf(t, byHand(p, nil), false); got != verify.Postcondition {
		t.Errorf("with nothing done it fails %q", got)
	}
}

// TestShortWords: a counterexample stays readable where there are many ranks.
func TestShortWords(t *testing.T) {
	a := catalogue.AllReduceOneShot
	edit.Set(0, func(x *gen.Reduce) { x.From.At = zero })(&a)
	_, err := verify.Algorithm(t.Context(), &a, verify.Options{From: 64, To: 64})
	if err == nil || len(err.Error()) > 6000 {
		t.Errorf("got %v", err)
	}
}

// meets is a primitive of which rank 0 promises to leave only after rank 1 has come.
var meets = spec.Primitive{Name: "Meets", Post: []spec.Clause{{
	Where: spec.Eq(spec.Rank, zero), Value: spec.Value{Kind: spec.Entered, Where: spec.Eq(spec.Q, one)},
}}}

// TestEnteredSaysWhere: the counterexample names the rank's last instruction, also where that is its only one and in
// step 0.
func TestEnteredSaysWhere(t *testing.T) {
	_, err := verify.Schedule(byHand(meets, []gen.Instr{send(1, gen.Place{})}, []gen.Instr{recv(0, gen.Place{})}), false)
	if err == nil || !strings.Contains(err.Error(), "rank 0, step 0, instruction 0") {
		t.Error(err)
	}
}

func TestEntered(t *testing.T) {
	signal := gen.Place{}
	for _, x := range []struct {
		name string
		s    *gen.Schedule
		want verify.Check
	}{
		{"told", byHand(meets, []gen.Instr{recv(1, signal)}, []gen.Instr{send(0, signal)}), ""},
		{"not told", byHand(meets, nil, nil), verify.Entered},
		{"told by another", byHand(meets, []gen.Instr{recv(2, signal)}, nil, []gen.Instr{send(0, signal)}), verify.Entered},
		{"told by another who knows", byHand(meets, []gen.Instr{recv(2, signal)}, []gen.Instr{send(2, signal)},
			[]gen.Instr{recv(1, signal), send(0, signal, 0)}), ""},
		{"told by another who has not waited", byHand(meets, []gen.Instr{recv(2, signal)}, []gen.Instr{send(2, signal)},
			[]gen.Instr{recv(1, signal), send(0, signal)}), verify.Entered},
		{"it told the other", byHand(meets, []gen.Instr{send(1, signal)}, []gen.Instr{recv(0, signal)}), verify.Entered},
	} {
		t.Run(x.name, func(t *testing.T) {
			if got := checkOf(t, x.s, false); got != x.want {
				t.Errorf("it fails %q, want %q", got, x.want)
			}
		})
	}
}

// TestMeetsInPart: who has to have come counts also where rank 0 is promised nothing.
func TestMeetsInPart(t *testing.T) {
	p := spec.Primitive{Name: "Meets", Post: []spec.Clause{{
		Where: spec.Eq(spec.Rank, spec.Int(1)), Value: spec.Value{Kind: spec.Entered, Where: spec.Eq(spec.Q, zero)},
	}}}
	if got := checkOf(t, byHand(p, nil, nil), false); got != verify.Entered {
		t.Errorf("it fails %q, want %q", got, verify.Entered)
	}
}

// TestAfterSendLength: a receive that follows a send part by part is as long, also where chunks differ in length.
func TestAfterSendLength(t *testing.T) {
	like := func(p gen.Place, chunk int) gen.Place {
		p.Like = chunk
		return p
	}
	for chunk, want := range []verify.Check{"", verify.Alias} {
		s := byHand(nothing,
			[]gen.Instr{send(1, like(slot(0), 0)), afterSend(0, recv(1, like(slot(0), chunk)))},
			[]gen.Instr{send(0, like(slot(0), chunk)), recv(0, like(slot(1), 0))})
		s.Chunks = 2
		for i := range s.Ranks {
			s.Ranks[i].In, s.Ranks[i].Out = 2*s.Ranks[i].In, 2*s.Ranks[i].Out
		}
		if got := checkOf(t, s, false); got != want {
			t.Errorf("like chunk %d: it fails %q, want %q", chunk, got, want)
		}
	}
}
