package smtproof_test

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/smtproof"
)

// ring returns the problem of a ring that is changed.
func ring(t *testing.T, change func(*gen.Algorithm)) *smtproof.Problem {
	t.Helper()
	a := *emitted(catalogue.AllGatherRing)
	change(&a)
	p, err := smtproof.ProblemOf(&a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// printed returns the problem of the ring with other scripts.
func printed(t *testing.T, change func(scripts []string)) *smtproof.Problem {
	t.Helper()
	p := ring(t, func(*gen.Algorithm) {})
	change(p.Scripts)
	return p
}

// ringRecord returns the catalogue's record of the ring, and the solvers in the versions that it names.
func ringRecord(t *testing.T) (r smtproof.Record, z3, cvc5 smtproof.Solver) {
	t.Helper()
	list, err := smtproof.Records()
	if err != nil {
		t.Fatal(err)
	}
	r, ok := ring(t, func(*gen.Algorithm) {}).Recorded(list)
	if !ok || len(r.Versions) != 2 {
		t.Fatalf("the record is %+v", r)
	}
	return r, smtproof.Solver{Name: "z3", Version: r.Versions[0]}, smtproof.Solver{Name: "cvc5", Version: r.Versions[1]}
}

// TestDecided changes the algorithm, an invariant and what is printed: each has another hash, and the solvers have to
// be asked again.
func TestDecided(t *testing.T) {
	r, z3, cvc5 := ringRecord(t)
	for name, test := range map[string]struct {
		p    *smtproof.Problem
		same bool
	}{
		"nothing":       {ring(t, func(*gen.Algorithm) {}), true},
		"the algorithm": {ring(t, send(0, func(x *gen.Send) { x.Data.At = off(x.Data.At) })), false},
		"an invariant": {ring(t, func(a *gen.Algorithm) {
			claims := slices.Clone(a.Hints.Loops[0].Claims)
			claims[0].Where = spec.Not(claims[0].Where)
			a.Hints.Loops = []gen.Invariant{{Claims: claims}}
		}), false},
		"what the printer prints":  {printed(t, func(scripts []string) { scripts[len(scripts)-1] += " " }), false},
		"the order of the scripts": {printed(t, slices.Reverse), false},
	} {
		if hash := test.p.ScriptsFor(r.Solvers); (hash == r.Scripts) != test.same {
			t.Errorf("%s has changed: the hash of the scripts is %s, recorded is %s", name, hash, r.Scripts)
		}
		if got, ok := test.p.DecidedBy([]smtproof.Solver{z3, cvc5}, []smtproof.Record{r}); ok != test.same {
			t.Errorf("%s has changed, decided is %v: %+v", name, ok, got)
		}
	}
}

// TestDecidedByOthers changes the solvers and the record: the solvers have to be asked again.
func TestDecidedByOthers(t *testing.T) {
	r, z3, cvc5 := ringRecord(t)
	edited, earlier, unnamed := r, r, r
	edited.Sizes = "1..2^31"
	earlier.Scripts, earlier.Versions = "", nil
	unnamed.Versions = []string{"?", cvc5.Version}
	for name, test := range map[string]struct {
		z3, cvc5 smtproof.Solver
		record   smtproof.Record
		want     bool
	}{
		"nothing":                        {z3, cvc5, r, true},
		"the version of z3":              {smtproof.Solver{Name: "z3", Version: "4.16"}, cvc5, r, false},
		"the version of cvc5":            {z3, smtproof.Solver{Name: "cvc5", Version: "1.2"}, r, false},
		"which solvers there are":        {z3, z3, r, false},
		"the sizes in the record":        {z3, cvc5, edited, false},
		"that scripts are recorded":      {z3, cvc5, earlier, false},
		"that z3 does not say a version": {smtproof.Solver{Name: "z3", Version: "?"}, cvc5, unnamed, false},
	} {
		p := ring(t, func(*gen.Algorithm) {})
		if _, ok := p.DecidedBy([]smtproof.Solver{test.z3, test.cvc5}, []smtproof.Record{test.record}); ok != test.want {
			t.Errorf("%s has changed: decided is %v", name, ok)
		}
	}
}
