package smtproof_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/internal/edit"
	"github.com/collgen/collgen/verify/smtproof"
)

// planted are algorithms with one mistake each, which no proof may accept.
type planted struct {
	bug  string
	in   gen.Algorithm
	by   func(*gen.Algorithm)
	open string // an obligation that has to be refuted
}

var (
	v         = spec.Var
	zero, one = spec.Int(0), spec.Int(1)
	off       = func(e spec.Expr) spec.Expr { return spec.Add(e, one) }
	under     = func(e spec.Expr) spec.Expr { return spec.Sub(e, one) }
)

var plants = []planted{
	{"ring: the wrong peer", catalogue.AllGatherRing, send(0, func(x *gen.Send) { x.To = v("prev") }), "matched"},
	{"ring: the wrong chunk", catalogue.AllReduceRing, send(0, func(x *gen.Send) { x.Data.At = v("d") }), "matched"},
	{"ring: a step too few", catalogue.AllGatherRing, loop(0, func(x *gen.For) { x.N = spec.Max(zero, under(x.N)) }),
		"post"},
	{"ring: a step too many", catalogue.ReduceScatterRing, loop(0, func(x *gen.For) { x.N = spec.Size }), "operands"},
	{"ring: a chunk reduced twice", catalogue.AllReduceRing, recvReduce(0, func(x *gen.RecvReduce) { x.With = x.Into }),
		"operands"},
	{"ring: a wrap-around off by one", catalogue.AllReduceRing,
		let("next", spec.If(spec.Le(off(spec.Rank), spec.Size), off(spec.Rank), zero)), "bounds"},
	{"pieces: the next piece", catalogue.AllReduceChunkedRing, send(0, func(x *gen.Send) { x.Data.At = off(x.Data.At) }),
		"bounds"},
	{"segments: those of the one before", catalogue.AllReduceSegmentedRing,
		finish(0, func(x *gen.Finish) {
			x.Data.At = spec.Add(spec.Mul(spec.Max(zero, under(v("q"))), spec.Size), v("next"))
		}), "operands"},
	{"chain: the wrong chunk", catalogue.BroadcastChain,
		send(0, func(x *gen.Send) { x.Data.At = spec.Min(v("i"), under(spec.Depth)) }), "matched"},
	{"chain: a step too few", catalogue.BroadcastChain, loop(0, func(x *gen.For) { x.N = spec.Depth }), "matched"},
	{"chain: one slot", catalogue.ReduceChain, let("at", zero), "apart"},
	{"linear: a block off by one", catalogue.ScatterLinear,
		send(0, func(x *gen.Send) { x.Data.At = spec.Up(off(x.Data.At), spec.Size) }), "post"},
	{"linear: an operand too few", catalogue.ReduceLinear,
		reduce(0, func(x *gen.Reduce) { x.N = spec.Max(one, under(x.N)) }), "operands"},
	{"direct: the wrong peer", catalogue.AllGatherDirect, let("from", spec.Down(spec.Sub(spec.Rank, v("t")), spec.Size)),
		"bounds"},
	{"direct: a peer too few", catalogue.ReduceScatterDirect,
		loop(0, func(x *gen.For) { x.N = spec.Max(zero, under(x.N)) }), "operands"},
	{"direct: in place, what was overwritten is sent", catalogue.AllToAllDirect,
		recv(0, func(x *gen.Recv) { x.AfterSend = false }), "apart"},
	{"two-shot: the wrong chunk", catalogue.AllReduceTwoShot, recv(1, func(x *gen.Recv) { x.Into.At = v("to") }),
		"matched"},
	{"one-shot: out of bounds", catalogue.AllReduceOneShot, reduce(0, func(x *gen.Reduce) { x.N = off(x.N) }), "bounds"},
	{"pairwise: a round too few", catalogue.AllToAllPairwise,
		loop(0, func(x *gen.For) { x.N = spec.Max(zero, under(x.N)) }), "post"},
	{"pairwise: the wrong partner", catalogue.AllToAllPairwise,
		let("mirror", spec.Up(spec.Add(v("t"), spec.Rank), v("rounds"))), "matched"},
	{"dissemination: a round too few", catalogue.BarrierDissemination, let("rounds", spec.Log2(spec.Size)), "post"},
	{"dissemination: half the distance", catalogue.BarrierDissemination, let("to", spec.Up(off(spec.Rank), spec.Size)),
		"matched"},
	{"doubling: a step too few", catalogue.AllReduceRecursiveDoubling,
		loop(0, func(x *gen.For) { x.N = spec.Max(zero, under(x.N)) }), "operands"},
	{"doubling: operands in the wrong order", catalogue.AllReduceRecursiveDoubling,
		recvReduce(1, func(x *gen.RecvReduce) { x.ReceivedFirst = spec.Lt(spec.Rank, v("partner")) }), "operands"},
	{"doubling: a pair too few", catalogue.AllGatherRecursiveDoubling,
		let("paired", spec.Lt(off(spec.Rank), spec.Mul(spec.Int(2), v("extra")))), "matched"},
	{"bruck: a doubling too few", catalogue.AllGatherBruck, let("rounds", spec.Log2(spec.Size)), "entry"},
	{"bruck: the last message too long", catalogue.AllGatherBruck, let("more", v("have")), "bounds"},
	{"bruck: turned the wrong way", catalogue.AllGatherBruck,
		let("slot", spec.Down(spec.Sub(spec.Rank, v("q")), spec.Size)), "step"},
	{"halving: a step too few", catalogue.ReduceScatterHalving, let("rounds", spec.Log2(spec.Size)), "operands"},
	{"halving: what is kept is sent", catalogue.ReduceScatterHalving, let("slot", spec.Add(v("q"), v("q"))), "step"},
	{"halving: the wrong distance", catalogue.ReduceScatterHalving, let("to", spec.Up(off(spec.Rank), spec.Size)),
		"matched"},
	{"bruck: the wrong runs", catalogue.AllToAllBruck,
		let("first", spec.Mul(spec.Add(v("h"), v("h")), spec.Shl(one, v("k")))), "step"},
	{"bruck: a step too few", catalogue.AllToAllBruck, let("rounds", spec.Log2(spec.Size)), "entry"},
	{"both ways: a round too few back", catalogue.AllGatherBothWays,
		let("back", spec.Shr(spec.Max(zero, spec.Sub(spec.Size, spec.Int(2))), one)), "post"},
	{"both ways: the same half", catalogue.AllReduceBothWays, send(1, func(x *gen.Send) { x.Data.At = v("e") }),
		"matched"},
	{"binomial: a level too few", catalogue.BroadcastBinomial, let("levels", spec.Log2(spec.Size)), "entry"},
	{"binomial: the wrong half", catalogue.ReduceBinomial, let("other", off(v("half"))), "step"},
	{"binomial: a block too many", catalogue.GatherBinomial, send(0, func(x *gen.Send) { x.Data.N = off(x.Data.N) }),
		"bounds"},
	{"binomial: without room for a slot", catalogue.ScatterBinomial,
		func(a *gen.Algorithm) { a.Scratch = under(a.Scratch) }, "bounds"},
	{"tree: not finished", catalogue.AllReduceTree, finish(0, func(x *gen.Finish) { x.Data.N = zero }), "entry"},
	{"ring: AfterSend of what goes to another rank", catalogue.AllGatherRing,
		recv(0, func(x *gen.Recv) { x.AfterSend = true }), "room"},
	{"lent: a later step reduces it", catalogue.AllReduceOneShot, func(a *gen.Algorithm) {
		step := a.Body[0].(gen.Step)
		a.Body = []gen.Node{step[:2], step[2:]}
	}, "operands"},
	{"lent: a later step sends it", catalogue.AllReduceTwoShot,
		send(1, func(x *gen.Send) { x.Data = gen.Slot(spec.Scratch, spec.Rank, spec.Rank) }), "sent"},
	{"lent: the lender changes it", catalogue.ReduceScatterDirect, edit.Nth(0, func(x gen.Reduce) []gen.Node {
		return []gen.Node{gen.Copy{Into: x.Into, From: gen.Chunk(spec.In, spec.Up(off(spec.Rank), spec.Size))}, x}
	}), "lend"},
	{"lent: something else than a reduction reads it", catalogue.ReduceScatterDirect,
		edit.Nth(0, func(x gen.Finish) []gen.Node {
			return []gen.Node{gen.Copy{Into: x.Data, From: gen.Chunk(spec.Scratch, spec.Rank)}, x}
		}), "operands"},
	{"lent: not into scratch", catalogue.AllGatherDirect, recv(0, func(x *gen.Recv) { x.Lend = true }), "lend"},
	{"scatter and all-gather: a chunk too few", catalogue.BroadcastScatterAllGather,
		let("mine", spec.Min(spec.Size, off(spec.BitAnd(v("place"), spec.Sub(zero, v("place")))))), "step"},
}

