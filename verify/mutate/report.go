package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/gen"
)

// report is what became of all mutants.
type report struct{ rows []row }

// row is a kind of mutants.
type row struct {
	kind      string
	mutants   int
	killers   map[string]int // by what killed them: how many
	same      int            // mean what they were made from
	sames     []string       // of source code: those that are argued to be the same
	survivors []string
	least     float64 // the share of those that are not the same which has to be killed
	took      time.Duration
	note      string
	sizes     string // numbers of ranks
	fewer     bool   // than were asked for: the time was up
	// countedOnly: something else tries them.
	countedOnly bool
}

func (r *row) killed() int {
	n := 0
	for _, k := range r.killers {
		n += k
	}
	return n
}

// add begins a row, and gives what ends it.
func (r *report) add(kind string, least float64) (x *row, end func()) {
	start := time.Now()
	x = &row{kind: kind, killers: map[string]int{}, least: least}
	return x, func() {
		x.took = time.Since(start)
		r.rows = append(r.rows, *x)
	}
}

// count notes one mutant: what killed it, "" if nothing did.
func (r *row) count(killer, what string) {
	r.mutants++
	if killer == "" {
		r.survivors = append(r.survivors, what)
		return
	}
	r.killers[killer]++
}

// schedules tries the mutants that package verify judges. One that is refused though it means the same is a survivor as well: one
// of both judges is wrong.
func (r *report) schedules(kind string, b bounds, mutants func(*gen.Algorithm, bounds, func(trial)) error) error {
	x, end := r.add(kind, 1)
	defer end()
	x.sizes = fmt.Sprintf("%d..%d", b.from, b.to)
	for _, a := range gen.Catalogue() {
		err := mutants(&a, b, func(t trial) {
			switch {
			case t.same && t.killer != "":
				x.count("", t.String()+" (refused, and means the same)")
			case t.same:
				x.mutants++
				x.same++
			default:
				x.count(t.killer, t.String())
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *report) museumOfSchedules() error {
	x, end := r.add("museum, algorithms", 1)
	defer end()
	x.sizes = fmt.Sprintf("1..%d", museumSize)
	for _, e := range museum {
		if e.isSource() {
			continue
		}
		f, err := e.verify()
		switch {
		case err != nil:
			return err
		case f == nil || f.Check != e.caught:
			x.count("", e.fix)
		default:
			x.count(string(f.Check), e.fix)
		}
	}
	return nil
}

func (r *report) museumOfSources(root string) error {
	x, end := r.add("museum, source code", 1)
	defer end()
	for _, e := range museum {
		if !e.isSource() {
			continue
		}
		v, err := e.source.try(root)
		if err != nil {
			return fmt.Errorf("%s: %w", e.fix, err)
		}
		if v.absent {
			return fmt.Errorf("%s: it does not compile: %s", e.fix, v.output)
		}
		x.count(v.killer, e.fix)
	}
	return nil
}

// models counts the configurations that have to fail.
func (r *report) models(root string) error {
	x, end := r.add("models", 0)
	defer end()
	files, err := filepath.Glob(filepath.Join(root, "tlaplus", "MC*_bad_*.cfg"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, errors.New("there are no models: is this the module's root?"))
	}
	x.mutants, x.countedOnly, x.note = len(files), true, "counted; make tla checks each"
	return nil
}

// code tries mutants of source code.
func (r *report) code(o options) error {
	keep, err := openJournal(o.journal)
	if err != nil {
		return err
	}
	until := time.Now().Add(o.time)
	for _, s := range subjects {
		x, end := r.add("source of "+s.pkg, 0.9)
		tried, fewer, err := s.sample(o, keep, until)
		if err != nil {
			return err
		}
		x.note, x.fewer = fmt.Sprintf("of %d", s.total(o.root)), fewer
		for _, t := range tried {
			if t.Killer == "" && isSame(t.Mutant) {
				x.mutants++
				x.same++
				x.sames = append(x.sames, t.Mutant)
				continue
			}
			x.count(t.Killer, t.Mutant)
		}
		end()
	}
	return nil
}

// verdict is an error if too many survive, or too few were tried.
func (r *report) verdict() error {
	var faults []error
	for _, x := range r.rows {
		if x.fewer {
			faults = append(faults, fmt.Errorf("%s: only %d were tried, and more were asked for", x.kind, x.mutants))
		}
		if share := x.share(); share < x.least {
			faults = append(faults, fmt.Errorf("%s: %.1f %% are found, %.0f %% have to be", x.kind, 100*share, 100*x.least))
		}
	}
	return errors.Join(faults...)
}

// share is how many of the mutants that mean something else are killed: none if there were none to kill.
func (r *row) share() float64 {
	if r.mutants == r.same {
		return 0
	}
	return float64(r.killed()) / float64(r.mutants-r.same)
}

// table is the report for people.
func (r *report) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mutants of\tmade\tmean the same\tkilled\tof the others\tsurvive\ttime\t")
	for _, x := range r.rows {
		fmt.Fprintf(w, "%s\t%s\t%.1fs\t\n", x.kind, strings.Join(x.cells(), "\t"), x.took.Seconds())
	}
	_ = w.Flush()
	for _, x := range r.rows {
		if x.countedOnly {
			continue
		}
		fmt.Fprintf(&b, "\n%s: killed by %s\n", x.kind, x.killerText())
		for _, s := range x.survivors {
			fmt.Fprintf(&b, "  survives: %s\n", s)
		}
	}
	return b.String()
}

// cells are the numbers of a row: made, mean the same, killed, of the others, survive.
func (r *row) cells() []string {
	if r.countedOnly {
		return []string{fmt.Sprint(r.mutants), "", "", "", ""}
	}
	return []string{fmt.Sprint(r.mutants), fmt.Sprint(r.same), fmt.Sprint(r.killed()), fmt.Sprintf("%.1f %%", 100*r.share()),
		fmt.Sprint(len(r.survivors))}
}

// encode writes JSON, without what was only counted.
func (r *report) encode(w io.Writer) error {
	type kind struct {
		Kind      string         `json:"kind"`
		Sizes     string         `json:"sizes,omitempty"` // numbers of ranks
		Mutants   int            `json:"mutants"`
		Same      int            `json:"same"` // mean what they were made from
		Killed    int            `json:"killed"`
		Killers   map[string]int `json:"killers"`
		Survivors []string       `json:"survivors,omitempty"`
		Least     float64        `json:"least"` // the share that has to be killed
		Seconds   float64        `json:"seconds"`
	}
	kinds := []kind{}
	for _, x := range r.rows {
		if x.countedOnly {
			continue
		}
		kinds = append(kinds, kind{x.kind, x.sizes, x.mutants, x.same, x.killed(), x.killers, x.survivors, x.least, x.took.Seconds()})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(kinds)
}

// killerText lists what killed, most first.
func (r *row) killerText() string {
	names := slices.SortedFunc(maps.Keys(r.killers), func(a, b string) int {
		return cmp.Or(r.killers[b]-r.killers[a], strings.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, r.killers[n])
	}
	return strings.Join(names, ", ")
}
