package colltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
)

// Capabilities is what an implementation claims to support. Nothing else is tested, and [Suite.Untested] says so.
type Capabilities struct {
	Name       string // of the implementation, for people
	Sizes      []int  // numbers of ranks to test, ascending
	Primitives []Support
	Types      []spec.Type
	Ops        []spec.Op // each is tested on those of Types that it takes
	LeastCount int       // the smallest number of elements in a block; 0: calls may be empty
	MostCount  int       // the largest; 0: there is none
	// NaN: Min and Max of floats return NaN if an operand is NaN. MinusZero: they order -0 before +0. Overflow: sums
	// and products of integers wrap around. MPI, for example, specifies none of these.
	NaN, MinusZero, Overflow bool
	// Worlds are Starters of single calls, or of batches, Preparers, Splitters.
	Started, Batches, Persistent, Split bool
	Tags                                bool    // a Send has a Tag
	Refuses                             []Wrong // what is wrong with calls that return an error in time
	AfterWrong                          bool    // calls go on after one that all ranks have refused for its root
	Huge                                bool    // calls may have more than 2^31 bytes of memory
	// Direct: calls work on Memory itself, and put nothing back into it. Then inputs are read during calls, too, so
	// that the race detector notices who writes to them, and memory beside outputs is changed.
	Direct bool
}

// Support is how a primitive is supported.
type Support struct {
	Primitive spec.Primitive
	Apart     bool // In and Out do not share memory
	InPlace   bool // In and Out share memory
	Uneven    bool // blocks may have different counts
	Displaced bool // they may, and have gaps between them
}

// Everything returns the capabilities of an implementation that supports all of package spec, by blocking calls of all
// ranks.
func Everything(name string, sizes ...int) Capabilities {
	return everything(spec.Primitives(), name, sizes)
}

func everything(primitives []spec.Primitive, name string, sizes []int) Capabilities {
	c := Capabilities{Name: name, Sizes: sizes, Types: spec.Types(), Ops: spec.Ops(), NaN: true, MinusZero: true,
		Overflow: true, Direct: true}
	for _, p := range primitives {
		c.Primitives = append(c.Primitives, Support{p, true, hasInPlace(p), hasUneven(p), false})
	}
	return c
}

// All returns the capabilities of an implementation that supports all that is tested: its worlds are Starters,
// Preparers and Splitters.
func All(name string, sizes ...int) Capabilities {
	c := everything(Primitives(), name, sizes)
	for _, t := range c.traits() {
		*t.has = true
	}
	c.Ops = append(c.Ops, Compose)
	c.Refuses = []Wrong{WrongRoot, WrongCounts}
	for i := range c.Primitives {
		c.Primitives[i].Displaced = c.Primitives[i].Uneven
	}
	return c
}

// modes returns the modes of calls but Blocking.
func (c *Capabilities) modes() (modes []Mode) {
	for _, x := range []struct {
		has  bool
		mode Mode
	}{{c.Started, Started}, {c.Batches, Batched}, {c.Persistent, Persistent}} {
		if x.has {
			modes = append(modes, x.mode)
		}
	}
	return modes
}

func hasInPlace(p spec.Primitive) bool { return !p.InPlace.InBlock.IsAbsent() }

func hasBuffers(p spec.Primitive) bool { return !p.In.Blocks.IsAbsent() || !p.Out.Blocks.IsAbsent() }

func hasOp(p spec.Primitive) bool { return slices.Contains(p.Params, spec.ParamOp) }

// sizesFor returns the sizes on which p can be called.
func (c *Capabilities) sizesFor(p spec.Primitive) []int {
	return slices.DeleteFunc(slices.Clone(c.Sizes), func(n int) bool { return len(calls(p, n)) == 0 })
}

// within returns n, or what is next to it of the numbers of elements that a block may have.
func (c *Capabilities) within(n int) int {
	if n = max(n, c.LeastCount); c.MostCount > 0 {
		n = min(n, c.MostCount)
	}
	return n
}

// nothing returns the reason why there is no call of p to test, or "" if there is one.
func (c *Capabilities) nothing(x Support) string {
	p := x.Primitive
	switch {
	case len(x.forms()) == 0:
		return p.Name + ", for which no form is left"
	case len(c.sizesFor(p)) == 0:
		return fmt.Sprintf("%s, which cannot be called on any of the sizes %v", p.Name, c.Sizes)
	case len(c.reductions(p)) == 0:
		return p.Name + ", for which no type or op is left"
	}
	return ""
}

// Without returns c without the capabilities that are named: primitives, types and ops by their names, forms as
// "Reduce/in-place" (or apart, uneven, displaced), the values "nan", "minus-zero" and "overflow", "empty" blocks, and
// how calls are made: "started", "batches", "persistent", "split", "tags", "huge", "wrong-root", "wrong-counts" and
// "after-wrong".
func (c Capabilities) Without(names ...string) (Capabilities, error) {
	for _, name := range names {
		if !c.leaveOut(name) {
			return c, fmt.Errorf("%s has no %q that could be left out", c.Name, name)
		}
	}
	return c, nil
}