// TestPlanted has a solver refute each, with numbers, and package verify has to agree at that size.
func TestPlanted(t *testing.T) {
	solver := needSolver(t, "z3")
	for _, x := range slices.Concat(plants, unevenPlants, dividing) {
		t.Run(x.bug, func(t *testing.T) {
			t.Parallel()
			a := x.in
			x.by(&a)
			if a.Text() == x.in.Text() {
				t.Fatal("nothing was changed")
			}
			p, err := smtproof.NewProblem(&a, x.in.Hints)
			if err != nil {
				t.Fatal(err)
			}
			keep(p, x.open)
			proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: []smtproof.Solver{solver}, Limit: patience})
			if err != nil {
				t.Fatal(err)
			}
			judge(t, proof, x.open)
		})
	}
}

// bothWays is an all-gather of three ranks, each of which sends two messages in one step and receives two.
var bothWays = gen.Algorithm{
	Name: "both-ways", Primitive: spec.AllGather, Requires: gen.Requires{Size: spec.Eq(spec.Size, spec.Int(3))},
	Body: []gen.Node{
		gen.Let{Name: "prev", Is: spec.Down(under(spec.Rank), spec.Size)},
		gen.Let{Name: "next", Is: spec.Up(off(spec.Rank), spec.Size)},
		gen.Step{gen.Copy{Into: gen.Chunk(spec.Out, spec.Rank), From: gen.Chunk(spec.In, zero)}},
		gen.Step{
			gen.Send{To: v("next"), Data: gen.Chunk(spec.Out, spec.Rank)},
			gen.Send{To: v("prev"), Data: gen.Chunk(spec.Out, spec.Rank)},
			gen.Recv{From: v("prev"), Into: gen.Chunk(spec.Out, v("prev"))},
			gen.Recv{From: v("next"), Into: gen.Chunk(spec.Out, v("next"))},
		},
	},
}

