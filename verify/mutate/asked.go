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

// Package verify judges mutated algorithms first. The functions in this file ask other stages whether they, too, kill
// those that it kills.

// candidate is a mutated algorithm that was killed.
type candidate struct {
	of, is *gen.Algorithm
	fate   *fate
}

// emitted returns an algorithm in the form that Go is generated from, and that is proved for every size.
func emitted(a gen.Algorithm) gen.Algorithm { return gen.Prune(gen.Simplify(a)) }

// sampled returns at most n candidates for each original algorithm, drawn by the seed.
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

// asking is the number of mutants of each algorithm that a stage is asked about.
type asking struct{ code, every int }

// ask asks both stages about some of the mutants.
func ask(ctx context.Context, o options, killed []candidate, n asking) error {
	return errors.Join(askCode(ctx, o.root, sampled(killed, n.code, o.seed)),
		askEvery(ctx, sampled(killed, n.every, o.seed)))
}

// solverLimit is the time of a solver for one obligation of a mutant. What it has not refuted by then counts as not
// killed.
const solverLimit = 2 * time.Second

// askEvery asks stage every about each candidate: does a solver refute an obligation, or can none be derived?
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

// refuted returns the opinion of stage every on an algorithm.
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
			o.Words = oneLine(fmt.Sprintf("%s refutes: %s", proof.Solvers[k].Name, strings.TrimSpace(p.Obligations[i].String())),
				wordsLength)
			return o, nil
		}
	}
	return opinion{Stage: everyStage}, nil
}
