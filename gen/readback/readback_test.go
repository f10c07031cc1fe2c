package readback

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/golang"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/spec"
)

// printed returns a in the form in which it is printed.
func printed(a gen.Algorithm) gen.Algorithm { return gen.Prune(gen.Simplify(a)) }

// provedOf is for which calls the algorithms of the catalogue are proved.
func provedOf(a *gen.Algorithm) Proved {
	_, bounded := a.MostRanks()
	p := Proved{64, 0, !bounded}
	if a.HasDepth() {
		p.Depths = 4
	}
	if a.Primitive.Name == "Send" { // of which larger sizes have a sample of the pairs
		p.Sizes = 16
	}
	return p
}

// proofOf returns a proof of so much.
func proofOf(p Proved) (x golang.Proof) {
	for n := 1; n <= p.Sizes; n++ {
		x.Sizes = append(x.Sizes, n)
	}
	for n := 1; n <= p.Depths; n++ {
		x.Depths = append(x.Depths, n)
	}
	if p.Every {
		x.Every.Sizes = "all sizes"
	}
	return x
}

// collectiveOf returns what the code of a primitive of the catalogue is generated from.
func collectiveOf(p spec.Primitive) Collective {
	c := Collective{Primitive: p}
	var declared []gen.Algorithm
	for _, a := range catalogue.Algorithms() {
		if a.Primitive.Name == p.Name {
			c.Algorithms = append(c.Algorithms, Declared{printed(a), a.Hash(), provedOf(&a)})
			declared = append(declared, a)
		}
	}
	c.Rules = catalogue.Rules(p, declared)
	return c
}

// library is the path of the package whose users call generated functions.
const library = "github.com/collgen/collgen/fast"

// sources returns the files of package fast that were not generated, and of the packages whose types they use.
func sources(t *testing.T) Sources {
	t.Helper()
	found, err := packages.Load(&packages.Config{Context: t.Context(), Mode: packages.NeedName | packages.NeedFiles},
		library, Runtime, library+"/collective", "github.com/collgen/collgen/spec", "github.com/collgen/collgen/selection")
	if err != nil {
		t.Fatal(err)
	}
	s := Sources{}
	for _, p := range found {
		if len(p.GoFiles) == 0 {
			t.Fatalf("%s has no files: %v", p.PkgPath, p.Errors)
		}
		s[p.PkgPath] = p.GoFiles
	}
	return s
}

