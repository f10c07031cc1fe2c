package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/gen/emit/smt"
	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/smtproof"
)

// proveCommand is collgen prove.
type proveCommand struct {
	*call
	solvers  string
	scripts  string // a folder for the scripts
	limit    time.Duration
	write    bool // record what was proved
	recorded bool // ask no solver again what it decided according to the record
}

func prepareProve(base *call) runner {
	c := &proveCommand{call: base}
	c.packageFlags()
	c.flags.StringVar(&c.solvers, "solver", "z3,cvc5", "`names` of the solvers, all of which have to prove everything")
	c.flags.StringVar(&c.scripts, "smt", "", "write the scripts that the solvers get into `folder`")
	c.flags.DurationVar(&c.limit, "limit", time.Minute, "`time` that a solver has for one answer; what it does not "+
		"answer is not proved")
	c.flags.BoolVar(&c.write, "write", false, "record what was proved, in zproved.txt beside the generated code")
	c.flags.BoolVar(&c.recorded, "recorded", false, "count what is recorded as proved, and do not ask the solvers again, "+
		"where they would get the same scripts and are of the same versions")
	return c
}

// provedEvery is what collgen prove says of an algorithm.
type provedEvery struct {
	smtproof.Record
	Recorded bool     `json:"recorded,omitempty"` // -recorded: the solvers were not asked again
	Seconds  float64  `json:"seconds"`
	Open     []string `json:"open,omitempty"` // what is not proved
}

// isTried reports whether the algorithm serves its Sizes alone, each of which collgen gen and collgen verify prove:
// there is nothing for a solver, and no record.
func (x provedEvery) isTried() bool { return x.Digest == "" && len(x.Open) == 0 }

