package smtproof

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// OpenError is an obligation that is not proved.
type OpenError struct {
	Algorithm  string
	Obligation *induct.Obligation
	Answers    string   // of the solvers, in words
	Model      spec.Env // values for which it does not hold; nil: none were found
	From       string   // origin of the model: a solver, or a search
	Verify     error    // of package verify at the model's size: a *verify.Failure, or nil if it finds nothing wrong
	turnless   []string // of the Problem
}

// Error returns the obligation, the answers, and the counterexample if there is one.
func (e *OpenError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not proved for every size: %s\n", e.Algorithm, e.Obligation)
	fmt.Fprintf(&b, "  answers   %s\n", e.Answers)
	if e.Model == nil {
		b.WriteString("  no counterexample was found")
		return b.String()
	}
	fmt.Fprintf(&b, "  does not hold for %s (found by %s)\n", values(e.Model), e.From)
	fmt.Fprintf(&b, "  fails     %s\n", strings.Join(e.Obligation.Fails(e.Model), "; "))
	if e.Verify == nil {
		fmt.Fprintf(&b, "  verify    %s", e.blame())
		return b.String()
	}
	fmt.Fprintf(&b, "  verify    %s", strings.ReplaceAll(e.Verify.Error(), "\n", "\n            "))
	return b.String()
}

// blame returns the likely cause, in words, if package verify finds nothing wrong.
func (e *OpenError) blame() string {
	size, _ := spec.Size.Eval(e.Model)
	text := fmt.Sprintf("finds nothing wrong at size %d", size)
	if e.Obligation.Loop != "" {
		text += fmt.Sprintf(": it may be the invariant of the loop over %s that is wrong, or says too little",
			e.Obligation.Loop)
		if cells := e.Obligation.Unknown(e.Model); len(cells) > 0 {
			text += ", since nothing is known of " + strings.Join(cells, " and of ")
		}
	}
	if len(e.turnless) > 0 {
		text += fmt.Sprintf("; loops inside steps that do not go to all ranks need gen.Turns, and that over %s has none",
			strings.Join(e.turnless, ", that over "))
	}
	return text
}

// Unwrap returns the failure that package verify found.
func (e *OpenError) Unwrap() error { return e.Verify }

func values(model spec.Env) string {
	var parts []string
	for _, v := range model {
		parts = append(parts, fmt.Sprintf("%s = %d", v.Name, v.Value))
	}
	return strings.Join(parts, ", ")
}

// Refute returns an error that explains an open obligation.
func (p *Proof) Refute(ctx context.Context, i int, limit time.Duration) *OpenError {
	o := &p.Obligations[i]
	e := &OpenError{Algorithm: p.Algorithm.FullName(), Obligation: o, Answers: p.answers(i), turnless: p.Turnless}
	for _, name := range p.refuters(i) {
		s, _ := solverCalled(name)
		if e.Model = s.smallest(ctx, o, p.Scripts[i], limit); e.Model != nil {
			e.From = name
			break
		}
	}
	if e.Model == nil { // in a solver's model, powers and products are functions that may have any values
		e.Model, e.From = Search(ctx, o, searchedSize), "a search"
	}
	if e.Model == nil {
		return e
	}
	size, _ := spec.Size.Eval(e.Model)
	if size > verify.MaxSize {
		return e
	}
	var failure *verify.Failure
	if _, err := verify.Algorithm(ctx, p.Algorithm, verify.Options{From: size, To: size}); errors.As(err, &failure) {
		e.Verify = failure
	}
	return e
}

// searchedSize is the largest size at which all values are tried if no solver has a genuine counterexample.
const searchedSize = 6

// smallest returns the model of a script with the smallest size that is a counterexample to o when it is evaluated; nil
// if there is none.
func (s Solver) smallest(ctx context.Context, o *induct.Obligation, script string,
	limit time.Duration) (model spec.Env) {
	var names []string
	for _, n := range o.Names {
		if n.Is.IsAbsent() {
			names = append(names, n.Name)
		}
	}
	var scripts []string
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64}
	for _, size := range sizes {
		bounded := strings.Replace(script, "(check-sat)", fmt.Sprintf("(assert (<= size %d))\n(check-sat)", size), 1)
		scripts = append(scripts, "(set-option :produce-models true)\n"+bounded+fmt.Sprintf("(get-value (%s))\n",
			strings.Join(names, " ")))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_ = s.decide(ctx, scripts, limit, func(_ int, answer string) {
		text, ok := strings.CutPrefix(answer, sat+" ")
		if !ok || model != nil {
			return
		}
		candidate := readModel(text, names)
		if holds, err := o.Holds(candidate); err == nil && !holds {
			model = candidate
			cancel() // only larger sizes are left
		}
	})
	return model
}

var assignment = regexp.MustCompile(`\(([\w!]+) (\d+|\(- \d+\))\)`)

// readModel parses the values of names in a solver's answer.
func readModel(text string, names []string) (env spec.Env) {
	found := map[string]int{}
	for _, m := range assignment.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(strings.NewReplacer("(", "", ")", "", " ", "").Replace(m[2]))
		if err == nil {
			found[m[1]] = n
		}
	}
	for _, name := range names {
		env = env.With(name, found[name])
	}
	return slices.Clip(env)
}
