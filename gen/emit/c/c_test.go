package c

import (
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
)

// TestFiles: the functions of the catalogue are declared as they are defined, each once, with its conditions above it.
func TestFiles(t *testing.T) {
	files, err := Files(spec.Primitives())
	if err != nil {
		t.Fatal(err)
	}
	header, calls := string(files[HeaderFile]), string(files[CallsFile])
	for _, p := range spec.Primitives() {
		f, err := functionOf(p)
		if isPair(p) {
			continue
		}
		if err != nil || strings.Count(header, f.Comment+"\n"+f.Prototype+";\n") != 1 ||
			strings.Count(calls, f.Prototype+" {\n") != 1 {
			t.Errorf("%s: %v: %s", p.Name, err, f.Prototype)
		}
		words := strings.ReplaceAll(strings.ReplaceAll(f.Comment, "\n * ", "\n"), "\n *", "\n")
		if promise := strings.TrimRight(text.Promise(p), "\n"); !strings.Contains(words, promise) {
			t.Errorf("%s: the comment does not have %s", p.Name, promise)
		}
	}
	for _, want := range []string{"BFLOAT16 = 10", "MAXLOC = 12", "FLOAT8E5M2 = 17"} {
		if !strings.Contains(header, "\tCOLLGEN_"+want+",\n") {
			t.Errorf("the header does not have %q", want)
		}
	}
	for name, content := range files {
		for i, line := range strings.Split(strings.ReplaceAll(string(content), "\t", "    "), "\n") {
			if n := len([]rune(line)); n > lineLength && !strings.Contains(line, "COLLGEN_EACH") {
				t.Errorf("%s:%d: %d columns", name, i+1, n)
			}
		}
	}
}

// TestFunction has the function of a primitive with everything that one can have.
func TestFunction(t *testing.T) {
	f, err := functionOf(spec.GatherV)
	if err != nil {
		t.Fatal(err)
	}
	const prototype = `int collgen_gatherv(collgen_comm comm, void *dst, const int64_t *dst_counts, const int64_t *dst_displs,
	const void *src, int64_t count, collgen_type type, int root, const collgen_options *options, collgen_work *work)`
	const body = `		NAME("GatherV"),
		.dst = {.data = (uintptr_t)dst, .blocks = COLLGEN_EACH, .on = COLLGEN_ON_ROOT, .uneven = 1, .counts = dst_counts, ` +
		`.displs = dst_displs},
		.src = {.data = (uintptr_t)src, .blocks = 1},
		.count = count,
		.type = type,
		.root = root,
		.in_place = COLLGEN_DST_ROOT,
`
	if f.Prototype != prototype || f.Body != body {
		t.Errorf("%s\n%s", f.Prototype, f.Body)
	}
	for _, want := range []string{"dst has dst_counts[q] elements for each rank q on the root, and is not used elsewhere",
		"src has count elements", "src is COLLGEN_IN_PLACE, and lies where dst has the block of the root"} {
		if !strings.Contains(strings.ReplaceAll(f.Comment, "\n *", ""), want) {
			t.Errorf("not in the comment: %s\n%s", want, f.Comment)
		}
	}
}

// TestShapesRefused has primitives that no C function can be printed for.
func TestShapesRefused(t *testing.T) {
	one, each, zero := spec.Buffer{Blocks: spec.Int(1)}, spec.Buffer{Blocks: spec.Size}, spec.Int(0)
	for _, p := range []spec.Primitive{
		{Name: "Half", In: spec.Buffer{Blocks: spec.Sub(spec.Size, spec.Int(1))}, Out: one},
		{Name: "OnSecond", In: one, Out: spec.Buffer{Blocks: spec.Int(1), On: spec.Eq(spec.Rank, spec.Int(1))}},
		{Name: "Shifted", In: one, Out: each, InPlace: spec.InPlace{InBlock: zero, OutBlock: spec.Sub(spec.Rank, zero)}},
		{Name: "Inner", In: spec.Buffer{Blocks: spec.Int(2)}, Out: one,
			InPlace: spec.InPlace{InBlock: spec.Int(1), OutBlock: zero}},
	} {
		if files, err := Files([]spec.Primitive{p}); !errors.Is(err, errShape) {
			t.Errorf("%s: %v: %s", p.Name, err, files[CallsFile])
		}
	}
}