// run runs collgen prove.
func (c *proveCommand) run(ctx context.Context) error {
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	if c.write && c.arg("") != "" {
		return usageError{errors.New("-write is for all algorithms of a package")}
	}
	solvers, err := smtproof.Solvers(strings.Split(c.solvers, ",")...)
	if err != nil {
		return err
	}
	problems, results, err := c.problems(ctx, s)
	if err != nil {
		return err
	}
	recorded, err := s.records()
	if err != nil {
		return err
	}
	o := smtproof.Options{Solvers: solvers, Limit: c.limit}
	lemmas := lemmasOf(problems)
	if err := smtproof.Lemmas(ctx, lemmas, o); err != nil {
		return err
	}
	var faults []error
	for _, x := range results {
		for _, open := range x.Open {
			faults = append(faults, errors.New(open))
		}
	}
	for _, p := range problems {
		x, open, err := c.proveEvery(ctx, p, recorded, o)
		if err != nil {
			return err
		}
		results, faults = append(results, x), append(faults, open...)
	}
	if err := c.showProved(s, results, len(lemmas)); err != nil {
		return err
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	return c.recordProved(ctx, s, recorded, results)
}

// proveEvery proves one algorithm, and explains what is open. With -recorded, a record of the same proof is enough.
func (c *proveCommand) proveEvery(ctx context.Context, p *smtproof.Problem, recorded []smtproof.Record,
	o smtproof.Options) (x provedEvery, faults []error, err error) {
	if r, ok := p.DecidedBy(o.Solvers, recorded); ok && c.recorded {
		return provedEvery{Record: r, Recorded: true}, nil, nil
	}
	o.Progress = func(done, of int) { c.progress.Update("%s: %d of %d answers", p.Algorithm.FullName(), done, of) }
	proof, err := p.Prove(ctx, o)
	if err != nil {
		return x, nil, err
	}
	r, _ := proof.Record()
	x = provedEvery{Record: r, Seconds: proof.Took.Seconds()}
	for _, i := range proof.Open() {
		open := proof.Refute(ctx, i, c.limit)
		x.Open, faults = append(x.Open, open.Obligation.String()), append(faults, open)
	}
	c.progress.Stage("%s: %d of %d obligations proved in %.1f s", r.Algorithm, r.Obligations-len(x.Open), r.Obligations,
		x.Seconds)
	return x, faults, nil
}

// problems returns those of the algorithms that the command line names, in the form of which Go is generated. Those
// that serve no sizes but those that are tried are results already, and so are those for which there is no argument: of
// these nothing is proved.
func (c *proveCommand) problems(ctx context.Context, s *source) (problems []*smtproof.Problem, results []provedEvery,
	err error) {
	found, err := s.match(c.arg(""))
	if err != nil {
		return nil, nil, err
	}
	j := &job{source: s}
	j.algorithms = found
	for _, pass := range []func(context.Context, *job) error{validate, simplify, prune} {
		if err := pass(ctx, j); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range found {
		if verify.TriesAll(&a.Algorithm, maxSize) {
			most, _ := a.MostRanks()
			results = append(results, provedEvery{Record: smtproof.Record{Algorithm: a.FullName(),
				Sizes: fmt.Sprintf("1..%d", most)}})
			continue
		}
		p, err := smtproof.ProblemOf(&a.Algorithm)
		if err != nil {
			results = append(results, provedEvery{Record: smtproof.Record{Algorithm: a.FullName()},
				Open: []string{a.locate(fmt.Errorf("nothing is proved for every size: %w", err)).Error()}})
			continue
		}
		if c.scripts != "" {
			if err := writeScripts(c.scripts, p); err != nil {
				return nil, nil, err
			}
		}
		problems = append(problems, p)
	}
	return problems, results, nil
}

// writeScripts writes each script of p to a file of its own, and the lemmas to others.
func writeScripts(dir string, p *smtproof.Problem) error {
	write := func(name, script string) error {
		file := filepath.Join(dir, filepath.FromSlash(name)+".smt2")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(script), 0o644)
	}
	for i, script := range p.Scripts {
		if err := write(fmt.Sprintf("%s/%03d-%s", p.Algorithm.FullName(), i, p.Obligations[i].Name), script); err != nil {
			return err
		}
	}
	for i, l := range lemmasOf([]*smtproof.Problem{p}) {
		if err := write(fmt.Sprintf("lemma/%d", i), "; "+l.Name+"\n"+l.Script); err != nil {
			return err
		}
	}
	return nil
}

// lemmasOf returns those that problems presume.
func lemmasOf(problems []*smtproof.Problem) []smt.Lemma {
	var all []induct.Obligation
	for _, p := range problems {
		all = append(all, p.Obligations...)
	}
	return smt.LemmasOf(all)
}

func (c *proveCommand) showProved(s *source, results []provedEvery, lemmas int) error {
	if c.json {
		return writeJSON(c.stdout, results)
	}
	fmt.Fprintf(c.stdout, "%s.\n\n", s.title())
	t := newTable(c.stdout)
	t.row("algorithm", "sizes", "obligations", "proved", "by", "seconds")
	total, open, recorded := 0, 0, 0
	for _, x := range results {
		sizes := x.Sizes
		if len(x.Open) > 0 {
			sizes = "not proved"
		}
		by := strings.Join(x.Solvers, ",")
		if x.isTried() {
			by = "collgen verify"
		}
		if x.Recorded {
			by, recorded = by+", recorded", recorded+1
		}
		t.row(x.Algorithm, sizes, x.Obligations, max(0, x.Obligations-len(x.Open)), by, fmt.Sprintf("%.1f", x.Seconds))
		total, open = total+x.Obligations, open+min(x.Obligations, len(x.Open))
	}
	t.flush()
	fmt.Fprintf(c.stdout, "\n%d %s, %d obligations, %d of them proved, each by all solvers, and %d %s.\n",
		len(results), plural(len(results), "algorithm"), total, total-open, lemmas, plural(lemmas, "lemma"))
	if recorded > 0 {
		fmt.Fprintf(c.stdout, "Of %d of these, the solvers were not asked again: they are as recorded.\n", recorded)
	}
	return nil
}

// recordProved writes the record of what was proved, and says what in it is new, or says where there is another one.
func (c *proveCommand) recordProved(ctx context.Context, s *source, recorded []smtproof.Record,
	results []provedEvery) error {
	var list []smtproof.Record
	var stale []string
	for _, x := range results {
		if x.isTried() {
			continue
		}
		list = append(list, x.Record)
		if !slices.ContainsFunc(recorded, func(r smtproof.Record) bool {
			return r.Algorithm == x.Algorithm &&
				r.Digest == x.Digest
		}) {
			stale = append(stale, x.Algorithm)
		}
	}
	switch {
	case c.write:
		file, err := s.recordFile(ctx)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, smtproof.WriteRecords(list), 0o644); err != nil {
			return err
		}
		for _, line := range smtproof.Changes(recorded, list) {
			fmt.Fprintln(c.stderr, "recorded of", line)
		}
	case len(stale) > 0:
		return fmt.Errorf("what was proved of %s is not recorded: collgen prove -write does, and then collgen gen says it "+
			"in generated code",
			strings.Join(stale, ", "))
	}
	return nil
}
