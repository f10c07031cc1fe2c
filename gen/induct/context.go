package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// context is an obligation in the making. What is evaluated in it gets a name there, once.
type context struct {
	a     *gen.Algorithm
	o     *Obligation
	names map[string]expr // by the text of what is named
	truth map[string]bool // whether a name is a condition's
	taken map[string]bool
}

func newContext(a *gen.Algorithm, o *Obligation) *context {
	c := &context{a: a, o: o, names: map[string]expr{}, truth: map[string]bool{}, taken: map[string]bool{}}
	c.variable("size", one, expr{})
	c.variable("depth", one, expr{})
	if a.HasLocal() {
		c.variable(spec.Local.Name, one, add(spec.Size, one))
	}
	for _, p := range a.Primitive.Params {
		if p != spec.ParamOp {
			c.variable(string(p), zero, spec.Size)
		}
	}
	if !a.Requires.Size.IsAbsent() {
		c.given(c.frame(zero, "").eval(a.Requires.Size))
	}
	for _, e := range a.Primitive.Errors {
		c.given(not(c.frame(zero, "").eval(e.When)))
	}
	return c
}

func (c *context) given(list ...expr) {
	for _, e := range list {
		if !is(e, 1) {
			c.o.Given = append(c.o.Given, e)
		}
	}
}

// want adds parts to the goal.
func (c *context) want(parts ...Part) {
	for _, p := range parts {
		if !is(p.Is, 1) {
			c.o.Parts = append(c.o.Parts, p)
			c.o.Goal = and(c.o.Goal, p.Is)
		}
	}
}

// variable returns a new variable, in min..max-1.
func (c *context) variable(name string, min, max expr) expr {
	name = c.free(name)
	c.o.Names = append(c.o.Names, Name{Name: name, Min: min, Max: max})
	return spec.Var(name)
}

// free is name, or one like it that is not taken.
func (c *context) free(name string) string {
	unique := name
	for i := 2; c.taken[unique]; i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	c.taken[unique] = true
	return unique
}

// name returns e, by a name unless it is as short as one.
func (c *context) name(as string, e expr) expr {
	if len(e.Args) == 0 {
		return e
	}
	text := e.String()
	if v, ok := c.names[text]; ok {
		return v
	}
	v := spec.Var(c.free(as))
	c.names[text], c.truth[v.Name] = v, isTruth(e, c.truth)
	c.o.Names = append(c.o.Names, Name{Name: v.Name, Is: e, Truth: c.truth[v.Name]})
	return v
}
