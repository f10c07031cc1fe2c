package smtproof_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/smt"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/smtproof"
)

// vacuousFile lists the obligations of the catalogue that are vacuous, and why each has to be: they presume what is
// never so, and would be proved whatever they say.
const vacuousFile = "testdata/vacuous.txt"

// TestVacuous compares the list with what is vacuous, by values of the variables for which what is presumed is so. A
// solver has to agree where there are none.
func TestVacuous(t *testing.T) {
	text, err := os.ReadFile(vacuousFile)
	if err != nil {
		t.Fatal(err)
	}
	var listed, found []string
	for line := range bytes.Lines(text) {
		if line := strings.TrimSpace(string(line)); line != "" && !strings.HasPrefix(line, "#") {
			listed = append(listed, line)
		}
	}
	silent := &smtproof.Problem{Algorithm: &catalogue.AllReduceRing} // any will do: it gives the problem its name
	for _, a := range inductive() {
		p, err := smtproof.ProblemOf(emitted(a))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range p.Obligations {
			if speaks(t, &o) {
				continue
			}
			found = append(found, a.FullName()+" "+o.String())
			silent.Obligations = append(silent.Obligations, o)
			silent.Scripts = append(silent.Scripts, script(t, o, spec.Int(0)))
		}
		for _, loop := range unmoved(t, p) {
			t.Errorf("%s: of %s no claim is ever shown after a turn", a.FullName(), loop)
		}
	}
	slices.Sort(listed)
	slices.Sort(found)
	if d := cmp.Diff(listed, found); d != "" {
		t.Errorf("%s is not what is vacuous: %s", vacuousFile, d)
	}
	proof, err := silent.Prove(t.Context(), smtproof.Options{Solvers: needSolvers(t), Limit: patience})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range proof.Open() {
		t.Errorf("%v: no values are found for which what it presumes is so, and %q", &silent.Obligations[i], proof.Answers[i])
	}
}

// speaks reports whether what o presumes is so for some values: then its opposite does not hold.
func speaks(t *testing.T, o *induct.Obligation) bool {
	never := *o
	never.Goal = spec.Int(0)
	return smtproof.Search(t.Context(), &never, 7) != nil
}

// script returns that of an obligation with another goal.
func script(t *testing.T, o induct.Obligation, goal spec.Expr) string {
	t.Helper()
	o.Goal = goal
	text, _, err := smt.Script(&o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var loopNumber = regexp.MustCompile(`Loops\[\d+\]`)

// unmoved returns the loops all of whose step obligations are vacuous: their invariants say nothing of what a turn
// does.
func unmoved(t *testing.T, p *smtproof.Problem) (loops []string) {
	says := map[string]bool{}
	for _, o := range p.Obligations {
		if loop := loopNumber.FindString(o.Says); o.Name == "step" {
			says[loop] = says[loop] || speaks(t, &o)
		}
	}
	for loop, something := range says {
		if !something {
			loops = append(loops, loop)
		}
	}
	return loops
}

// TestVacuousInvariant has an invariant that speaks of the last turn's end alone, which never comes: it is noticed.
func TestVacuousInvariant(t *testing.T) {
	a := among(1, catalogue.AllGatherDirect, gen.For{Var: "k", N: n(2), Body: []gen.Node{step(mine)}})
	never := func(buf spec.Buf) gen.Claim {
		return gen.Claim{Buf: buf, Where: spec.Lt(n(2), k), Chunk: zero, First: zero, Count: one}
	}
	p, err := smtproof.NewProblem(&a, gen.Hints{Loops: []gen.Invariant{{Claims: []gen.Claim{never(out), never(in)}}}})
	if err != nil {
		t.Fatal(err)
	}
	if loops := unmoved(t, p); !slices.Equal(loops, []string{"Loops[0]"}) {
		t.Errorf("vacuous are the invariants of %q", loops)
	}
}
