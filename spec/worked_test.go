package spec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"pgregory.net/rapid"
)

// TestWorkedExamples has examples that fit a specification, and such as do not.
func TestWorkedExamples(t *testing.T) {
	ring := spec.Example{In: []string{"a", "b", "c"}, Out: []string{"c - b", "a - c", "b - a"},
		InAfter: []string{"?", "?", "?"}}
	sums := spec.Example{In: []string{"a", "b", "c"}, Out: []string{"a", "a+b", "a+b+c"}, InPlace: [][2]int{{0, 0}, {0, 0},
		{0, 0}}}
	root := spec.Example{Root: 1, In: []string{"", "x y"}, Out: []string{"x", "y"}, InPlace: [][2]int{{-1, -1}, {1, 0}}}
	wait := spec.Example{In: []string{"", ""}, Entered: [][]int{{0, 1}, {0, 1}}}
	for _, c := range []struct {
		name string
		p    spec.Primitive
		x    spec.Example
		f    func(*spec.Example)
		want string // "": it fits
	}{
		{"it fits", exchange, ring, func(*spec.Example) {}, ""},
		{"it fits", scan, sums, func(*spec.Example) {}, ""},
		{"it fits", spec.Scatter, root, func(*spec.Example) {}, ""},
		{"it fits", spec.Barrier, wait, func(*spec.Example) {}, ""},
		{"refused", spec.Scatter, root, func(x *spec.Example) { x.Root, x.Refused = 2, true }, ""},
		{"not refused", spec.Scatter, root, func(x *spec.Example) { x.Refused = true },
			"the call is to be refused, and is not"},
		{"refused, and not said so", spec.Scatter, root, func(x *spec.Example) { x.Root = 2 }, "root is not a rank"},
		{"the other way round", exchange, ring, func(x *spec.Example) { x.Out[0] = "b - c" },
			`Examples[0]: rank 0: out is "b - c", and "c - b" by the specification`},
		{"a block less", exchange, ring, func(x *spec.Example) { x.Out[1] = "a -" },
			`rank 1: out is "a -", and "a - c" by the specification`},
		{"no buffer", exchange, ring, func(x *spec.Example) { x.Out = x.Out[:2] },
			`rank 2: out is "", and "b - a" by the specification`},
		{"in is kept", exchange, ring, func(x *spec.Example) { x.InAfter = nil },
			`rank 0: in, after the call, is "-", and "?" by the specification`},
		{"an operand less", scan, sums, func(x *spec.Example) { x.Out[2] = "b+c" }, `out is "b+c", and "a+b+c" by`},
		{"operands in another order", scan, sums, func(x *spec.Example) { x.Out[1] = "b+a" }, `out is "b+a", and "a+b" by`},
		{"a block of in too many", scan, sums, func(x *spec.Example) { x.In[1] = "b d" }, `rank 1: in is "b d", and "b" by`},
		{"a block of in that is not said to be given", scan, sums, func(x *spec.Example) { x.In[1] = "?" },
			`rank 1: in is "?", and "" by`},
		{"in place elsewhere", scan, sums, func(x *spec.Example) { x.InPlace[1] = [2]int{-1, -1} },
			"InPlace differs: by the specification, it is {0, 0}"},
		{"in place too short", scan, sums, func(x *spec.Example) { x.InPlace = x.InPlace[:2] }, "rank 2: InPlace differs"},
		{"nobody waits", spec.Barrier, wait, func(x *spec.Example) { x.Entered = nil },
			"[] have entered the call before it leaves, and [0 1] by"},
		{"one word for two blocks", scan, sums, func(x *spec.Example) { x.In[1] = "a" }, `"a" stands for two blocks of in`},
		{"a word that is a sum", scan, sums, func(x *spec.Example) { x.In[1] = "a+b" }, `"a+b" does not name a block of in`},
		{"too many ranks in out", scan, sums, func(x *spec.Example) { x.Out = append(x.Out, "d") },
			"it lists 4 ranks, but In lists 3"},
		{"no ranks", scan, spec.Example{}, func(*spec.Example) {}, "a communicator of 0 ranks"},
	} {
		x := c.x
		x.In, x.Out, x.InPlace = slices.Clone(x.In), slices.Clone(x.Out), slices.Clone(x.InPlace)
		c.f(&x)
		c.p.Examples = []spec.Example{x}
		err := spec.Validate(c.p)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: got %v, want %q", c.p.Name, c.name, err, c.want)
		}
	}
}

// TestExamplesOfAnyCall writes down what the specification says of a call, in an example's words, which fits; and with
// one word changed, which does not.
func TestExamplesOfAnyCall(t *testing.T) {
	for _, p := range append(spec.Primitives(), exchange, scan) {
		rapid.Check(t, func(t *rapid.T) {
			x := exampleOf(t, p, spectest.Calls(p).Draw(t, "call"))
			p.Examples = []spec.Example{x}
			if err := spec.Validate(p); err != nil {
				t.Fatalf("%+v: %v", x, err)
			}
			lines := rapid.SampledFrom([][]string{x.In, x.Out, x.InAfter}).Draw(t, "lines")
			rank := rapid.IntRange(0, len(x.In)-1).Draw(t, "rank")
			words := strings.Fields(lines[rank])
			if len(words) == 0 {
				words = []string{"x"}
			} else {
				i := rapid.IntRange(0, len(words)-1).Draw(t, "word")
				changes := []string{"", words[i] + "+" + words[i], words[i] + " -"}
				// A block that no result mentions may have any name.
				if strings.Count(strings.Join(slices.Concat(x.In, x.Out, x.InAfter), " ")+" ", words[i]) > 1 {
					changes = append(changes, words[i]+"x")
				}
				words[i] = rapid.SampledFrom(changes).Draw(t, "change")
			}
			lines[rank] = strings.Join(words, " ")
			if err := spec.Validate(p); err == nil {
				t.Fatalf("nobody noticed: %+v", x)
			}
		})
	}
}

// exampleOf returns what p says of a call.
func exampleOf(t *rapid.T, p spec.Primitive, c spec.Call) spec.Example {
	e, err := spec.Expect(p, c)
	if err != nil {
		t.Fatal(err)
	}
	x := spec.Example{Root: c.Root, Peer: c.Peer, Entered: make([][]int, c.Size)}
	for rank, r := range e.Ranks {
		x.In = append(x.In, wordsOf(r.Given))
		x.Out = append(x.Out, wordsOf(r.Out))
		x.InAfter = append(x.InAfter, wordsOf(r.In))
		x.InPlace = append(x.InPlace, [2]int{r.InBlock, r.OutBlock})
		x.Entered[rank] = r.Entered
	}
	return x
}

func wordsOf(blocks []spec.Content) string {
	var words []string
	for _, c := range blocks {
		var operands []string
		for _, t := range c.Terms {
			operands = append(operands, fmt.Sprintf("%d.%d", t.Rank, t.Block))
		}
		switch c.Kind {
		case spec.Undefined:
			operands = []string{"?"}
		case spec.Unchanged:
			operands = []string{"-"}
		}
		words = append(words, strings.Join(operands, "+"))
	}
	return strings.Join(words, " ")
}
