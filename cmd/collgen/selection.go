package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// chosen is what explain says of a primitive: its promise, and which algorithm a call gets.
type chosen struct {
	Name    string           `json:"name"`
	Doc     string           `json:"doc"`
	Hash    string           `json:"hash"`
	Promise spec.Description `json:"promise"`
	Size    int              `json:"size"`
	PerHost int              `json:"perHost"`           // where hosts make a difference
	Choices []choice         `json:"choices,omitempty"` // for calls with any number of bytes
	Bytes   *int             `json:"bytes,omitempty"`   // of a block of the one call that was asked for
	Calls   []chosenCall     `json:"calls,omitempty"`   // that call, over each transport
}

// choice is the algorithm for blocks of from to to bytes over some transports, and the rule that says so.
type choice struct {
	Transports []string       `json:"transports"`
	Algorithm  string         `json:"algorithm"`
	From       int            `json:"from"`
	To         int            `json:"to"` // 0: any number
	Line       int            `json:"line"`
	Rule       selection.Rule `json:"rule"`
}

// chosenCall is what one call gets, and why.
type chosenCall struct {
	Transport string `json:"transport"`
	Depth     int    `json:"depth"` // if there are as many elements
	selection.Choice
}

// primitive returns the primitive called name.
func (s *source) primitive(name string) (p spec.Primitive, ok bool) {
	for _, p := range s.primitives {
		if strings.EqualFold(p.Name, name) {
			return p, true
		}
	}
	return p, false
}

// choices returns the algorithms of calls, which are over different transports, smallest blocks first. Transports that
// make no difference share their choices.
func (s *source) choices(p spec.Primitive, calls []selection.Call) []choice {
	type same struct {
		transports []string
		steps      []selection.Step
	}
	var groups []same
	table, algorithms := s.rules(p), s.selectable(p)
	for _, c := range calls {
		steps := selection.Steps(table, algorithms, c)
		i := slices.IndexFunc(groups, func(g same) bool { return slices.Equal(g.steps, steps) })
		if i < 0 {
			i, groups = len(groups), append(groups, same{steps: steps})
		}
		groups[i].transports = append(groups[i].transports, c.Transport)
	}
	var list []choice
	for _, g := range groups {
		from := 0
		for _, step := range g.steps {
			r := table[step.Rule]
			list = append(list, choice{g.transports, r.Algorithm, from, r.MaxBytes, step.Rule + 1, r})
			from = step.MaxBytes + 1
		}
	}
	return list
}

// each returns what each of calls gets with blocks of so many bytes.
func (s *source) each(p spec.Primitive, calls []selection.Call, bytes int) []chosenCall {
	var list []chosenCall
	table, algorithms := s.rules(p), s.selectable(p)
	for _, c := range calls {
		x := selection.Explain(table, algorithms, c, bytes)
		list = append(list, chosenCall{c.Transport, x.Rule.Depth(bytes, bytes), x})
	}
	return list
}

// selectable returns what a selection has to know of the algorithms for p, once it was recalled what was proved of
// them. What is not generated yet will be proved for maxSize ranks.
func (s *source) selectable(p spec.Primitive) []selection.Algorithm {
	list := gen.Selectable(s.declared(p))
	for i, a := range s.of(p) {
		if a.every.Sizes != "" {
			continue
		}
		x := *a
		if !a.proved {
			x.proof.Sizes = []int{maxSize}
		}
		most, _ := proofOf(&x).UpTo()
		list[i].Proved = func(size int) bool { return size <= most }
	}
	return list
}

// over returns calls of size ranks over each of transports, so many on a host where they may be on several.
func over(transports []string, size, perHost int) []selection.Call {
	var calls []selection.Call
	for _, transport := range transports {
		c := selection.Call{Transport: transport, Size: size, Local: size, Commutative: true}
		if selection.Spans(transport) {
			c.PerHost, c.Local = perHost, cmp.Or(perHost, size)
		}
		calls = append(calls, c)
	}
	return calls
}

