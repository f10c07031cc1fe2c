package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify/smtproof"
)

// Package verify is the first to judge mutated algorithms. Here other stages are asked about those that it kills:
// whether they would have seen them, too.

// candidate is a mutated algorithm that was killed.
type candidate struct {
	of, is *gen.Algorithm
	fate   *fate
}

// emitted returns an algorithm in the form of which Go is generated, and which is proved for every size.
func emitted(a gen.Algorithm) gen.Algorithm { return gen.Prune(gen.Simplify(a)) }

// sampled are at most n of all for each algorithm that they are made from, as a seed decides.
func sampled(all []candidate, n int, seed uint64) (some []candidate) {
	rank := func(c candidate) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", seed, c.fate.Mutant)
		return h.Sum64()
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(rank(a), rank(b)) })
	taken := map[string]int{}
	for _, c := range all {
		if name := c.of.FullName(); taken[name] < n {
			taken[name]++
			some = append(some, c)
		}
	}
	return some
}

// asking says about how many mutants of each algorithm a stage is asked.
type asking struct{ code, every int }

// ask asks both stages about some of the mutants.
func ask(ctx context.Context, o options, killed []candidate, n asking) error {
	return errors.Join(askCode(ctx, o.root, sampled(killed, n.code, o.seed)), askEvery(ctx, sampled(killed, n.every, o.seed)))
}

// solverLimit is how long a solver thinks about one obligation of a mutant. What it has not refuted by then counts as
// not seen.
const solverLimit = 2 * time.Second

// askEvery asks stage every about each: whether a solver refutes one of its obligations, or there is no argument at all.
func askEvery(ctx context.Context, some []candidate) error {
	solvers, err := smtproof.Solvers("z3", "cvc5")
	if err != nil {
		return err
	}
	for _, c := range some {
		o, err := refuted(ctx, c.is, solvers)
		if err != nil {
			return err
		}
		c.fate.Asked = append(c.fate.Asked, o)
	}
	return nil
}

func refuted(ctx context.Context, a *gen.Algorithm, solvers []smtproof.Solver) (opinion, error) {
	o := opinion{Stage: everyStage, Killed: true}
	form := emitted(*a)
	p, err := smtproof.ProblemOf(&form)
	if err != nil {
		o.Words = ofError(err)
		return o, nil
	}
	for i := range p.Obligations {
		one := *p
		one.Obligations, one.Scripts = p.Obligations[i:i+1], p.Scripts[i:i+1]
		proof, err := one.Prove(ctx, smtproof.Options{Solvers: solvers, Limit: solverLimit})
		if err != nil {
			return o, err
		}
		if k := slices.Index(proof.Answers[0], "sat"); k >= 0 {
			o.Words = oneLine(fmt.Sprintf("%s refutes: %s", proof.Solvers[k], strings.TrimSpace(p.Obligations[i].String())), wordsLength)
			return o, nil
		}
	}
	return opinion{Stage: everyStage}, nil
}
