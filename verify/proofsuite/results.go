package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// schedules reads what collgen verify writes: it proves all or fails.
func schedules(output []byte) (rows []row, err error) {
	var entries []struct {
		Name  string
		Proof *struct {
			Sizes     []int
			Schedules int
		}
		Seconds float64
	}
	if len(output) == 0 { // verify has said what is wrong
		return nil, nil
	}
	if err := json.Unmarshal(output, &entries); err != nil {
		return nil, fmt.Errorf("its output: %w", err)
	}
	for _, e := range entries {
		r := row{What: e.Name, Verdict: "not proved", Failed: true}
		if p := e.Proof; p != nil && len(p.Sizes) > 0 {
			r = row{What: e.Name, Sizes: ranges(p.Sizes), Seconds: e.Seconds, Verdict: fmt.Sprintf("%d schedules proved",
				p.Schedules)}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// ranges are ascending numbers, those in a row as the first and the last of them.
func ranges(numbers []int) string {
	var words []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		if last == i {
			words = append(words, fmt.Sprint(numbers[i]))
		} else {
			words = append(words, fmt.Sprintf("%d..%d", numbers[i], numbers[last]))
		}
		i = last + 1
	}
	return strings.Join(words, ",")
}

// tests reads what go test -json writes: the outcome of each test, of one with others within it only theirs.
func tests(yes, no string) func(output []byte) ([]row, error) {
	return func(output []byte) (rows []row, err error) {
		events, err := decodeAll[struct {
			Action, Test, Output string
			Elapsed              float64
		}](output)
		sizes, outer := map[string]string{}, map[string]bool{}
		for _, e := range events {
			if _, text, ok := strings.Cut(e.Output, "sizes "); ok {
				sizes[e.Test], _, _ = strings.Cut(strings.TrimSpace(text), ":")
			}
			if test, _, inner := strings.Cut(e.Test, "/"); inner {
				outer[test] = true
			}
		}
		for _, e := range events {
			if e.Test == "" || outer[e.Test] || !slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
				continue
			}
			_, name, inner := strings.Cut(e.Test, "/")
			if !inner {
				name = e.Test
			}
			r := row{What: name, Sizes: sizes[e.Test], Verdict: yes, Seconds: e.Elapsed}
			if e.Action != "pass" {
				r.Verdict, r.Failed = no, true
			}
			rows = append(rows, r)
		}
		slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.What, b.What) })
		return rows, err
	}
}

// everySize reads what collgen prove writes.
func everySize(output []byte) (rows []row, err error) {
	all, err := decodeAll[[]struct {
		Algorithm, Sizes, Digest string
		Obligations              int
		Solvers                  []string
		Recorded                 bool
		Seconds                  float64
		Open                     []string
	}](output)
	for _, list := range all {
		for _, a := range list {
			r := row{What: a.Algorithm, Sizes: a.Sizes, Seconds: a.Seconds,
				Verdict: fmt.Sprintf("%d obligations, %s", a.Obligations, strings.Join(a.Solvers, " and "))}
			switch {
			case len(a.Open) > 0:
				r.Verdict, r.Failed = "open: "+strings.Join(a.Open, "; "), true
			case a.Digest == "" && a.Obligations == 0 && a.Sizes != "":
				r.Verdict = "none by induction: it serves these sizes alone, which the stage schedule proves"
			case len(a.Solvers) < 2:
				r.Verdict, r.Failed = r.Verdict+" alone", true
			case a.Recorded:
				r.Verdict += ", recorded"
			}
			rows = append(rows, r)
		}
	}
	return rows, err
}

// models reads what tlaplus writes: a row for each model, of all its configurations and both checkers.
func models(output []byte) (rows []row, err error) {
	all, err := decodeAll[[]struct {
		Model, Config, Checker, Problem string
		States                          int
		Nanoseconds                     time.Duration
	}](output)
	at := map[string]int{}
	configs := map[string]map[string][]string{} // of a model: which checkers each has
	for _, list := range all {
		for _, c := range list {
			i, ok := at[c.Model]
			if !ok {
				i, configs[c.Model] = len(rows), map[string][]string{}
				at[c.Model] = i
				rows = append(rows, row{What: c.Model})
			}
			r := &rows[i]
			configs[c.Model][c.Config] = append(configs[c.Model][c.Config], c.Checker)
			r.Seconds += c.Nanoseconds.Seconds()
			if c.Problem != "" {
				r.Failed = true
				r.Verdict = strings.TrimPrefix(r.Verdict+"; "+c.Config+", "+c.Checker+": "+c.Problem, "; ")
			}
		}
	}
	for i := range rows {
		r := &rows[i]
		for _, name := range slices.Sorted(maps.Keys(configs[r.What])) {
			if checkers := slices.Compact(slices.Sorted(slices.Values(configs[r.What][name]))); len(checkers) < 2 {
				r.Failed = true
				r.Verdict = strings.TrimPrefix(r.Verdict+"; "+name+": by "+strings.Join(checkers, "")+" alone", "; ")
			}
		}
		if !r.Failed {
			r.Verdict = fmt.Sprintf("%d configurations hold, %d without a guard fail, by both",
				len(configs[r.What])-guards(configs[r.What]),
				guards(configs[r.What]))
		}
	}
	return rows, err
}

// guards returns how many configurations take a guard out.
func guards(configs map[string][]string) (n int) {
	for name := range configs {
		if strings.HasPrefix(name, "bad_") {
			n++
		}
	}
	return n
}

// mutants reads what verify/mutate writes: a row for each kind.
func mutants(output []byte) (rows []row, err error) {
	all, err := decodeAll[[]struct {
		Kind, Sizes, Note     string
		Mutants, Same, Killed int
		Stages                []struct {
			Stage         string
			Killed, Tried int
		}
		Survivors      []string
		Least, Seconds float64
	}](output)
	for _, list := range all {
		for _, k := range list {
			r := row{What: k.Kind, Sizes: k.Sizes, Seconds: k.Seconds, Verdict: fmt.Sprintf("%d of %d killed", k.Killed,
				k.Mutants-k.Same)}
			if k.Note != "" {
				r.What += " (" + k.Note + ")"
			}
			for i, by := range k.Stages {
				r.Verdict += fmt.Sprintf("%s %s %d of %d tried", []string{": by", ","}[min(i, 1)], by.Stage, by.Killed, by.Tried)
			}
			r.Failed = float64(k.Killed) < k.Least*float64(k.Mutants-k.Same) || k.Mutants == k.Same
			if r.Failed && len(k.Survivors) > 0 {
				r.Verdict += "; survives: " + strings.Join(k.Survivors[:min(len(k.Survivors), 3)], "; ")
			}
			rows = append(rows, r)
		}
	}
	return rows, err
}
