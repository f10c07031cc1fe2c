package smtproof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/smt"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/smtproof"
)

// TestObligationsHold evaluates every obligation, without a solver, for all sizes and depths up to 3.
func TestObligationsHold(t *testing.T) {
	for _, a := range inductive() {
		p, err := smtproof.ProblemOf(emitted(a))
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Obligations {
			o := &p.Obligations[i]
			if model := smtproof.Search(t.Context(), o, 3); model != nil {
				t.Errorf("%s: %s: does not hold for %v", a.FullName(), o, model)
			}
		}
	}
}

// TestScriptsPresumeWhatIsSo gives the variables of an obligation values, for which what it presumes is so, and asks
// for a model of the script without its goal: there has to be one, or the script presumes something of numbers that is
// not so.
func TestScriptsPresumeWhatIsSo(t *testing.T) {
	solver := needSolver(t, "z3")
	for _, a := range []gen.Algorithm{catalogue.AllReduceSegmentedRing, catalogue.BroadcastScatterAllGather,
		catalogue.GatherBinomial,
		catalogue.AllGatherRecursiveDoubling, catalogue.BarrierDissemination} {
		p, err := smtproof.ProblemOf(emitted(a))
		if err != nil {
			t.Fatal(err)
		}
		pinned := &smtproof.Problem{Algorithm: p.Algorithm}
		for i := range p.Obligations {
			never := p.Obligations[i]
			never.Goal = spec.Int(0)
			for _, size := range []int{3, 4} {
				never.Given = append(p.Obligations[i].Given[:len(p.Obligations[i].Given):len(p.Obligations[i].Given)],
					spec.Eq(spec.Size, spec.Int(size)))
				if model := smtproof.Search(t.Context(), &never, size); model != nil {
					pinned.Obligations = append(pinned.Obligations, p.Obligations[i])
					pinned.Scripts = append(pinned.Scripts, pin(p.Scripts[i], model))
				}
			}
		}
		proof, err := pinned.Prove(t.Context(), smtproof.Options{Solvers: []smtproof.Solver{solver}, Limit: patience})
		if err != nil {
			t.Fatal(err)
		}
		if len(proof.Answers) < 20 {
			t.Errorf("%s: only %d scripts", a.FullName(), len(proof.Answers))
		}
		for i, answers := range proof.Answers {
			if answers[0] != "sat" {
				t.Errorf("%s: %s: with values for its variables and without the goal, the solver says %s:\n%s",
					a.FullName(), &pinned.Obligations[i], answers[0], pinned.Scripts[i])
			}
		}
	}
}

// pin returns a script with values for its variables, and with nothing in the place of its goal.
func pin(script string, model spec.Env) string {
	goal := strings.LastIndex(script, "(assert (not ")
	pinned := script[:goal]
	for _, v := range model {
		pinned += fmt.Sprintf("(assert (= %s %d))\n", v.Name, v.Value)
	}
	return pinned + "(check-sat)\n"
}

// TestLemmas proves what scripts presume, and that a wrong one is noticed is what TestScriptsPresumeWhatIsSo is for.
func TestLemmas(t *testing.T) {
	o := smtproof.Options{Solvers: []smtproof.Solver{needSolver(t, "z3")}, Limit: patience}
	if err := smtproof.Lemmas(t.Context(), smt.Lemmas(), o); err != nil {
		t.Error(err)
	}
}

