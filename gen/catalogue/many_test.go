package catalogue

import (
	"math/bits"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/cost"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// few is up to how many ranks a short call may have everybody talk to everybody.
const few = 16

// work returns what limits the time of a short call of more ranks than there are cores: the steps of the rank that has
// the most, in each of which all ranks have their turn, and the messages of all ranks together.
func work(t *testing.T, a *gen.Algorithm, size int) (steps, messages int) {
	t.Helper()
	s, err := gen.Instantiate(a, a.Calls(size, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	m, err := cost.Measure(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range s.Ranks {
		for _, in := range program.Instrs {
			if in.Kind == gen.SendInstr {
				messages++
			}
		}
	}
	return m.Steps, messages
}

// TestManyRanks: whatever the number of ranks and the transport, short calls take a number of steps that grows with its
// logarithm, and n log n messages; but for those in which each rank has something else for every other one, and those
// of uneven blocks, of which a message has one: tables give these n² messages in one step.
func TestManyRanks(t *testing.T) {
	for _, p := range spec.Primitives() {
		for _, transport := range selection.Transports {
			for _, size := range []int{few + 1, 24, 32, 48, 63, 64} {
				a := shortest(p, transport, size)
				log := bits.Len(uint(size - 1))
				most := 2 * size * log
				if p.Name == spec.AllToAll.Name || p.Name == spec.ReduceScatter.Name || p.IsUneven() {
					most = size * (size - 1)
				}
				if steps, messages := work(t, a, size); steps > 2*log || messages > most {
					t.Errorf("%s of %d ranks over %s: %s takes %d steps and %d messages", p.Name, size, transport, a.Name, steps,
						messages)
				}
			}
		}
	}
}

// shortest returns the algorithm that a call with 8 bytes in a block gets.
func shortest(p spec.Primitive, transport string, size int) *gen.Algorithm {
	algorithms := algorithmsFor(p.Name)
	table := Rules(p, algorithms)
	name := table[gen.Select(table, algorithms, selection.Call{Transport: transport, Size: size, Commutative: true},
		8)].Algorithm
	return &algorithms[slices.IndexFunc(algorithms, func(a gen.Algorithm) bool { return a.Name == name })]
}
