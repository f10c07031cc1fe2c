package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/collgen/collgen/gen/catalogue"
)

// Stages of make prove that kill mutants. Those of source code are killed by tests.
const (
	scheduleStage = "schedule"
	codeStage     = "code"
	everyStage    = "every"
	modelStage    = "model"
	testStage     = "tests"
)

// report is the result for all mutants.
type report struct {
	rows    []row
	command string // that made it
}

// row is the result for one kind of mutants.
type row struct {
	kind  string
	fates []fate
	least float64 // share of the mutants with another meaning that has to be killed
	took  time.Duration
	note  string
	sizes string // numbers of ranks
	fewer bool   // than were asked for
	// elsewhere: another command tries these mutants; here they are only counted.
	elsewhere bool
}

// fate is the result for one mutant.
type fate struct {
	Mutant string `json:"mutant"`
	// that killed it: one of make prove, or the tests; "": it survives or is the same
	Stage string    `json:"stage,omitempty"`
	Check string    `json:"check,omitempty"` // which of the stage's
	Words string    `json:"words,omitempty"` // of the failure
	Same  bool      `json:"same,omitempty"`  // it means what it was made from
	Asked []opinion `json:"asked,omitempty"` // of other stages, if they were asked
}

// opinion is the verdict of a stage on a mutant that another one has killed.
type opinion struct {
	Stage  string `json:"stage"`
	Killed bool   `json:"killed"`
	Words  string `json:"words,omitempty"`
}

func (f fate) killed() bool   { return f.Stage != "" }
func (f fate) survives() bool { return f.Stage == "" && !f.Same }

// count returns how many of the row's fates satisfy a condition.
func (r *row) count(is func(fate) bool) (n int) {
	for _, f := range r.fates {
		if is(f) {
			n++
		}
	}
	return n
}

func (r *row) killed() int { return r.count(fate.killed) }
func (r *row) same() int   { return r.count(func(f fate) bool { return f.Same }) }

// killers returns how many mutants each check has killed, or each stage that has no checks.
func (r *row) killers() map[string]int {
	n := map[string]int{}
	for _, f := range r.fates {
		if f.killed() {
			n[cmp.Or(f.Check, f.Stage)]++
		}
	}
	return n
}

// add begins a row. The function that it returns ends the row.
func (r *report) add(kind string, least float64) (x *row, end func()) {
	start := time.Now()
	x = &row{kind: kind, least: least}
	return x, func() {
		x.took = time.Since(start)
		r.rows = append(r.rows, *x)
	}
}

// schedules tries mutants of schedules, which package verify judges. One that it refuses although its meaning is the
// same counts as a survivor: either the check or the comparison of meanings is wrong.
func (r *report) schedules(b bounds) error {
	x, end := r.add("schedules", 1)
	defer end()
	x.sizes, x.note = b.ranks(), b.sample()
	for _, a := range catalogue.Algorithms() {
		if err := scheduleMutants(&a, b, func(t trial) { x.fates = append(x.fates, t.fate()) }); err != nil {
			return err
		}
	}
	return nil
}

// algorithms tries mutants of algorithms in the same way. Other stages are asked about those that are killed.
func (r *report) algorithms(ctx context.Context, o options, p plan) error {
	x, end := r.add("algorithms", 1)
	defer end()
	x.sizes, x.note = p.algorithms.ranks(), p.algorithms.sample()
	var made []candidate
	for _, a := range catalogue.Algorithms() {
		err := algorithmMutants(&a, p.algorithms, func(t trial) {
			x.fates, made = append(x.fates, t.fate()), append(made, candidate{of: &a, is: t.mutant})
		})
		if err != nil {
			return err
		}
	}
	return ask(ctx, o, x.killedOf(made), p.asked)
}

// killedOf returns those of the row's mutants that were killed, each with its fate.
func (r *row) killedOf(all []candidate) (killed []candidate) {
	for i, c := range all {
		if c.fate = &r.fates[i]; c.fate.killed() {
			killed = append(killed, c)
		}
	}
	return killed
}