// traits returns the capabilities that are there or not, by name.
func (c *Capabilities) traits() []trait {
	return []trait{
		{"nan", "min and max of NaN", &c.NaN},
		{"minus-zero", "min and max of -0", &c.MinusZero},
		{"overflow", "sums and products of integers that overflow", &c.Overflow},
		{"started", "calls that are started", &c.Started},
		{"batches", "calls that are started together", &c.Batches},
		{"persistent", "persistent calls", &c.Persistent},
		{"split", "communicators of some ranks", &c.Split},
		{"tags", "messages with tags", &c.Tags},
		{"huge", "calls with more than 2^31 bytes", &c.Huge},
		{"after-wrong", "calls after one with a wrong root", &c.AfterWrong},
	}
}

// trait is a capability that is there or not.
type trait struct {
	name, words string
	has         *bool
}

// leaveOut removes the capability with that name, and reports whether there was one.
func (c *Capabilities) leaveOut(name string) bool {
	for _, t := range c.traits() {
		if t.name == name {
			*t.has = false
			return true
		}
	}
	if wrong, is := strings.CutPrefix(name, "wrong-"); is {
		n := len(c.Refuses)
		c.Refuses = slices.DeleteFunc(slices.Clone(c.Refuses), func(x Wrong) bool { return string(x) == wrong })
		return n > len(c.Refuses)
	}
	if name == "empty" {
		c.LeastCount = max(1, c.LeastCount)
		return true
	}
	if primitive, form, isForm := strings.Cut(name, "/"); isForm {
		return c.leaveOutForm(primitive, form)
	}
	n := len(c.Primitives) + len(c.Types) + len(c.Ops)
	c.Primitives = slices.DeleteFunc(slices.Clone(c.Primitives), func(x Support) bool { return x.Primitive.Name == name })
	c.Types = slices.DeleteFunc(slices.Clone(c.Types), func(x spec.Type) bool { return x.String() == name })
	c.Ops = slices.DeleteFunc(slices.Clone(c.Ops), func(x spec.Op) bool { return x.String() == name })
	return n > len(c.Primitives)+len(c.Types)+len(c.Ops)
}

func (c *Capabilities) leaveOutForm(primitive, form string) bool {
	i := slices.IndexFunc(c.Primitives, func(x Support) bool { return x.Primitive.Name == primitive })
	if i < 0 {
		return false
	}
	c.Primitives = slices.Clone(c.Primitives)
	s := &c.Primitives[i]
	has, ok := map[string]*bool{"apart": &s.Apart, "in-place": &s.InPlace, "uneven": &s.Uneven,
		"displaced": &s.Displaced}[form]
	if !ok || !*has {
		return false
	}
	*has = false
	s.Displaced = s.Displaced && s.Uneven
	return true
}

// missing returns the capabilities in all that c lacks, in words.
func (c *Capabilities) missing(all Capabilities) (missing []string) {
	for _, want := range all.Primitives {
		i := slices.IndexFunc(c.Primitives, func(s Support) bool { return s.Primitive.Name == want.Primitive.Name })
		if i < 0 {
			missing = append(missing, want.Primitive.Name)
			continue
		}
		missing = append(missing, c.Primitives[i].missing(want)...)
	}
	missing = append(missing, absent("the type", all.Types, c.Types)...)
	missing = append(missing, absent("the op", all.Ops, c.Ops)...)
	if c.LeastCount > 0 {
		missing = append(missing, fmt.Sprintf("blocks of less than %d elements", c.LeastCount))
	}
	if c.MostCount > 0 {
		missing = append(missing, fmt.Sprintf("blocks of more than %d elements", c.MostCount))
	}
	for _, t := range c.traits() {
		if !*t.has {
			missing = append(missing, t.words)
		}
	}
	for _, wrong := range all.Refuses {
		if !slices.Contains(c.Refuses, wrong) {
			missing = append(missing, fmt.Sprintf("errors of calls with wrong %s", wrong))
		}
	}
	if !c.Direct {
		missing = append(missing, "inputs that change during a call, and are restored")
	}
	return missing
}

func (s *Support) missing(want Support) (missing []string) {
	for _, form := range []struct {
		name      string
		want, has bool
	}{
		{"out of place", want.Apart, s.Apart},
		{"in place", want.InPlace, s.InPlace},
		{"with uneven counts", want.Uneven, s.Uneven},
		{"with displacements", want.Displaced && s.Uneven, s.Displaced},
	} {
		if form.want && !form.has {
			missing = append(missing, s.Primitive.Name+" "+form.name)
		}
	}
	return missing
}

// absent returns a text with the elements of want that has lacks; nothing if it has all.
func absent[E interface {
	comparable
	fmt.Stringer
}](what string, want, has []E) []string {
	var names []string
	for _, x := range want {
		if !slices.Contains(has, x) {
			names = append(names, x.String())
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return []string{what + " " + names[0]}
	}
	return []string{what + "s " + strings.Join(names, ", ")}
}