// TestSeveralMessages proves it, and refutes it with one peer twice, with a chunk received twice, and for two ranks,
// where both receives write to one place.
func TestSeveralMessages(t *testing.T) {
	o := smtproof.Options{Solvers: []smtproof.Solver{needSolver(t, "z3")}, Limit: patience}
	for open, change := range map[string]func(*gen.Algorithm){
		"":        func(*gen.Algorithm) {},
		"matched": send(0, func(x *gen.Send) { x.To = v("prev") }),
		"post":    recv(1, func(x *gen.Recv) { x.Into.At = v("prev") }),
		"apart":   func(a *gen.Algorithm) { a.Requires.Size = spec.Eq(spec.Size, spec.Int(2)) },
	} {
		a := bothWays
		change(&a)
		p, err := smtproof.ProblemOf(&a)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.Prove(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if open != "" {
			judge(t, proof, open)
		} else if len(proof.Open()) > 0 {
			t.Error(proof.Refute(t.Context(), proof.Open()[0], o.Limit))
		}
	}
}

// TestSendsFirst: a ring in which everybody sends before it receives, in two steps, needs room that no transport
// promises. The messages have no partner at their moment; and nobody may say that the two steps are of one.
func TestSendsFirst(t *testing.T) {
	solver := needSolver(t, "z3")
	a := catalogue.AllGatherRing
	edit.Nth(1, func(x gen.Step) []gen.Node { return []gen.Node{x[:1], x[1:]} })(&a)
	hints := catalogue.AllGatherRing.Hints
	if _, err := smtproof.NewProblem(&a, hints); err == nil || !strings.Contains(err.Error(),
		"has no partner at its moment") {
		t.Error(err)
	}
	hints.Together = [][2]int{{1, 2}}
	p, err := smtproof.NewProblem(&a, hints)
	if err != nil {
		t.Fatal(err)
	}
	keep(p, "exclusive")
	proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: []smtproof.Solver{solver}, Limit: patience})
	if err != nil {
		t.Fatal(err)
	}
	judge(t, proof, "exclusive")
}

