package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// errNotConforming says that something failed, which was written already.
var errNotConforming = errors.New("it does not do what the specifications say")

// errNothingTested says that there was nothing to call: a check of nothing does not succeed.
var errNothingTested = errors.New("nothing was tested")

// conformances is what collgen conform finds out: one result without -env, and else one for each combination.
type conformances struct {
	Runs     []*conformance `json:"runs"`
	complete bool           // all tests were made
	stopped  error          // why the rest is missing
}

// err returns what makes the exit status 1.
func (all *conformances) err() error {
	if all.stopped != nil {
		return all.stopped
	}
	var errs []error
	for _, r := range all.Runs {
		err := r.err
		if err == nil && r.news() > 0 {
			err = errNotConforming
		}
		if err != nil && len(r.Environment) > 0 {
			err = fmt.Errorf("%v: %w", r.Environment, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// conformance is the result of collgen conform in one environment.
type conformance struct {
	Environment environment                `json:"environment,omitempty"`
	Name        string                     `json:"name"`
	Ranks       []int                      `json:"ranks"`
	Seed        uint64                     `json:"seed"`
	Tested      map[string]colltest.Counts `json:"tested"`
	NotTested   []string                   `json:"notTested"`
	Failures    []*failedCase              `json:"failures"`
	Gone        []knownFailure             `json:"gone,omitempty"`  // they were tested, and do not fail any more
	Error       string                     `json:"error,omitempty"` // why the test was not made, or not to its end

	parts       []*part // what was tested, in this order
	interrupted []string
	untested    func() []string // of the suite; nil: it has not begun
	began       time.Time
	took        time.Duration
	err         error
}

func newConformance(e environment) *conformance {
	return &conformance{Environment: e, Failures: []*failedCase{}, began: time.Now()}
}

// calls returns how many calls were made.
func (r *conformance) calls() (n int) {
	for _, of := range r.Tested {
		n += of.Made()
	}
	return n
}

// news returns how many failures are not known.
func (r *conformance) news() (n int) {
	for _, p := range r.parts {
		n += p.news()
	}
	return n
}

// notTested returns in words what was not tested so far.
func (r *conformance) notTested() []string {
	if r.untested == nil {
		return r.interrupted
	}
	return slices.Concat(r.interrupted, r.untested())
}

// skipped is something that was not tested, and why.
type skipped struct {
	name, why   string
	isPrimitive bool
}

// skips returns what was not tested so far. That of whole primitives comes first.
func (r *conformance) skips() (primitives, others []skipped) {
	for _, text := range r.notTested() {
		name, why, hasWhy := strings.Cut(text, ", ")
		isPrimitive := slices.ContainsFunc(colltest.Primitives(), func(p spec.Primitive) bool { return p.Name == name })
		switch {
		case isPrimitive && hasWhy:
			primitives = append(primitives, skipped{name, why, true})
		case isPrimitive:
			primitives = append(primitives, skipped{name, "it is not supported, or -without leaves it out", true})
		default:
			others = append(others, skipped{text, "it is not supported, was left out, or has no verdict", false})
		}
	}
	for _, p := range r.parts {
		isNamed := slices.ContainsFunc(primitives, func(s skipped) bool { return s.name == p.name })
		if p.counts.Made() == 0 && len(p.failures) == 0 && !isNamed {
			primitives = append(primitives, skipped{p.name, "no call was made", true})
		}
	}
	return primitives, others
}

// part is what came of one check: of a primitive, of several (mixed), or of a soak.
type part struct {
	name        string
	counts      colltest.Counts
	cells       map[string]*cell // by type and op
	failures    []*failedCase
	interrupted bool
	onlyCase    bool // it is a case of -case
	began, last time.Time
	took        time.Duration
}

// cell is what was tried with one type and op.
type cell struct {
	cases int
	ranks map[string]int // the largest number of them, by form
	took  time.Duration
}

// beginPart adds a part to those of r.
func (r *conformance) beginPart(name string) *part {
	now := time.Now()
	p := &part{name: name, cells: map[string]*cell{}, began: now, last: now}
	r.parts = append(r.parts, p)
	return p
}

// tried counts a case of the last part. Its time is shared by the types and ops of its calls.
func (r *conformance) tried(_ string, c colltest.Case, _ *colltest.Failure) {
	p := r.parts[len(r.parts)-1]
	of := map[*cell]bool{}
	for i := range c.Steps {
		x := p.cell(&c.Steps[i])
		x.ranks[form(&c.Steps[i])] = max(x.ranks[form(&c.Steps[i])], c.Size)
		of[x] = true
	}
	took := time.Since(p.last)
	p.last = p.last.Add(took)
	for x := range of {
		x.cases++
		x.took += took / time.Duration(len(of))
	}
}

// cell returns the cell of a call. Several primitives together have one.
func (p *part) cell(s *colltest.Step) *cell {
	name := s.TypeOp()
	if p.isSeveral() {
		name = ""
	}
	x := p.cells[name]
	if x == nil {
		x = &cell{ranks: map[string]int{}}
		p.cells[name] = x
	}
	return x
}

// isSeveral reports whether p is of several primitives.
func (p *part) isSeveral() bool { return p.name == colltest.Mixed || p.name == colltest.Soak }

// isWhole reports whether all cases were made, so that a failure that was not seen is not there.
func (p *part) isWhole() bool { return !p.interrupted && !p.onlyCase && p.counts.LeftOut == 0 }

// failing returns the failures with a type and op.
func (p *part) failing(typeOp string) (found []*failedCase) {
	for _, f := range p.failures {
		if p.isSeveral() || slices.Contains(f.with(), typeOp) {
			found = append(found, f)
		}
	}
	return found
}

// typeOps returns the types and ops that were tried, or fail, in the order of package spec. A primitive without buffers
// has "".
func (p *part) typeOps() []string {
	all := slices.Collect(maps.Keys(p.cells))
	for _, f := range p.failures {
		if !p.isSeveral() {
			all = append(all, f.with()...)
		}
	}
	slices.SortFunc(all, compareTypeOps)
	return slices.Compact(all)
}

// done reports whether the check of p has ended.
func (p *part) done() bool { return p.took > 0 }

// news returns how many failures are not known.
func (p *part) news() (n int) {
	for _, f := range p.failures {
		if !f.Known {
			n++
		}
	}
	return n
}

// The verdicts on a part.
const (
	conforms    = "conforms"
	failsNew    = "FAILS"
	failsKnown  = "fails as known"
	untested    = "not tested"
	interrupted = "interrupted"
)

// verdict returns what came of p in a word or two.
func (p *part) verdict() string {
	switch {
	case p.news() > 0:
		return failsNew
	case p.interrupted:
		return interrupted
	case len(p.failures) > 0:
		return failsKnown
	case p.counts.Made() == 0:
		return untested
	}
	return conforms
}

// verdict returns what came of r in a word or two.
func (r *conformance) verdict() string {
	isKnown := false
	for _, p := range r.parts {
		switch p.verdict() {
		case failsNew:
			return failsNew
		case failsKnown:
			isKnown = true
		}
	}
	switch {
	case r.err != nil:
		return "error"
	case isKnown:
		return failsKnown
	}
	return conforms
}