// TestWrongInvariant has invariants that are wrong, or say too little: no proof may come of them.
func TestWrongInvariant(t *testing.T) {
	solver := needSolver(t, "z3")
	for name, change := range map[string]func(*gen.Claim){
		"says too much":    func(c *gen.Claim) { c.Where = spec.Int(1) },
		"says too little":  func(c *gen.Claim) { c.Where = spec.Int(0) },
		"a count too many": func(c *gen.Claim) { c.Count = off(c.Count) },
		"another chunk":    func(c *gen.Claim) { c.Chunk = spec.Up(off(c.Chunk), spec.Size) },
		"another rank":     func(c *gen.Claim) { c.First = spec.Up(off(c.First), spec.Size) },
	} {
		h := catalogue.AllReduceRing.Hints
		h.Loops = append([]gen.Invariant(nil), h.Loops...)
		h.Loops[0].Claims = append([]gen.Claim(nil), h.Loops[0].Claims...)
		change(&h.Loops[0].Claims[1])
		p, err := smtproof.NewProblem(emitted(catalogue.AllReduceRing), h)
		if err != nil {
			t.Fatal(err)
		}
		proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: []smtproof.Solver{solver}, Limit: patience})
		if err != nil {
			t.Fatal(err)
		}
		if len(proof.Open()) == 0 {
			t.Errorf("an invariant that %s proves the algorithm", name)
		}
	}
}

// TestWithoutTurns: if a loop inside a step does not go to all ranks and has no Turns, the error says so.
func TestWithoutTurns(t *testing.T) {
	o := smtproof.Options{Solvers: []smtproof.Solver{needSolver(t, "z3")}, Limit: patience}
	a := emitted(catalogue.BarrierKDissemination.Members()[0])
	h := a.Hints
	h.Turns = nil
	p, err := smtproof.NewProblem(a, h)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := p.Prove(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	open := proof.Open()
	if len(open) == 0 {
		t.Fatal("it is proved without Turns")
	}
	for _, i := range open {
		if text := proof.Refute(t.Context(), i, o.Limit).Error(); strings.Contains(text, "need gen.Turns, and that over ") {
			return
		}
	}
	t.Errorf("Turns are not mentioned: %v", proof.Refute(t.Context(), open[0], o.Limit))
}

// TestOpen: an obligation is proved if every solver says so.
func TestOpen(t *testing.T) {
	p := smtproof.Proof{Answers: [][]string{{"unsat", "unsat"}, {"unsat", "sat"}, {"unknown", "unsat"}, {"unsat"}, {},
		{"unsat", ""}}}
	if got, want := p.Open(), []int{1, 2, 4, 5}; !slices.Equal(got, want) {
		t.Errorf("%d are open, want %d", got, want)
	}
}

// TestLemmasNotProved: a lemma that a solver refutes, or of which it does not know, is not proved.
func TestLemmasNotProved(t *testing.T) {
	for answer, proves := range map[string]bool{"unsat": true, "sat": false, "unknown": false, "timeout": false} {
		solvers := answering(t, answer)
		err := smtproof.Lemmas(t.Context(), smt.Lemmas()[:1], smtproof.Options{Solvers: solvers, Limit: patience})
		if (err == nil) != proves || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("z3 says %q", answer)) {
			t.Errorf("the solver says %s: %v", answer, err)
		}
	}
}