// keep leaves of a problem the obligations of a name, or all if that is empty.
func keep(p *smtproof.Problem, name string) {
	if name == "" {
		return
	}
	var kept smtproof.Problem
	for i, o := range p.Obligations {
		if o.Name == name {
			kept.Obligations, kept.Scripts = append(kept.Obligations, o), append(kept.Scripts, p.Scripts[i])
		}
	}
	p.Obligations, p.Scripts = kept.Obligations, kept.Scripts
}

// judge asks for an obligation of that name that is open, and has a counterexample with which verify agrees.
func judge(t *testing.T, proof *smtproof.Proof, name string) {
	var names []string
	for _, i := range proof.Open() {
		o := &proof.Obligations[i]
		names = append(names, o.Name)
		if name != "" && o.Name != name {
			continue
		}
		e := proof.Refute(t.Context(), i, patience)
		var failure *verify.Failure
		if e.Model != nil && errors.As(e, &failure) {
			if size, _ := spec.Size.Eval(e.Model); !strings.Contains(e.Error(), "size = ") ||
				len(e.Obligation.Fails(e.Model)) == 0 || size != failure.Params.Size {
				t.Errorf("the counterexample does not say so:\n%v", e)
			}
			t.Log(e)
			return
		}
	}
	t.Errorf("no counterexample to an obligation %q with which verify agrees; open are %q", name, names)
}

// patience is how long a solver may take for an answer that it finds in less than a second where it is not starved.
const patience = time.Minute

// needSolver returns a solver, or the test is left out, unless COLLGEN_SOLVERS is required.
func needSolver(t *testing.T, name string) smtproof.Solver {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("COLLGEN_SOLVERS") == "required" {
			t.Fatal(err)
		}
		t.Skipf("left out, because %s is not installed (.ci/deps prove installs it): %v", name, err)
	}
	found, err := smtproof.Solvers(name)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// needSolvers is z3 or, where solvers are required, both: what tests want of them, two have to agree on there.
func needSolvers(t *testing.T) (all []smtproof.Solver) {
	t.Helper()
	names := []string{"z3"}
	if os.Getenv("COLLGEN_SOLVERS") == "required" {
		names = append(names, "cvc5")
	}
	for _, name := range names {
		all = append(all, needSolver(t, name))
	}
	return all
}

// The edits that the plants are made by.
func send(k int, f func(*gen.Send)) func(*gen.Algorithm)             { return edit.Set(k, f) }
func recv(k int, f func(*gen.Recv)) func(*gen.Algorithm)             { return edit.Set(k, f) }
func recvReduce(k int, f func(*gen.RecvReduce)) func(*gen.Algorithm) { return edit.Set(k, f) }
func reduce(k int, f func(*gen.Reduce)) func(*gen.Algorithm)         { return edit.Set(k, f) }
func finish(k int, f func(*gen.Finish)) func(*gen.Algorithm)         { return edit.Set(k, f) }
func loop(k int, f func(*gen.For)) func(*gen.Algorithm)              { return edit.Set(k, f) }
func let(name string, is spec.Expr) func(*gen.Algorithm) {
	return edit.Let(name, 0, func(x *gen.Let) { x.Is = is })
}

// TestLongShift: a shift by 40 has no value, and the algorithm an obligation that says so.
func TestLongShift(t *testing.T) {
	for by, want := range map[int]bool{20: false, 29: true, 40: true} {
		a := catalogue.AllGatherRing
		a.Body = append([]gen.Node{gen.Let{Name: "big", Is: spec.Shl(one, spec.Add(spec.Rank, spec.Int(by)))}}, a.Body...)
		p, err := smtproof.ProblemOf(&a)
		if err != nil {
			t.Fatal(err)
		}
		fails := false
		for i := range p.Obligations {
			o := &p.Obligations[i]
			fails = fails || o.Name == "defined" && smtproof.Search(t.Context(), o, 5) != nil
		}
		if fails != want {
			t.Errorf("by the rank and %d: it has no value: %v", by, fails)
		}
	}
}
