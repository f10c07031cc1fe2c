package verify_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// TestShape: every number that is wrong is refused, and the words say which.
func TestShape(t *testing.T) {
	for _, x := range []struct {
		name string
		by   func(*gen.Schedule) // of an exchange of two ranks
		says string
	}{
		{"a rank too few", func(s *gen.Schedule) { s.Ranks = s.Ranks[:1] }, "programs of 1 ranks"},
		{"no ranks", func(s *gen.Schedule) { s.Ranks, s.Size = nil, 0 }, "0 ranks"},
		{"no chunks", func(s *gen.Schedule) { s.Chunks = 0 }, "0 chunks"},
		{"a buffer too long", func(s *gen.Schedule) { s.Ranks[1].In++ }, "rank 1 has 3 chunks"},
		{"less than no scratch", func(s *gen.Schedule) { s.Ranks[0].Scratch = -1 }, "-1 slots"},
		{"far too much scratch", func(s *gen.Schedule) { s.Ranks[0].Scratch = math.MaxInt }, "slots of scratch"},
		{"an order that does not exist", func(s *gen.Schedule) { s.Primitive.Order = 9 }, "order 9"},
		{"far too many blocks", func(s *gen.Schedule) { s.Primitive.In.Blocks = spec.Int(math.MaxInt) }, "blocks"},
		{"blocks without a number", func(s *gen.Schedule) { s.Primitive.In.Blocks = spec.Var("x") }, "not defined"},
		{"a kind that does not exist", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Kind = 99 }, "no such instruction"},
		{"a wait for a later instruction", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].After = []int{1} },
			"not listed before it"},
		{"a wait for itself", func(s *gen.Schedule) { s.Ranks[0].Instrs[1].After = []int{1} }, "not listed before it"},
		{"a wait for less than the first", func(s *gen.Schedule) { s.Ranks[0].Instrs[1].After = []int{-1} },
			"instruction -1"},
		{"a message to itself", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Peer = 0 }, "peer is 0"},
		{"a message to nobody", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Peer = 2 }, "peer is 2"},
		{"a channel below 0", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Channel = -1 }, "channel is -1"},
		{"a channel far above", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Channel = math.MaxInt }, "channel is"},
		{"a place beyond the end", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs[0].At = 2 }, "out of range"},
		{"a place before the start", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs[0].At = -1 }, "out of range"},
		{"a place of no chunks", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs[0].N = 0 }, "out of range"},
		{"a place whose end is not a number", func(s *gen.Schedule) {
			s.Ranks[0].Instrs[0].Srcs[0] = gen.Place{Buf: spec.In, At: math.MaxInt, N: math.MaxInt}
		}, "out of range"},
		{"a buffer of no name", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs[0].Buf = "stack" }, `no buffer "stack"`},
		{"a length that is another chunk's", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs[0].Like = 1 },
			"length of chunk 1"},
		{"a send without data", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs = nil }, "0 sources"},
		{"a send of two places", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Srcs = []gen.Place{in(0), in(1)} },
			"2 sources"},
		{"a send with a destination", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].Dst = out(0) }, "a destination"},
		{"a send after a send", func(s *gen.Schedule) { s.Ranks[0].Instrs[0].AfterSend = 0 }, "not a receive"},
		{"a receive after a receive", func(s *gen.Schedule) { s.Ranks[0].Instrs[1].AfterSend = 1 }, "not a send"},
		{"a receive after what is not there", func(s *gen.Schedule) { s.Ranks[0].Instrs[1].AfterSend = 7 }, "not a send"},
		{"a copy after a send", func(s *gen.Schedule) { s.Ranks[0].Instrs[2].AfterSend = 0 }, "not a receive"},
		{"a copy of a signal", func(s *gen.Schedule) { s.Ranks[0].Instrs[2].Srcs[0] = gen.Place{} }, "no buffer"},
		{"a copy between lengths",
			func(s *gen.Schedule) { s.Ranks[0].Instrs[2].Srcs[0] = gen.Place{Buf: spec.In, N: 2} }, "differ in length"},
		{"a reduction of nothing",
			func(s *gen.Schedule) { s.Ranks[0].Instrs[2].Kind, s.Ranks[0].Instrs[2].Srcs = gen.ReduceInstr, nil },
			"0 sources"},
		{"more memory than there is",
			func(s *gen.Schedule) { s.Ranks[0].Scratch, s.Ranks[1].Scratch = 1<<24, 1<<24 }, "too large"},
		{"more work than anyone can do", func(s *gen.Schedule) {
			s.Ranks[0].Scratch = 1 << 12
			all := gen.Place{Buf: spec.Scratch, N: 1 << 12}
			s.Ranks[0].Instrs = []gen.Instr{reduce(all, slices.Repeat([]gen.Place{all}, 1<<12))}
		}, "too large"},
		{"a join with places", func(s *gen.Schedule) { s.Ranks[0].Instrs[2].Kind = gen.JoinInstr }, "sources"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := pair([]gen.Instr{send(1, in(0)), recv(1, slot(0)), move(out(0), slot(0), 1)},
				[]gen.Instr{send(0, in(0)), recv(0, out(0))})
			if _, err := verify.Schedule(s, false); err != nil {
				t.Fatal(err)
			}
			x.by(s)
			_, err := verify.Schedule(s, false)
			var f *verify.Failure
			if !errors.As(err,
				&f) || f.Check != verify.Shape && f.Check != verify.Program || !strings.Contains(err.Error(), x.says) {
				t.Errorf("got %v, want the words %q", err, x.says)
			}
		})
	}
}

// TestShapeOfScratch: a region of several slots has no length of its own where chunks differ in length.
func TestShapeOfScratch(t *testing.T) {
	two := func(buf spec.Buf) gen.Place { return gen.Place{Buf: buf, N: 2} }
	s := alone(move(two(spec.Scratch), two(spec.In)))
	if got := checkOf(t, s, false); got != "" {
		t.Errorf("with one chunk in a block it fails %q", got)
	}
	s.Chunks, s.Ranks[0].In, s.Ranks[0].Out = 2, 4, 4
	if got := checkOf(t, s, false); got != verify.Shape {
		t.Errorf("with two chunks in a block it fails %q", got)
	}
}

// TestShapeOfBarrier: who has met whom is a table, which must not be too large either.
func TestShapeOfBarrier(t *testing.T) {
	programs := make([][]gen.Instr, 6400)
	programs[0] = slices.Repeat([]gen.Instr{join()}, 200_000)
	if got := checkOf(t, byHand(meets, programs...), false); got != verify.Shape {
		t.Errorf("it fails %q", got)
	}
}

// TestWrongQuestions: a call that the primitive refuses, and a form in place that there is not, are not the schedule's
// failures.
func TestWrongQuestions(t *testing.T) {
	var f *verify.Failure
	s := byHand(spec.Send, nil, nil)
	_, err := verify.Schedule(s, false)
	var refused *spec.RefusedError
	if !errors.As(err, &refused) || errors.As(err, &f) {
		t.Errorf("a send to oneself: %v", err)
	}
	s = alone(move(out(0), in(0)))
	s.Requires.OutOfPlace = true
	if _, err := verify.Schedule(s, true); err == nil || errors.As(err, &f) {
		t.Errorf("in place, though it requires otherwise: %v", err)
	}
	s.Requires.OutOfPlace, s.Primitive.InPlace = false, spec.InPlace{}
	if _, err := verify.Schedule(s, true); err == nil || errors.As(err, &f) {
		t.Errorf("in place, though the primitive has no such form: %v", err)
	}
}