// asked returns the calls that the command line asks about, but for their bytes.
func (c *explainCommand) asked() ([]selection.Call, error) {
	transports := selection.Transports
	if c.transport != "" {
		transports = []string{c.transport}
	}
	switch {
	case !slices.Contains(selection.Transports, transports[0]):
		return nil, usageError{fmt.Errorf("there is no transport %q, want one of %s", c.transport,
			strings.Join(selection.Transports, ", "))}
	case c.perHost < 0 || c.perHost > c.sizes.from:
		return nil, usageError{fmt.Errorf("%d of %d ranks on a host", c.perHost, c.sizes.from)}
	case c.bytes < 0:
		return nil, usageError{fmt.Errorf("blocks of %d bytes, want at least 0", c.bytes)}
	}
	return over(transports, c.sizes.from, c.perHost), nil
}

// explainPrimitive shows collgen explain of a primitive.
func (c *explainCommand) explainPrimitive(ctx context.Context, s *source, p spec.Primitive) error {
	calls, err := c.asked()
	if err == nil {
		err = s.recall(s.generatedDir(ctx))
	}
	j := &job{source: s}
	for _, pass := range []func(context.Context, *job) error{validate, recallEmitted} {
		if err == nil {
			err = pass(ctx, j)
		}
	}
	if err != nil {
		return err
	}
	x := chosen{Name: p.Name, Doc: p.Doc, Hash: golang.SpecHash(p), Promise: spec.Describe(p), Size: c.sizes.from,
		PerHost: cmp.Or(c.perHost, c.sizes.from)}
	if c.isSet("bytes") {
		x.Bytes, x.Calls = &c.bytes, s.each(p, calls, c.bytes)
	} else {
		x.Choices = s.choices(p, calls)
	}
	if c.json {
		return writeJSON(c.stdout, x)
	}
	fmt.Fprintf(c.stdout, "%s.\n\n%s\n", s.title(), p.Doc)
	if x.Bytes != nil {
		x.writeCalls(c)
	} else {
		fmt.Fprintf(c.stdout, "%s\n", text.Promise(p))
		x.writeChoices(c)
	}
	return nil
}

// writeChoices writes which algorithms calls get, for people.
func (x *chosen) writeChoices(c *explainCommand) {
	fmt.Fprintf(c.stdout, "Which algorithm a call of %d %s gets%s:\n\n", x.Size, plural(x.Size, "rank"), x.hosts())
	t := newTable(c.stdout)
	t.row("over", "bytes in a block", "algorithm", "because of")
	for _, x := range x.Choices {
		t.row(x.over(), x.bytes(), x.Algorithm, fmt.Sprintf("rule %d: %v", x.Line, x.Rule))
	}
	t.flush()
	if len(x.Choices) == 0 {
		fmt.Fprintln(c.stdout, "None serves this size and was proved for it: such calls are refused.")
	}
}

// hosts says how many ranks are on a host, where it is not all.
func (x *chosen) hosts() string {
	if x.PerHost == x.Size {
		return ""
	}
	return fmt.Sprintf(", at most %d on a host", x.PerHost)
}

func (x choice) over() string {
	if len(x.Transports) == len(selection.Transports) {
		return "any"
	}
	return strings.Join(x.Transports, ", ")
}

func (x choice) bytes() string {
	if x.To == 0 {
		return fmt.Sprintf("from %d on", x.From)
	}
	return fmt.Sprintf("%d to %d", x.From, x.To)
}

// writeCalls writes what one call gets, and why, for people.
func (x *chosen) writeCalls(c *explainCommand) {
	for _, call := range x.Calls {
		fmt.Fprintf(c.stdout, "\nA call of %d %s over %s, with %d bytes in a block, gets ", x.Size, plural(x.Size, "rank"),
			call.Transport, *x.Bytes)
		if call.Line == 0 {
			fmt.Fprint(c.stdout, "nothing: it is refused.\n")
		} else {
			fmt.Fprintf(c.stdout, "%s, depth %d, because of\n  rule %d: %v\n", call.Rule.Algorithm, call.Depth, call.Line,
				call.Rule)
		}
		for _, words := range selection.Words(call.Passed) {
			fmt.Fprintf(c.stdout, "  not %s\n", words)
		}
	}
}
