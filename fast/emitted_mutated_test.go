package fast

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// mutatedAlgorithm is what is generated for an algorithm of the catalogue with a mistake in it.
type mutatedAlgorithm struct {
	of  string
	run func(context.Context, *exec.Call) error
}

// mutatedAlgorithms is filled in by a file that verify/mutate adds to this package while it runs TestMutatedAlgorithms.
var mutatedAlgorithms []mutatedAlgorithm

// TestMutatedAlgorithms prints for each the first difference between what it does and the schedules of the algorithm
// without the mistake, if there is one.
func TestMutatedAlgorithms(t *testing.T) {
	if len(mutatedAlgorithms) == 0 {
		t.Skip("go run ./verify/mutate runs it on mutated algorithms")
	}
	algorithms := map[string]gen.Algorithm{}
	for _, a := range catalogue.Algorithms() {
		algorithms[a.FullName()] = a
	}
	for i, m := range mutatedAlgorithms {
		a, ok := algorithms[m.of]
		if !ok {
			t.Fatalf("there is no %s", m.of)
		}
		u := generated(t, &a)
		code := *u.code
		code.Run = m.run
		u.code = &code
		fmt.Printf("mutant %d: %s\n", i, strings.Join(strings.Fields(firstFault(t, u)), " "))
	}
}
