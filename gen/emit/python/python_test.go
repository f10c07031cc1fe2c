package python

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/emit/c"
	"github.com/collgen/collgen/spec"
)

// TestFiles: types, ops and calls have the numbers and the parameters that they have in the header.
func TestFiles(t *testing.T) {
	files, err := Files(spec.Primitives())
	if err != nil {
		t.Fatal(err)
	}
	inC, err := c.Files(spec.Primitives())
	if err != nil {
		t.Fatal(err)
	}
	calls, header := string(files[CallsFile]), strings.Join(strings.Fields(string(inC[c.HeaderFile])), " ")
	for _, want := range []string{"    BFLOAT16 = 10\n", "    MAXLOC = 12\n", "    Type.COMPLEX128: 16,\n"} {
		if strings.Count(calls, want) != 1 {
			t.Errorf("want %q once", want)
		}
	}
	n := 0
	for _, p := range spec.Primitives() {
		signature, err := c.SignatureOf(p)
		if err != nil {
			continue // a pair's
		}
		n++
		if !strings.Contains(calls, fmt.Sprintf("\n        %q,\n        %q,\n        %s,\n", p.Name, signature.Function,
			tuple(signature.Params))) {
			t.Errorf("%s is not there as %v", p.Name, signature)
		}
		_, rest, _ := strings.Cut(header, "int "+signature.Function+"(")
		declared, _, _ := strings.Cut(rest, ")")
		if got := len(strings.Split(declared, ",")); got != len(signature.Params)+len("cow") {
			t.Errorf("%s: %d parameters in C, and %v", p.Name, got, signature.Params)
		}
		for _, name := range signature.Params {
			if !strings.Contains(strings.ReplaceAll(declared, "*", " ")+",", " "+name+",") {
				t.Errorf("%s: no parameter of C is %s: %s", p.Name, name, declared)
			}
		}
	}
	if n != strings.Count(calls, ": Call(\n") || n < 15 {
		t.Errorf("%d calls, and %d of them are printed", n, strings.Count(calls, ": Call(\n"))
	}
}

// TestSignature has the call of a primitive with everything that one can have.
func TestSignature(t *testing.T) {
	files, err := Files([]spec.Primitive{spec.GatherV, spec.Exscan})
	const gatherV = `    "gatherv": Call(
        "GatherV",
        "collgen_gatherv",
        ("dst", "dst_counts", "dst_displs", "src", "count", "type", "root"),
        Shape(-1, "root", True),
        Shape(1, "all", False),
        "dst root",
    ),
`
	if err != nil || !strings.Contains(string(files[CallsFile]), gatherV) ||
		!strings.Contains(string(files[CallsFile]), `Shape(1, "others", False),`) {
		t.Errorf("%v: %s", err, files[CallsFile])
	}
}

// TestMethodName: words are separated, and All and V are none of their own.
func TestMethodName(t *testing.T) {
	for name, want := range map[string]string{"AllReduce": "allreduce", "AllToAllV": "alltoallv", "Exscan": "exscan",
		"ReduceScatter": "reduce_scatter", "ReduceScatterV": "reduce_scatterv", "GatherV": "gatherv"} {
		if got := methodName(spec.Primitive{Name: name}); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got, want := tuple([]string{"root"})+tuple(nil), `("root",)()`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRefused: no call is printed that has no function in C.
func TestRefused(t *testing.T) {
	one := spec.Buffer{Blocks: spec.Int(1)}
	odd := spec.Primitive{Name: "Half", In: spec.Buffer{Blocks: spec.Sub(spec.Size, spec.Int(1))}, Out: one}
	if files, err := Files([]spec.Primitive{odd}); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("%v: %s", err, files[CallsFile])
	}
}
