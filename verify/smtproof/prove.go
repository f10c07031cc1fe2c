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

// Problem is the obligations that have to be proved for an algorithm.
type Problem struct {
	Algorithm   *gen.Algorithm
	Obligations []induct.Obligation
	Scripts     []string // of the obligations
	Turnless    []string // variables of the loops inside steps of which there are no gen.Turns
	Shifted     bool     // whether obligations cover only sizes up to smt.MaxShifted
}

// ProblemOf returns the problem of an algorithm with its own hints. The error says why it cannot be derived.
func ProblemOf(a *gen.Algorithm) (*Problem, error) { return NewProblem(a, a.Hints) }

// NewProblem returns the problem of an algorithm with other hints.
func NewProblem(a *gen.Algorithm, h gen.Hints) (*Problem, error) {
	obligations, err := induct.Obligations(a, h)
	if err != nil {
		return nil, err
	}
	p := &Problem{Algorithm: a, Obligations: obligations, Turnless: induct.WithoutTurns(a, h)}
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

// Options are the settings of a proof.
type Options struct {
	Solvers  []Solver
	Limit    time.Duration      // for one answer of one solver
	Progress func(done, of int) // called after each answer, never concurrently; may be nil
}

// Proof is the solvers' answers to a problem.
type Proof struct {
	*Problem
	Solvers []Solver
	Answers [][]string // by obligation and solver: "unsat" if it is proved
	Took    time.Duration
}

// Prove has every solver decide every obligation. The Proof says what was proved; an error means that a solver could
// not be run.
func (p *Problem) Prove(ctx context.Context, o Options) (*Proof, error) {
	start := time.Now()
	answers, err := decide(ctx, p.Scripts, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Algorithm.FullName(), err)
	}
	return &Proof{Problem: p, Solvers: o.Solvers, Answers: answers, Took: time.Since(start)}, nil
}

// Lemmas has every solver decide the lemmas that scripts assume. It returns an error about those that are not proved.
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

// decide runs all solvers concurrently on all scripts. It returns the answers by script and solver.
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

// Sizes returns the sizes for which a solved problem proves the algorithm: "all", or those up to a limit.
func (p *Problem) Sizes() string {
	if p.Shifted {
		return fmt.Sprintf("1..2^%d", smt.MaxExponent)
	}
	return "all"
}

// refuters returns the solvers that refute obligation i.
func (p *Proof) refuters(i int) (names []string) {
	for k, a := range p.Answers[i] {
		if a == sat {
			names = append(names, p.Solvers[k].Name)
		}
	}
	return names
}

// answers returns the solvers' answers on obligation i, in words.
func (p *Proof) answers(i int) string {
	var parts []string
	for k, a := range p.Answers[i] {
		if a == "" {
			a = "nothing"
		}
		parts = append(parts, p.Solvers[k].Name+" says "+a)
	}
	return strings.Join(parts, ", ")
}
