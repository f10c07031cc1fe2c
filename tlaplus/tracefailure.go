package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/internal/events/edit"
)

// traceOfFailure is how the ranks of a communicator gave it up, and agreed for the first time on who is gone.
type traceOfFailure [][]events.Event

// failureOf takes it out of all events of a communicator.
func failureOf(ranks [][]events.Event) traceOfFailure {
	t := make(traceOfFailure, len(ranks))
	for r, all := range ranks {
		for _, e := range all {
			switch e.Do {
			case events.Lost, events.Fate, events.Failed, events.Agree:
				t[r] = append(t[r], e)
			case events.Tell, events.Heard:
				if e.Notice.State != "Closed" {
					t[r] = append(t[r], e)
				}
			}
			if e.Do == events.Agree {
				break
			}
		}
	}
	return t
}

// check returns the check that Abort can do what the trace says.
func (t traceOfFailure) check(of string) *check {
	c := &check{model: "TraceAbort", config: of, want: "ok", states: -1}
	var ranks []string
	var dies []int
	for r, all := range t {
		var lines, numbers []string
		for i := range all {
			lines, numbers = append(lines, failureEvent(&all[i])), append(numbers, fmt.Sprint(all[i].N+1))
		}
		if !slices.ContainsFunc(all, func(e events.Event) bool { return e.Do == events.Agree }) {
			dies = append(dies, r)
		}
		c.lines = append(c.lines, numbers)
		ranks = append(ranks, "  <<\n    "+strings.Join(lines, ",\n    ")+" >>")
	}
	c.events = fmt.Sprintf("---- MODULE Trace ----\n\\* %s\nEXTENDS Naturals, Sequences\n\nDies == %s\n\nTrace == "+
		"<<\n%s\n>>\n====\n", of,
		numberSet(dies), strings.Join(ranks, ",\n"))
	return c
}

// failureEvent returns e as a record.
func failureEvent(e *events.Event) string {
	switch e.Do {
	case events.Lost:
		return fmt.Sprintf("[do |-> %q, rank |-> %d]", e.Do, e.Ended.Blames[0])
	case events.Tell, events.Heard:
		return fmt.Sprintf("[do |-> %q, from |-> %d, by |-> %d]", e.Do, e.Notice.From, e.Notice.By)
	case events.Agree:
		return fmt.Sprintf("[do |-> %q, gone |-> %s]", e.Do, numberSet(e.Agreed.Gone))
	}
	return fmt.Sprintf("[do |-> %q, blames |-> %s]", e.Do, numberSet(e.Ended.Blames))
}

// numberSet returns a set of numbers.
func numberSet(all []int) string {
	return "{" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(all)), ", "), "[]") + "}"
}

// doctored returns checks of failures that did not happen so. Each has to be refused at the right line.
func (t traceOfFailure) doctored(of string) (checks []*check, err error) {
	add := func(what string, rank, at int, changed []events.Event) {
		all := slices.Clone(t)
		all[rank] = changed
		checks = append(checks, all.check(of+", "+what).refusing(rank, changed[at].N+1))
	}
	for rank, all := range t {
		if at := first(all, events.Lost); at >= 0 {
			add("a living rank is lost", rank, at, edit.Change(all, at, func(e *events.Event) { e.Ended.Blames = []int{rank} }))
			break
		}
	}
	last := len(t) - 1
	fate, tell, agree := first(t[last], events.Fate), first(t[last], events.Tell), first(t[last], events.Agree)
	if fate < 0 || tell < fate || agree < 0 {
		return nil, fmt.Errorf("rank %d has not given the communicator up, told so, and agreed on it", last)
	}
	add("agreed on another value", last, agree,
		edit.Change(t[last], agree, func(e *events.Event) { e.Agreed.Gone = append(e.Agreed.Gone, 0) }))
	add("told before its end", last, fate, slices.Insert(edit.Drop(t[last], tell), fate, t[last][tell]))
	return checks, nil
}