// fate returns the result of the trial.
func (t trial) fate() fate {
	f := fate{Mutant: t.String(), Same: t.same}
	switch {
	case t.same && t.killer != "":
		f.Same, f.Words = false, "refused, and means the same: "+ofError(t.err)
	case t.killer != "":
		f.Stage, f.Check, f.Words = scheduleStage, t.killer, ofError(t.err)
	}
	return f
}

// models counts the configurations of models that have to fail.
func (r *report) models(root string) error {
	x, end := r.add("models", 0)
	defer end()
	files, err := filepath.Glob(filepath.Join(root, "tlaplus/config/*/bad_*.cfg"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, errors.New("there are no models: is this the module's root?"))
	}
	wants, err := os.ReadFile(filepath.Join(root, "tlaplus", "manifest.go"))
	if err != nil {
		return err
	}
	violates := map[string]string{}
	for _, m := range wanted.FindAllSubmatch(wants, -1) {
		violates[string(m[1])+"/"+string(m[2])] = string(m[3])
	}
	for _, file := range files {
		dir, name := filepath.Split(strings.TrimSuffix(file, ".cfg"))
		name = filepath.Base(dir) + "/" + name
		if violates[name] == "" {
			return fmt.Errorf("%s: the manifest of tlaplus does not say what it violates", name)
		}
		x.fates = append(x.fates, fate{Mutant: name, Stage: modelStage, Check: violates[name],
			Words: "both checkers have to find it"})
	}
	x.elsewhere, x.note = true, "counted; make tla checks each"
	return nil
}

// wanted matches an entry of tlaplus's manifest about a configuration that has to fail.
var wanted = regexp.MustCompile(`(?s)\{model: "(\w+)",\s+config: "(bad_\w+)",.*?\swant:\s+"(\w+)"`)

// code tries mutants of source code; each package gets a row.
func (r *report) code(ctx context.Context, o options) error {
	keep, err := openJournal(o.journal)
	if err != nil {
		return err
	}
	until := time.Now().Add(o.time)
	some := chosen(o.packages)
	if len(some) == 0 {
		return fmt.Errorf("of the packages %s none is mutated: %s are", o.packages, subjectNames())
	}
	for _, s := range some {
		x, end := r.add("source code of "+s.pkg, 0.9)
		tried, fewer, err := s.sample(ctx, o, keep, until)
		if err != nil {
			return err
		}
		for _, t := range tried {
			x.fates = append(x.fates, fate{Mutant: t.Mutant, Stage: t.Killer, Words: t.Words, Same: t.Killer == "" &&
				isSame(t.Mutant)})
		}
		asked := fmt.Sprint(s.asked(o.code))
		if o.code < 0 {
			asked = "all"
		}
		x.fewer, x.note = fewer, fmt.Sprintf("%s asked for of %d, seed %d", asked, s.total(o.root), o.seed)
		x.judgeFew()
		end()
	}
	return nil
}

// fewest is the number of mutants from which on a share means anything.
const fewest = 10

// judgeFew labels a sample that is too small for a share as a smoke test, and lets one of its mutants survive.
func (r *row) judgeFew() {
	if n := len(r.fates) - r.same(); n > 1 && n < fewest {
		r.note, r.least = "smoke test: "+r.note, float64(n-1)/float64(n)
	}
}

// verdict returns an error if too many survive, or too few were tried.
func (r *report) verdict() error {
	var faults []error
	for _, x := range r.rows {
		if x.fewer {
			faults = append(faults, fmt.Errorf("%s: only %d were tried, and more were asked for", x.kind, len(x.fates)))
		}
		for _, s := range x.stages() {
			if s.Killed*10 < s.Tried*9 {
				faults = append(faults, fmt.Errorf("%s: stage %s sees %d of %d, nine of ten have to be", x.kind, s.Stage, s.Killed,
					s.Tried))
			}
		}
		if share := x.share(); share < x.least {
			faults = append(faults, fmt.Errorf("%s: %.1f %% are found, %.0f %% have to be", x.kind, 100*share, 100*x.least))
		}
	}
	return errors.Join(faults...)
}

// share returns the share of mutants with another meaning that are killed; 0 if there are none.
func (r *row) share() float64 {
	different := len(r.fates) - r.same()
	if different == 0 {
		return 0
	}
	return float64(r.killed()) / float64(different)
}
