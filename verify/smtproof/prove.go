package smtproof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/smt"
	"github.com/collgen/collgen/gen/induct"
)

// Problem is what has to be decided about an algorithm.
type Problem struct {
	Algorithm   *gen.Algorithm
	Obligations []induct.Obligation
	Scripts     []string // of the obligations
	Shifted     bool     // whether obligations speak of sizes up to smt.MaxShifted only
}

// ProblemOf derives the problem of a, with the hints that there are for its name. Its error says why that cannot be
// done.
func ProblemOf(a *gen.Algorithm) (*Problem, error) { return NewProblem(a, a.Hints) }

// NewProblem is ProblemOf with hints.
func NewProblem(a *gen.Algorithm, h gen.Hints) (*Problem, error) {
	obligations, err := induct.Obligations(a, h)
	if err != nil {
		return nil, err
	}
	p := &Problem{Algorithm: a, Obligations: obligations}
	for i := range obligations {
		script, shifted, err := smt.Script(&obligations[i])
		if err != nil {
			return nil, err
		}
		p.Scripts = append(p.Scripts, script)
		p.Shifted = p.Shifted || shifted
	}
	return p, nil
}

// Options say how to prove.
type Options struct {
	Solvers  []Solver
	Limit    time.Duration      // for one answer of one solver
	Progress func(done, of int) // is told how many answers of how many there are, never twice at once; nil: nobody is
}

// Proof is what came of a problem.
type Proof struct {
	*Problem
	Solvers []string
	Answers [][]string // by obligation and solver: unsat if it is proved
	Took    time.Duration
}

// Prove has every solver decide every obligation. An error means that a solver could not be asked. What was proved,
// Proof says.
func (p *Problem) Prove(ctx context.Context, o Options) (*Proof, error) {
	start := time.Now()
	answers, err := decide(ctx, p.Scripts, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Algorithm.FullName(), err)
	}
	proof := &Proof{Problem: p, Answers: answers, Took: time.Since(start)}
	for _, s := range o.Solvers {
		proof.Solvers = append(proof.Solvers, s.Name)
	}
	return proof, nil
}

// Lemmas has every solver decide what scripts presume. Its error says what is not proved.
func Lemmas(ctx context.Context, lemmas []smt.Lemma, o Options) error {
	var scripts []string
	for _, l := range lemmas {
		scripts = append(scripts, l.Script)
	}
	answers, err := decide(ctx, scripts, o)
	if err != nil {
		return err
	}
	for i, l := range lemmas {
		for k, answer := range answers[i] {
			if answer != unsat {
				err = errors.Join(err, fmt.Errorf("the lemma %q is not proved: %s says %q", l.Name, o.Solvers[k].Name, answer))
			}
		}
	}
	return err
}

// decide has every solver decide every script, all solvers at the same time: answers are by script and solver.
func decide(ctx context.Context, scripts []string, o Options) ([][]string, error) {
	answers := make([][]string, len(scripts))
	for i := range answers {
		answers[i] = make([]string, len(o.Solvers))
	}
	var mu sync.Mutex
	done := 0
	errs := make([]error, len(o.Solvers))
	var all sync.WaitGroup
	for k, s := range o.Solvers {
		all.Go(func() {
			errs[k] = s.decide(ctx, scripts, o.Limit, func(i int, answer string) {
				mu.Lock()
				defer mu.Unlock()
				answers[i][k] = answer
				if done++; o.Progress != nil {
					o.Progress(done, len(scripts)*len(o.Solvers))
				}
			})
		})
	}
	all.Wait()
	return answers, errors.Join(errs...)
}

// Open returns the obligations that are not proved by every solver.
func (p *Proof) Open() (list []int) {
	for i, answers := range p.Answers {
		if len(answers) == 0 || slices.ContainsFunc(answers, func(a string) bool { return a != unsat }) {
			list = append(list, i)
		}
	}
	return list
}

// Sizes returns those for which the problem, when it is solved, says that the algorithm is right: "all", or those up to
// a limit.
func (p *Problem) Sizes() string {
	if p.Shifted {
		return fmt.Sprintf("1..2^%d", smt.MaxExponent)
	}
	return "all"
}

// refuters returns the solvers that say that obligation i does not hold.
func (p *Proof) refuters(i int) (names []string) {
	for k, a := range p.Answers[i] {
		if a == sat {
			names = append(names, p.Solvers[k])
		}
	}
	return names
}

// answers returns what the solvers say of obligation i, in words.
func (p *Proof) answers(i int) string {
	var parts []string
	for k, a := range p.Answers[i] {
		if a == "" {
			a = "nothing"
		}
		parts = append(parts, p.Solvers[k]+" says "+a)
	}
	return strings.Join(parts, ", ")
}
