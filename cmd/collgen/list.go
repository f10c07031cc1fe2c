package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/smtproof"
)

// entry is what list and verify say of an algorithm.
type entry struct {
	Name      string           `json:"name"`
	Doc       string           `json:"doc"`
	Source    string           `json:"source"`
	Requires  string           `json:"requires,omitempty"`
	Chunks    string           `json:"chunks"`          // in a block
	Alpha     string           `json:"alpha,omitempty"` // messages, on the critical path; empty where it is not declared
	Beta      string           `json:"beta,omitempty"`  // chunks sent
	Gamma     string           `json:"gamma,omitempty"` // chunks reduced
	Primitive string           `json:"primitiveHash"`
	Hash      string           `json:"hash"`
	Sizes     []int            `json:"sizes"`              // for which it was proved
	Order     string           `json:"order,omitempty"`    // of its reductions
	Recorded  string           `json:"recorded,omitempty"` // the generated file that says so; empty: proved just now
	Proof     *verify.Summary  `json:"proof,omitempty"`    // where it was proved just now
	Seconds   float64          `json:"seconds,omitempty"`  // that it took
	Every     *smtproof.Record `json:"every,omitempty"`    // what was proved for every size
}

func entryOf(a *algorithm) entry {
	cost := text.CostOf(&a.Algorithm)
	e := entry{
		Name: a.FullName(), Doc: a.Doc, Source: a.Source, Requires: text.Requirements(a.Requires),
		Chunks: cost.Chunks, Alpha: cost.Alpha, Beta: cost.Beta, Gamma: cost.Gamma,
		Primitive: golang.SpecHash(a.Primitive), Hash: golang.Hash(&a.Algorithm),
		Sizes: a.proof.Sizes, Recorded: a.recorded,
	}
	if a.proof.Folds {
		e.Order = a.proof.Order.String()
	}
	if a.recorded == "" {
		e.Proof, e.Seconds = &a.proof, a.took.Seconds()
	}
	if a.every.Sizes != "" {
		e.Every = &a.every
	}
	return e
}

// everySizes returns the sizes for which a was proved by induction.
func everySizes(a *algorithm) string {
	if a.every.Sizes == "" {
		return "-"
	}
	return a.every.Sizes + " (" + strings.Join(a.every.Solvers, ", ") + ")"
}

// listCommand is collgen list.
type listCommand struct {
	*call
	sizes sizeRange
}

func prepareList(c *call) runner {
	x := &listCommand{call: c, sizes: sizeRange{1, maxSize}}
	c.packageFlags()
	c.flags.Var(&x.sizes, "n", "`numbers` of ranks to prove the algorithms for, whatever is proved already")
	return x
}

// run runs collgen list.
func (c *listCommand) run(ctx context.Context) error {
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	if !c.isSet("n") {
		if err := s.recall(s.generatedDir(ctx)); err != nil {
			return err
		}
	}
	found, err := c.proveMatching(ctx, s, c.sizes)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeEntries(found)
	}
	fmt.Fprintf(c.stdout, "%s.\n", s.title())
	primitive := ""
	t := newTable(c.stdout)
	for _, a := range found {
		if a.Primitive.Name != primitive {
			primitive = a.Primitive.Name
			t.flush()
			fmt.Fprintf(c.stdout, "\n%s\n\n", a.Primitive.Doc)
			t.row("", "proved for", "proof", "by induction for", "messages", "chunks sent", "chunks reduced",
				"chunks to a block", "order", "needs")
		}
		e := entryOf(a)
		t.row(e.Name, provedFor(a), proofOrigin(a), everySizes(a), short(e.Alpha), short(e.Beta), short(e.Gamma), e.Chunks,
			order(a.proof), e.Requires)
	}
	t.flush()
	fmt.Fprintf(c.stdout, "\nOf the sizes %s, those that an algorithm serves were proved: by collgen gen, which wrote "+
		"so into the file named\n"+
		"(collgen check compares it, collgen verify proves again), or just now. By induction over steps, they were proved "+
		"for all sizes, or\n"+
		"for those said, while sizes and products fit an int, by the solvers named (collgen prove proves again); so was "+
		"what they lend.\n"+
		"Without that, calls with more ranks or a greater depth are refused, unless they have the option Unproved.\n"+
		"Costs are those on the critical path.\n", &c.sizes)
	return nil
}

// proofOrigin says where the proof of a is from.
func proofOrigin(a *algorithm) string {
	switch {
	case !a.proved:
		return "-"
	case a.recorded == "":
		return "now"
	}
	return filepath.Base(a.recorded)
}

// formulaWidth is how wide a formula may be in a table.
const formulaWidth = 50

// short returns a formula, cut where it is too long for a table; a dash if there is none.
func short(formula string) string {
	letters := []rune(formula)
	switch {
	case formula == "":
		return "-"
	case len(letters) > formulaWidth:
		return string(letters[:formulaWidth-1]) + "…"
	}
	return formula
}

func order(s verify.Summary) string {
	if !s.Folds {
		return "-"
	}
	return s.Order.String()
}

// proveMatching proves the algorithms that the command line names, and returns them even if not all are proved.
func (c *call) proveMatching(ctx context.Context, s *source, sizes sizeRange) ([]*algorithm, error) {
	found, err := s.match(c.arg(""))
	if err != nil {
		return nil, err
	}
	j := &job{source: s, options: verify.Options{From: sizes.from, To: sizes.to}, someOnly: c.isSet("n"),
		progress: c.progress}
	j.algorithms = found
	if err := validate(ctx, j); err != nil {
		return nil, err
	}
	var faults []error
	for _, pass := range []func(context.Context, *job) error{prove, compareCosts, recallEmitted} {
		faults = append(faults, pass(ctx, j))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return found, err
	}
	if !slices.ContainsFunc(found, func(a *algorithm) bool { return a.proved }) {
		return nil, fmt.Errorf("%s: no call for size %s: %w", strings.Join(namesOf(found), ", "), &sizes, verify.ErrNothing)
	}
	return found, nil
}

// sizesOf returns the sizes for which a was proved.
func sizesOf(a *algorithm) string {
	if !a.proved {
		return "none to prove"
	}
	return text.Ranges(a.proof.Sizes)
}

// provedFor returns the sizes for which a was proved, and the depths where they make a difference.
func provedFor(a *algorithm) string {
	if !a.proved || slices.Equal(a.proof.Depths, []int{1}) {
		return sizesOf(a)
	}
	return sizesOf(a) + ", depths " + text.Ranges(a.proof.Depths)
}

func (c *call) writeEntries(found []*algorithm) error {
	entries := make([]entry, len(found))
	for i, a := range found {
		entries[i] = entryOf(a)
	}
	return writeJSON(c.stdout, entries)
}

func namesOf(algorithms []*algorithm) []string {
	names := make([]string, len(algorithms))
	for i, a := range algorithms {
		names[i] = a.FullName()
	}
	return names
}