// TestCatalogue reads the generated files of package fast back.
func TestCatalogue(t *testing.T) {
	s, generated := sources(t), map[string][]byte{}
	s[library] = slices.DeleteFunc(s[library], func(name string) bool {
		if !strings.HasPrefix(filepath.Base(name), "z") {
			return false
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		generated[filepath.Base(name)] = content
		return true
	})
	p, err := NewChecker(s).Typecheck(library, generated)
	if err != nil {
		t.Fatal(err)
	}
	algorithms := 0
	for _, primitive := range spec.Primitives() {
		c := collectiveOf(primitive)
		if err := p.Check(c); err != nil {
			t.Errorf("%s: %v", primitive.Name, err)
		}
		table, err := p.table(primitive.Name)
		if err != nil || len(table.algorithms) != len(c.Algorithms) {
			t.Fatalf("%s: %+v, %v", primitive.Name, table, err)
		}
		for i, a := range c.Algorithms {
			algorithms++
			t.Run(a.FullName(), func(t *testing.T) {
				lines, err := meaningOf(newTerms(), &a.Algorithm)
				if err == nil {
					err = p.algorithm(&table.algorithms[i], &a)
				}
				if err != nil || len(lines) < 4 {
					t.Fatalf("%d lines, %v", len(lines), err)
				}
				t.Logf("sizes all: %d lines are the algorithm's", len(lines))
			})
		}
	}
	if algorithms != len(catalogue.Algorithms()) || algorithms == 0 {
		t.Errorf("%d algorithms of %d were read back", algorithms, len(catalogue.Algorithms()))
	}
}

// theirs is the path of a package of others.
const theirs = "example.org/theirs"

// file returns the file that is generated for c in a package of others.
func file(t testing.TB, c Collective) []byte {
	t.Helper()
	e := golang.Collective{Primitive: c.Primitive, Rules: c.Rules}
	for _, a := range c.Algorithms {
		e.Algorithms = append(e.Algorithms, golang.Proved{Algorithm: a.Algorithm, Proof: proofOf(a.Proved), Hash: a.Hash})
	}
	text, err := golang.File(golang.Package{Path: theirs, Name: "theirs", Command: "a test"}, e)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fault returns why a file is not what is to be generated for c; nil if it is.
func (k *Checker) fault(c Collective, text []byte) error {
	p, err := k.Typecheck(theirs, map[string][]byte{"z.go": text})
	if err != nil {
		return err
	}
	return p.Check(c)
}

// with returns an algorithm for AllReduce of these nodes.
func with(nodes ...gen.Node) Collective {
	a := gen.Algorithm{Name: "test", Primitive: spec.AllReduce, Doc: "It is a test.", Source: "This test.",
		Scratch: spec.Size, Body: nodes}
	return Collective{Primitive: spec.AllReduce, Algorithms: []Declared{{a, a.Hash(), Proved{}}}}
}

// TestExpressions reads back what Go has rules of its own for.
func TestExpressions(t *testing.T) {
	k := NewChecker(sources(t))
	p, n, i := spec.Rank, spec.Size, spec.Int
	for _, e := range []spec.Expr{
		// of which Go took the count for a uint
		spec.Shr(p, spec.BitAnd(spec.Shl(i(-6), spec.BitAnd(spec.Add(i(4), n), i(7))), i(7))),
		spec.Log2(spec.Add(spec.Shr(spec.Sub(spec.Shl(i(1), p), i(4)), i(1)), i(10))),
		spec.CeilLog2(spec.Sub(n, i(1))), // of 0 it is 0
		spec.CeilLog2(spec.Add(p, n)),
		spec.Add(spec.Log2(n), i(1)),
		spec.Sub(p, spec.Sub(n, spec.Add(p, i(1)))),
		spec.Mul(spec.Mul(p, n), spec.Sub(i(0), p)),
		spec.Shl(spec.Shr(p, i(1)), spec.Shr(n, i(1))),
		spec.BitXor(spec.BitAnd(p, n), spec.Add(p, i(-3))),
		spec.BitOr(spec.BitAnd(p, n), spec.BitOr(p, i(-3))),
		spec.Mul(p, spec.Div(spec.Mod(spec.Add(p, n), i(3)), spec.Add(n, i(1)))),
		spec.Div(spec.Div(p, i(2)), n), spec.Div(p, spec.Div(i(2), n)), spec.Mod(i(-7), n),
		spec.If(spec.Lt(i(0), p), spec.Div(n, p), i(0)),
		spec.Max(spec.Min(p, spec.Min(n, i(2))), spec.Max(i(0), p)),
		spec.If(spec.And(spec.Lt(p, n), spec.Or(p, spec.Not(spec.Eq(n, i(3))))), spec.If(p, i(1), n), p),
		spec.If(spec.Lt(p, n), spec.Lt(p, i(1)), spec.Int(1)),
		spec.If(spec.Lt(i(0), p), spec.Shl(i(1), spec.Sub(p, i(1))), i(0)),
	} {
		use := gen.If{Cond: spec.Var("v"), Then: []gen.Node{gen.Step{gen.Finish{Data: gen.Chunk(spec.Out, spec.Int(0))}}}}
		c := with(gen.Let{Name: "v", Is: e}, use)
		text, err := golang.File(golang.Package{Path: theirs, Name: "theirs"}, golang.Collective{Primitive: c.Primitive,
			Algorithms: []golang.Proved{{Algorithm: c.Algorithms[0].Algorithm, Hash: c.Algorithms[0].Hash}}})
		if err != nil {
			if !strings.Contains(err.Error(), "give it a name with Let") {
				t.Errorf("%v: %v", e, err)
			}
			continue
		}
		if err := k.fault(c, text); err != nil {
			t.Errorf("%v: %v\n%s", e, err, text[strings.Index(string(text), "func allReduceTest"):])
		}
	}
}
