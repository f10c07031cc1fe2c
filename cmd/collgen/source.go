package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/smtproof"
)

// source is a package whose algorithms are worked on.
type source struct {
	golang.Package
	dir        string
	primitives []spec.Primitive          // those that algorithms carry out, by name
	algorithms []*algorithm              // by full name
	taken      map[string]token.Position // the names that the package itself declares
	isBuiltIn  bool                      // it is the catalogue
	tuning     *selection.Table          // rules that count before others; nil: none
}

// algorithm is an algorithm on its way to Go.
type algorithm struct {
	gen.Algorithm
	at     position
	hash   [sha256.Size]byte // as it was declared
	proof  verify.Summary
	proved bool          // proof is of the algorithm as it is now
	took   time.Duration // the proof
	form   string        // what progress says of an algorithm that a pass has changed

	every smtproof.Record // what is recorded of it as it is now; zero: nothing

	// the generated file that proof is from, of which only sizes, depths and order are known; empty: proved now
	recorded string
}

// position is where an algorithm is declared. Invalid: nobody knows.
type position struct {
	variable token.Position
	cost     token.Position   // of what it declares to cost; invalid if that has no literal of its own
	actions  []token.Position // of its actions, in source order; nil if they cannot be told apart
}

// of returns where the action of that index is, or the algorithm if there is no telling.
func (p position) of(action int) token.Position {
	if action < 0 || action >= len(p.actions) {
		return p.variable
	}
	return p.actions[action]
}

// locate returns err with the position of what it is about in front; with its path in the body, where it has no
// position of its own.
func (a *algorithm) locate(err error) error {
	action := -1
	var (
		cost    costError
		node    *gen.NodeError
		failure *verify.Failure
		printed *golang.Error
	)
	switch {
	case errors.As(err, &cost) && a.at.cost.IsValid():
		return at(a.at.cost, err)
	case errors.As(err, &failure) && failure.Node >= 0:
		action = failure.Node
	case errors.As(err, &node):
		action = node.Node
	case errors.As(err, &printed):
		action = printed.Node
	}
	if path := gen.Path(a.Body, action); action >= 0 && a.at.actions == nil && a.form == "" {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return at(a.at.of(action), err)
}

// at returns err with a position in front, if it is known.
func at(p token.Position, err error) error {
	if !p.IsValid() {
		return err
	}
	return fmt.Errorf("%s: %w", p, err)
}

// builtIn returns the algorithms of the catalogue, which are generated into package fast in dir.
func builtIn(dir string) *source {
	s := &source{dir: dir, isBuiltIn: true, Package: golang.Package{Path: golang.Runtime, Name: "fast",
		Command: "go run github.com/collgen/collgen/cmd/collgen gen"}}
	for _, a := range catalogue.Algorithms() {
		s.add(a, position{})
	}
	return s
}

// add adds an algorithm and, if it is new, its primitive.
func (s *source) add(x gen.Algorithm, at position) {
	a := &algorithm{Algorithm: x, hash: x.Hash()}
	a.place(at)
	s.algorithms = append(s.algorithms, a)
	isKnown := slices.ContainsFunc(s.primitives, func(p spec.Primitive) bool { return p.Name == a.Primitive.Name })
	if !isKnown {
		s.primitives = append(s.primitives, a.Primitive)
	}
	slices.SortFunc(s.primitives, func(x, y spec.Primitive) int { return strings.Compare(x.Name, y.Name) })
	slices.SortFunc(s.algorithms, func(x, y *algorithm) int { return strings.Compare(x.FullName(), y.FullName()) })
}

// place says where a is declared. Its actions are known where every one has a literal of its own.
func (a *algorithm) place(at position) {
	if len(at.actions) != gen.CountActions(a.Body) {
		at.actions = nil
	}
	a.at = at
}

// of returns the algorithms for p in the order of their declarations, or of their names where nobody knows it.
func (s *source) of(p spec.Primitive) []*algorithm {
	var list []*algorithm
	for _, a := range s.algorithms {
		if a.Primitive.Name == p.Name {
			list = append(list, a)
		}
	}
	slices.SortStableFunc(list, func(x, y *algorithm) int {
		return cmp.Or(cmp.Compare(x.at.variable.Filename, y.at.variable.Filename), x.at.variable.Offset-y.at.variable.Offset)
	})
	return list
}

// rules returns the selection table for p.
func (s *source) rules(p spec.Primitive) []gen.Rule {
	algorithms := s.declared(p)
	table := catalogue.Rules(p, algorithms)
	if s.tuning == nil {
		return table
	}
	return selection.Merge(s.tuning.Rules[p.Name], table, gen.Selectable(algorithms))
}

// tune puts the rules of a file before others, and says so in the command of generated files; "": none.
func (s *source) tune(name string) error {
	if name == "" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.tuning, err = selection.Decode(f); err == nil {
		algorithms := map[string][]selection.Algorithm{}
		for _, p := range s.primitives {
			algorithms[p.Name] = gen.Selectable(s.declared(p))
		}
		err = s.tuning.Check(algorithms)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.Command += " -tune " + filepath.ToSlash(name)
	return nil
}

// declared returns the algorithms for p as the language has them.
func (s *source) declared(p spec.Primitive) []gen.Algorithm {
	var algorithms []gen.Algorithm
	for _, a := range s.of(p) {
		algorithms = append(algorithms, a.Algorithm)
	}
	return algorithms
}

// match returns the algorithms whose name begins with pattern. A name in full means nothing but what is called so:
// reduce, and not reducescatter; allreduce/ring, and no other.
func (s *source) match(pattern string) ([]*algorithm, error) {
	if slices.ContainsFunc(s.primitives, func(p spec.Primitive) bool { return strings.ToLower(p.Name) == pattern }) {
		pattern += "/"
	}
	var found []*algorithm
	for _, a := range s.algorithms {
		if a.FullName() == pattern {
			return []*algorithm{a}, nil
		}
		if strings.HasPrefix(a.FullName(), pattern) {
			found = append(found, a)
		}
	}
	if found == nil {
		return nil, usageError{fmt.Errorf("no algorithm's name begins with %q; collgen list shows them", pattern)}
	}
	return found, nil
}

// costError is the error of a declared cost.
type costError struct{ error }
