package gen_test

import (
	"iter"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// TestSteps puts the steps of every rank together and compares them with the whole schedule.
func TestSteps(t *testing.T) {
	for _, a := range catalogue.Algorithms() {
		t.Run(a.FullName(), func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 2, 5, 8} {
				for _, p := range a.Calls(size, 1, 3) {
					whole, err := gen.Instantiate(&a, p)
					if err != nil {
						t.Fatal(err)
					}
					for rank, program := range whole.Ranks {
						if diff := cmp.Diff(stepsOf(program.Instrs), collect(t, gen.Steps(&a, p, rank))); diff != "" {
							t.Fatalf("%+v, rank %d:\n%s", p, rank, diff)
						}
					}
				}
			}
		})
	}
}

// stepsOf cuts a program into steps, whose instructions refer to none but those of their step.
func stepsOf(instrs []gen.Instr) (steps [][]gen.Instr) {
	first := 0
	for i, in := range instrs {
		if i == 0 || instrs[i-1].Step != in.Step {
			steps, first = append(steps, nil), i
		}
		var after []int
		for _, j := range in.After {
			if j >= first {
				after = append(after, j-first)
			}
		}
		in.After = after
		if in.AfterSend >= 0 {
			in.AfterSend -= first
		}
		last := len(steps) - 1
		steps[last] = append(steps[last], in)
	}
	return steps
}

func collect(t *testing.T, steps iter.Seq2[[]gen.Instr, error]) (all [][]gen.Instr) {
	for step, err := range steps {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(step))
	}
	return all
}

func TestStepsOfNoCall(t *testing.T) {
	for name, steps := range map[string]iter.Seq2[[]gen.Instr, error]{
		"no such call": gen.Steps(&catalogue.AllReduceRing, gen.Params{Size: 0, Depth: 1}, 0),
		"no such rank": gen.Steps(&catalogue.AllReduceRing, gen.Params{Size: 2, Depth: 1}, 2),
	} {
		n := 0
		for _, err := range steps {
			if n++; err == nil || n > 1 {
				t.Errorf("%s: a step, or a second error", name)
			}
		}
	}
}

// TestStepsEnough stops in the middle.
func TestStepsEnough(t *testing.T) {
	n := 0
	for _, err := range gen.Steps(&catalogue.AllReduceRing, gen.Params{Size: 8, Depth: 1}, 3) {
		if n++; err != nil {
			t.Fatal(err)
		}
		if n == 4 {
			break
		}
	}
	if n != 4 {
		t.Errorf("%d steps", n)
	}
}

// BenchmarkSteps walks through the ring of 1,024 ranks on one of them, which takes 2,047 steps.
func BenchmarkSteps(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for step, err := range gen.Steps(&catalogue.AllReduceRing, gen.Params{Size: 1024, Depth: 1}, 7) {
			if err != nil {
				b.Fatal(err)
			}
			runtime.KeepAlive(step)
		}
	}
}
