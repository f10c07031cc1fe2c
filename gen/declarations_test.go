package gen_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/spec"
)

// worked is a primitive with examples of every kind.
var worked = spec.Primitive{
	Name: "Worked", Doc: "Worked scatters, and has nobody leave before the root has come.", Params: spec.Scatter.Params,
	In: spec.Scatter.In, Out: spec.Scatter.Out, Pre: spec.Scatter.Pre,
	Post: append([]spec.Clause{{Value: spec.Value{Kind: spec.Entered, Where: spec.Eq(spec.Q, spec.Root)}}, {Buf: spec.In}},
		spec.Scatter.Post...),
	Errors: spec.Scatter.Errors,
	Examples: []spec.Example{
		{Root: 1, In: []string{"", "a b"}, Out: []string{"a", "b"}, InAfter: []string{"", "? ?"},
			InPlace: [][2]int{{-1, -1}, {-1, -1}},
			Entered: [][]int{{1}, {1}}},
		{Root: 2, In: []string{"", ""}, Refused: true},
	},
}

func TestDeclarations(t *testing.T) {
	d := &gen.Declarations{Primitives: map[string]spec.Primitive{}, Algorithms: map[string]gen.Algorithm{}}
	for _, p := range append(spec.Primitives(), worked) {
		d.Primitives[p.Name] = p
	}
	for _, a := range catalogue.Algorithms() {
		d.Algorithms[a.FullName()] = a
	}
	var buf bytes.Buffer
	if err := d.Encode(&buf); err != nil {
		t.Fatal(err)
	}
	got, err := gen.DecodeDeclarations(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if inFull(d) != inFull(got) {
		t.Error(cmp.Diff(d, got, cmpopts.EquateEmpty()))
	}
}

// inFull returns declarations in Go, with nil lists as empty ones. To compare everything by package cmp takes seconds.
func inFull(d *gen.Declarations) string {
	return strings.ReplaceAll(fmt.Sprintf("%#v", *d), "(nil)", "{}")
}

func TestDeclarationsRefuseNil(t *testing.T) {
	for _, body := range [][]gen.Node{{nil}, {gen.Step{nil}}, {gen.Fold{Body: []gen.Node{nil}}},
		{gen.For{Body: []gen.Node{gen.If{Else: []gen.Node{nil}}}}}} {
		d := &gen.Declarations{Algorithms: map[string]gen.Algorithm{"a": {Body: body}}}
		if err := d.Encode(new(bytes.Buffer)); err == nil {
			t.Errorf("%#v is encoded", body)
		}
	}
}

// FuzzDecodeDeclarations takes any bytes for declarations: what is decoded can be judged, and is the same when it is
// encoded and decoded again.
func FuzzDecodeDeclarations(f *testing.F) {
	encode := func(d *gen.Declarations) ([]byte, error) {
		var buf bytes.Buffer
		err := d.Encode(&buf)
		return buf.Bytes(), err
	}
	for _, a := range catalogue.Algorithms()[:8] {
		data, err := encode(&gen.Declarations{map[string]spec.Primitive{"p": a.Primitive}, map[string]gen.Algorithm{"a": a}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	data, err := encode(&gen.Declarations{Primitives: map[string]spec.Primitive{"p": worked}})
	if err != nil || spec.Validate(worked) != nil {
		f.Fatal(err, spec.Validate(worked))
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := gen.DecodeDeclarations(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, p := range d.Primitives {
			_ = spec.Validate(p)
		}
		for _, a := range d.Algorithms {
			_ = gen.Validate(&a)
		}
		data, err = encode(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := gen.DecodeDeclarations(bytes.NewReader(data))
		if diff := cmp.Diff(d, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v; %s", err, diff)
		}
	})
}
