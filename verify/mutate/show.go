package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// table returns the report as a table.
func (r *report) table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mutants of\tmade\tmean the same\tkilled\tof the others\tsurvive\ttime\t")
	for _, x := range r.rows {
		fmt.Fprintf(w, "%s\t%s\t%.1fs\t\n", x.kind, strings.Join(x.cells(), "\t"), x.took.Seconds())
	}
	_ = w.Flush()
	for _, x := range r.rows {
		if x.elsewhere {
			continue
		}
		fmt.Fprintf(&b, "\n%s: killed by %s\n", x.kind, x.killerText())
		for _, s := range x.survivors() {
			fmt.Fprintf(&b, "  survives: %s\n", s)
		}
	}
	return b.String()
}

// survivors returns the mutants that nothing has killed, with what was noticed instead.
func (r *row) survivors() (all []string) {
	for _, f := range r.fates {
		if f.survives() {
			all = append(all, strings.TrimSuffix(f.Mutant+": "+f.Words, ": "))
		}
	}
	return all
}

// list returns a line for each mutant, separated by tabs: what it is, the stage that killed it, and the text of the
// failure.
func (r *report) list() string {
	var b strings.Builder
	for _, x := range r.rows {
		for _, f := range x.fates {
			by := strings.TrimSuffix(f.Stage+": "+f.Check, ": ")
			switch {
			case f.Same:
				by = "means the same"
			case f.survives():
				by = "survives"
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\n", f.Mutant, by, strings.Join(append([]string{f.Words}, f.opinions()...), "; "))
		}
	}
	return b.String()
}

// opinions returns the opinions of other stages, in words.
func (f fate) opinions() (all []string) {
	for _, o := range f.Asked {
		if o.Killed {
			all = append(all, fmt.Sprintf("stage %s kills it too: %s", o.Stage, o.Words))
		} else {
			all = append(all, fmt.Sprintf("stage %s does not see it", o.Stage))
		}
	}
	return all
}

// cells returns the numbers of a row: made, mean the same, killed, share of the others that is killed, survive.
func (r *row) cells() []string {
	if r.elsewhere {
		return []string{fmt.Sprint(len(r.fates)), "", "", "", ""}
	}
	return []string{fmt.Sprint(len(r.fates)), fmt.Sprint(r.same()), fmt.Sprint(r.killed()),
		fmt.Sprintf("%.1f %%", 100*r.share()),
		fmt.Sprint(r.count(fate.survives))}
}

// share is how many mutants a stage has killed of those it was asked about.
type share struct {
	Stage  string `json:"stage"`
	Killed int    `json:"killed"`
	Tried  int    `json:"tried"`
}

// stages returns the shares of all stages that killed mutants or were asked about some.
func (r *row) stages() (all []share) {
	add := func(stage string, killed bool) {
		i := slices.IndexFunc(all, func(s share) bool { return s.Stage == stage })
		if i < 0 {
			i, all = len(all), append(all, share{Stage: stage})
		}
		if all[i].Tried++; killed {
			all[i].Killed++
		}
	}
	for _, f := range r.fates {
		if f.killed() {
			add(f.Stage, true)
		}
		for _, o := range f.Asked {
			add(o.Stage, o.Killed)
		}
	}
	return all
}

// encode writes the report as JSON, with the fate of each mutant if each is set, and otherwise without rows that are
// only counted.
func (r *report) encode(w io.Writer, each bool) error {
	type kind struct {
		Kind      string         `json:"kind"`
		Sizes     string         `json:"sizes,omitempty"` // numbers of ranks
		Note      string         `json:"note,omitempty"`  // of how many, drawn by which seed
		Mutants   int            `json:"mutants"`
		Same      int            `json:"same"` // mean what they were made from
		Killed    int            `json:"killed"`
		Killers   map[string]int `json:"killers"` // by check, or stage
		Stages    []share        `json:"stages"`
		Survivors []string       `json:"survivors,omitempty"`
		Least     float64        `json:"least"` // the share that has to be killed
		Seconds   float64        `json:"seconds"`
		Fates     []fate         `json:"fates,omitempty"`
	}
	kinds := []kind{}
	for _, x := range r.rows {
		if x.elsewhere && !each {
			continue
		}
		k := kind{x.kind, x.sizes, x.note, len(x.fates), x.same(), x.killed(), x.killers(), x.stages(), x.survivors(),
			x.least, x.took.Seconds(), nil}
		if each {
			k.Fates = x.fates
		}
		kinds = append(kinds, k)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(kinds)
}

// killerText returns the killers, most frequent first, and then the shares of the stages that were asked.
func (r *row) killerText() string {
	killers := r.killers()
	names := slices.SortedFunc(maps.Keys(killers), func(a, b string) int {
		return cmp.Or(killers[b]-killers[a], strings.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, killers[n])
	}
	text := strings.Join(names, ", ")
	for _, s := range r.stages() {
		if s.Stage == codeStage || s.Stage == everyStage {
			text += fmt.Sprintf("; stage %s kills %d of the %d of them that it was asked about", s.Stage, s.Killed, s.Tried)
		}
	}
	return text
}
