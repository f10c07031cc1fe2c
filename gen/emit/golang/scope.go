package golang

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/dave/jennifer/jen"
)

// scope is the names that one block of Go declares, inside those of the blocks around it.
type scope struct {
	outer *scope
	vars  map[string]kind
	bufs  map[spec.Buf]bool // the buffers that have a name of their own
}

// kind is what is known of a variable.
type kind uint8

const (
	number  kind = iota // an int
	natural             // an int that is never negative
	truth               // a bool
)

func newScope(outer *scope) *scope {
	return &scope{outer: outer, vars: map[string]kind{}, bufs: map[spec.Buf]bool{}}
}

// taken are the names that generated functions use themselves, in addition to Go's predeclared names.
var taken = []string{"ctx", "x", "err", "bits", "context", "fast", "collective", "exec"}

// checkName refuses what cannot be the name of a variable in a generated function.
func checkName(name string) error {
	switch {
	case !token.IsIdentifier(name) || name == "_":
		return fmt.Errorf("%q cannot be the name of a variable in Go", name)
	case slices.Contains(taken, name):
		return fmt.Errorf("the generated code uses the name %q itself: choose another", name)
	case types.Universe.Lookup(name) != nil:
		return fmt.Errorf("the name %q is predeclared in Go: choose another", name)
	}
	return nil
}

// declare adds a variable to the block of s.
func (s *scope) declare(name string, k kind) error {
	if s.declares(name) {
		return fmt.Errorf("%s is already defined", name)
	}
	s.vars[name] = k
	return checkName(name)
}

// declareBuf adds a variable that names a buffer.
func (s *scope) declareBuf(name spec.Buf) error {
	if s.declares(string(name)) {
		return fmt.Errorf("%s is already defined", name)
	}
	if name == spec.In || name == spec.Out || name == spec.Scratch {
		return fmt.Errorf("%q is the name of a buffer already", name)
	}
	s.bufs[name] = true
	return checkName(string(name))
}

// declares reports whether the block itself declares name.
func (s *scope) declares(name string) bool {
	_, ok := s.vars[name]
	return ok || s.bufs[spec.Buf(name)]
}

// sees reports whether one of names, as in a list of names, has a meaning in the block.
func (s *scope) sees(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		for at := s; at != nil; at = at.outer {
			if at.declares(strings.TrimPrefix(name, bufName(""))) {
				return true
			}
		}
		return false
	})
}

func (s *scope) lookup(name string) (kind, bool) {
	for ; s != nil; s = s.outer {
		if k, ok := s.vars[name]; ok {
			return k, true
		}
	}
	return number, false
}

// buffer returns the buffer called name: a field of the call or, where isName, a variable that points to one.
func (s *scope) buffer(name spec.Buf) (code *jen.Statement, isName bool, err error) {
	for at := s; at != nil; at = at.outer {
		if at.bufs[name] {
			return jen.Id(string(name)), true, nil
		}
	}
	field, ok := map[spec.Buf]string{spec.In: "In", spec.Out: "Out", spec.Scratch: "Scratch"}[name]
	if !ok {
		return nil, false, fmt.Errorf("there is no buffer %q here", name)
	}
	return jen.Id("x").Dot(field), false, nil
}

func (s *scope) isNatural(e spec.Expr) bool {
	k, _ := s.lookup(e.Name)
	return e.Kind == spec.Const && e.N >= 0 || e.Kind == spec.Variable && k == natural
}
