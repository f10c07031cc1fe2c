package interp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/ref"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/spec/spectest"
	"github.com/collgen/collgen/verify/interp"
)

var sums = interp.Arith[int64]{
	Combine: func(a, b int64) int64 { return ref.Combine(spec.OpSum, a, b) },
	Finish:  func(x int64) int64 { return x },
}

// run returns what Run leaves in Out.
func run(s *gen.Schedule, count int, in [][]int64) ([][]int64, error) {
	out := make([][]int64, s.Size)
	for r, p := range s.Ranks {
		out[r] = make([]int64, p.Out/s.Chunks*count)
	}
	return out, interp.Run(s, count, in, out, sums)
}

// TestRun: every algorithm of the catalogue, run on integers, gives what the reference gives.
func TestRun(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		t.Run(a.FullName(), rapid.MakeCheck(func(t *rapid.T) {
			c := spectest.Calls(a.Primitive).Draw(t, "call")
			locals := a.Locals(c.Size)
			if len(locals) == 0 {
				t.Skip("the algorithm does not serve this size")
			}
			local := rapid.SampledFrom(locals).Draw(t, "local")
			s, err := gen.Instantiate(&a, gen.Params{Size: c.Size, Root: c.Root, Peer: c.Peer,
				Depth: rapid.IntRange(1, 5).Draw(t, "depth"), Local: local})
			if err != nil {
				t.Fatal(err)
			}
			count := spectest.Counts(c.Size).Draw(t, "count") % 1000
			in := spectest.Inputs[int64](a.Primitive, c, count).Draw(t, "in")
			want, err := ref.Call[int64]{In: in, Op: spec.OpSum, Root: c.Root, Peer: c.Peer}.Run(a.Primitive.Name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := run(s, count, in)
			if err != nil {
				t.Fatal(err)
			}
			for r := range want {
				if diff := cmp.Diff(want[r], got[r]); diff != "" && len(want[r])+len(got[r]) > 0 {
					t.Errorf("rank %d (-want +got):\n%s", r, diff)
				}
			}
		}))
	}
}

// TestRunErrors: a receive without a message, and buffers that do not fit, are errors.
func TestRunErrors(t *testing.T) {
	s, err := gen.Instantiate(&catalogue.AllReduceRing, gen.Params{Size: 2, Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(s, 3, [][]int64{{1, 2, 3}, {4, 5}}); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Errorf("a short buffer: %v", err)
	}
	last := len(s.Ranks[0].Instrs) - 3 // a send, a receive and their join end the program
	s.Ranks[0].Instrs[last].Kind = gen.JoinInstr
	if _, err := run(s, 3, [][]int64{{1, 2, 3}, {4, 5, 6}}); err == nil || !strings.Contains(err.Error(),
		"never become ready") {
		t.Errorf("a dropped send: %v", err)
	}
}
