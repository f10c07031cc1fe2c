package repotest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shift is a primitive that this module does not have: all that one has to write, a file each in spec, gen and ref.
var shift = map[string]string{
	"spec/shift.go": `package spec

// Shift gives each rank the block of the next one.
var Shift = register(Primitive{
	Name: "Shift",
	Doc:  "Shift gives every rank the block of the next one, and the last rank that of the first.",
	In:   Buffer{Blocks: Int(1)},
	Out:  Buffer{Blocks: Int(1)},
	Pre:  inputs,
	Post: []Clause{{Buf: Out, Value: Value{Kind: Input, Rank: Up(Add(Rank, Int(1)), Size), Block: Int(0)}}},
})
`,
	"gen/catalogue/shift.go": `package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// ShiftDirect is one message for each rank.
var ShiftDirect = register(gen.Algorithm{
	Name:      "direct",
	Primitive: spec.Shift,
	Doc:       "Every rank sends its block to the one before it.",
	Source:    "none",
	Body: []gen.Node{
		alone(gen.Copy{Into: block(out), From: block(in)}),
		let("previous", down(sub(rank, one), size)),
		let("next", up(add(rank, one), size)),
		gen.If{Cond: gt(size, one), Then: []gen.Node{gen.Step{
			gen.Send{To: v("previous"), Data: block(in)},
			gen.Recv{From: v("next"), Into: block(out)},
		}}},
	},
	Cost: gen.Cost{Alpha: one, Beta: one, Gamma: zero},
})
`,
	"ref/shift.go": `package ref

import "slices"

// Shift gives every rank the input of the next one.
func (c Call[T]) Shift() [][]T {
	return c.each(func(rank int) []T { return slices.Clone(c.In[(rank+1)%c.size()]) })
}
`,
}

// generateShift lets what is written go through the passes of collgen gen, for few sizes and without the catalogue's
// other algorithms, which would take long to prove.
const generateShift = `package main

import (
	"io"
	"os"
	"testing"

	"github.com/collgen/collgen/internal/program"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

func TestGenerateShift(t *testing.T) {
	s := builtIn(fastDir)
	found, err := s.match("shift/")
	if err != nil {
		t.Fatal(err)
	}
	s.algorithms, s.primitives = found, []spec.Primitive{spec.Shift}
	j, err := generate(t.Context(), s, verify.Options{To: 9}, program.NewProgress(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	s.dir = os.Getenv("COLLGEN_TEST_DIR")
	changes, err := j.changes()
	if err != nil || len(changes) != 2 || changes[1].File != "zshift.go" { // and the list of all
		t.Fatalf("%v, %v", changes, err)
	}
	if err := changes[1].write(); err != nil {
		t.Fatal(err)
	}
}
`

// callShift calls what was generated.
const callShift = `package fast

import (
	"context"
	"testing"
)

func TestCallShift(t *testing.T) {
	err := Run(t.Context(), 3, func(ctx context.Context, c *Comm) error {
		got := []int32{0}
		err := Shift(ctx, c, got, []int32{int32(c.Rank())})
		if want := int32(c.Rank()+1) % 3; got[0] != want {
			t.Errorf("rank %d: got %d, want %d", c.Rank(), got[0], want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
`

// TestNewPrimitive adds a primitive by a file each in spec, gen/catalogue and ref, and by nothing else: it is valid,
// stands in the catalogues, is checked by the tests that go through these, is proved, generated and called. (What
// examples and golden files there have to be, other tests say.)
func TestNewPrimitive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := overlay{dir: dir, list: map[string]string{}}
	for name, text := range shift {
		tree.add(t, name, text)
	}
	tree.add(t, "cmd/collgen/shift_test.go", generateShift)
	tree.test(t, "^("+strings.Join([]string{
		"TestValidate", "TestCatalogueIsValid", "TestCatalogueCoversPrimitives", "TestDeclaredCost",
		"TestNoAlgorithmBeatsTheBound",
		"TestSelectionIsLegalAndTotal", "TestRun", "TestGenerateShift",
	}, "|")+")$/(?i)shift", "./spec", "./gen", "./gen/cost", "./gen/catalogue", "./ref", "./cmd/collgen")
	tree.add(t, "fast/shift_test.go", callShift)
	tree.add(t, "fast/zshift.go", read(t, filepath.Join(dir, "zshift.go")))
	tree.test(t, "^TestCallShift$", "./fast")
}

// overlay is files that this module has for the go command alone.
type overlay struct {
	dir  string            // where they really are, and where TestGenerateShift writes
	list map[string]string // by the name under which the go command sees them
}

func (o overlay) add(t *testing.T, name, text string) {
	t.Helper()
	seen, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(seen); err == nil {
		t.Fatalf("%s is there already", name)
	}
	writeFile(t, o.dir, name, text)
	o.list[seen] = filepath.Join(o.dir, name)
}

// test runs the tests of packages whose names match run. There has to be one in every package.
func (o overlay) test(t *testing.T, run string, packages ...string) {
	t.Helper()
	list, err := json.Marshal(map[string]any{"Replace": o.list})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, o.dir, "overlay.json", string(list))
	args := []string{"test", "-overlay", filepath.Join(o.dir, "overlay.json"), "-vet=off", "-count=1", "-v", "-run", run}
	cmd := exec.CommandContext(t.Context(), "go", append(args, packages...)...)
	cmd.Env = append(os.Environ(), "COLLGEN_TEST_DIR="+o.dir)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "no tests to run") {
		t.Errorf("go test %s: %v\n%s", strings.Join(packages, " "), err, out)
	}
}