// answering returns a solver that says these about a script.
func answering(t *testing.T, says ...string) []smtproof.Solver {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\ncat >/dev/null\n"
	for _, answer := range says {
		text += "echo " + answer + "\necho 'collgen: end of script'\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "z3"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+"/bin:/usr/bin")
	solvers, err := smtproof.Solvers("z3")
	if err != nil {
		t.Fatal(err)
	}
	return solvers
}

// TestSolverAnswers has a solver say what it cannot, and one that is not there.
func TestSolverAnswers(t *testing.T) {
	if _, err := smtproof.Solvers("z3", "yices"); err == nil {
		t.Error("a solver that nobody knows is found")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := smtproof.Solvers("cvc5"); err == nil || !strings.Contains(err.Error(), ".ci/deps prove") {
		t.Errorf("a solver that is not installed: %v", err)
	}
}

// TestSolverVersion has programs in the place of a solver that say their version as z3 and cvc5 do, or none.
func TestSolverVersion(t *testing.T) {
	for says, want := range map[string]string{"Z3 version 4.8.12 - 64 bit": "4.8.12",
		"This is cvc5 version 1.0.3 [git tag]": "1.0.3", "no option --version": "?"} {
		if solvers := answering(t, "'"+says+"'"); solvers[0].Version != want {
			t.Errorf("%q: the version is %q, want %q", says, solvers[0].Version, want)
		}
	}
}

// TestNegativeExponent has goals about a power whose exponent may be negative, which is none: they are not proved.
func TestNegativeExponent(t *testing.T) {
	goal := spec.Le(spec.Int(1), spec.Shl(spec.Int(1), k))
	for least, want := range map[int]string{-2: "sat", 0: "unsat"} {
		o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: one}, {Name: "k", Min: n(least), Max: size}},
			Goal: goal}
		p := &smtproof.Problem{Algorithm: &catalogue.AllGatherRing, Obligations: []induct.Obligation{o},
			Scripts: []string{script(t, o, goal)}}
		proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: needSolvers(t), Limit: patience})
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range proof.Answers[0] {
			if answer != want {
				t.Errorf("of exponents from %d on a solver says %q, want %q", least, answer, want)
			}
		}
	}
}

// TestSolverMiscounts has programs in the place of a solver that answer one script never, once, and three times: only
// the first answer to it counts, and without one there is no proof.
func TestSolverMiscounts(t *testing.T) {
	for says, want := range map[int]string{0: "ended after 0 of 1 scripts", 1: "", 3: ""} {
		solvers := answering(t, slices.Repeat([]string{"unsat"}, says)...)
		p := &smtproof.Problem{Algorithm: &catalogue.AllGatherRing, Scripts: []string{"(check-sat)\n"}}
		proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: solvers, Limit: patience})
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" &&
			(err != nil || len(proof.Open()) > 0) {
			t.Errorf("of %d answers: %v", says, err)
		}
	}
}

// TestScriptsOfBits has solvers look at operations on bits inside of each other, with powers that are near to each
// other, for given values: that an expression does not have the value that Eval says is never proved.
func TestScriptsOfBits(t *testing.T) {
	solver := needSolver(t, "z3")
	k := spec.Var("k")
	with := func(x spec.Expr) (all []spec.Expr) {
		for above := range 3 {
			by := spec.Add(k, spec.Int(above))
			all = append(all, spec.Shl(x, by), spec.Shr(x, by), spec.Reverse(x, by),
				spec.BitAnd(x, spec.Sub(spec.Shl(one, by), one)))
		}
		return append(all, spec.BitXor(x, one), spec.BitAnd(x, one))
	}
	p := &smtproof.Problem{Algorithm: &catalogue.AllGatherRing}
	for _, inner := range with(size) {
		for i, outer := range with(inner) {
			values := spec.Env{{Name: "size", Value: 5 + 8*(i%2)}, {Name: "k", Value: i % 3}}
			is, err := outer.Eval(values)
			if err != nil {
				t.Fatal(err)
			}
			o := induct.Obligation{Names: []induct.Name{{Name: "size", Min: one}, {Name: "k", Min: zero, Max: size}},
				Goal: spec.Ne(outer, spec.Int(is))}
			for _, v := range values {
				o.Given = append(o.Given, spec.Eq(spec.Var(v.Name), spec.Int(v.Value)))
			}
			p.Obligations, p.Scripts = append(p.Obligations, o), append(p.Scripts, script(t, o, o.Goal))
		}
	}
	proof, err := p.Prove(t.Context(), smtproof.Options{Solvers: []smtproof.Solver{solver}, Limit: patience})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, answers := range proof.Answers {
		switch answers[0] {
		case "unsat":
			t.Errorf("%v is proved, and false:\n%s", &p.Obligations[i], p.Scripts[i])
		case "sat":
			found++
		}
	}
	if found < len(p.Scripts)*9/10 {
		t.Errorf("of %d scripts only %d have a model", len(p.Scripts), found)
	}
}
