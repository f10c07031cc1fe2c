package gen

import (
	"bytes"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDeclarations(t *testing.T) {
	d := &Declarations{Primitives: map[string]spec.Primitive{}, Algorithms: map[string]Algorithm{}}
	for _, p := range spec.Primitives() {
		d.Primitives[p.Name] = p
	}
	for _, a := range Catalogue() {
		d.Algorithms[a.FullName()] = a
	}
	var buf bytes.Buffer
	if err := d.Encode(&buf); err != nil {
		t.Fatal(err)
	}
	got, err := DecodeDeclarations(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestDeclarationsRefuseNil(t *testing.T) {
	for _, body := range [][]Node{{nil}, {Step{nil}}, {For{Body: []Node{If{Else: []Node{nil}}}}}} {
		d := &Declarations{Algorithms: map[string]Algorithm{"a": {Body: body}}}
		if err := d.Encode(new(bytes.Buffer)); err == nil {
			t.Errorf("%#v is encoded", body)
		}
	}
}

// FuzzDecodeDeclarations looks for input that makes the decoder panic.
func FuzzDecodeDeclarations(f *testing.F) {
	a := Catalogue()[0]
	var buf bytes.Buffer
	if err := (&Declarations{Algorithms: map[string]Algorithm{"a": a}}).Encode(&buf); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := DecodeDeclarations(bytes.NewReader(data)); err == nil && d == nil {
			t.Error("neither declarations nor an error")
		}
	})
}
