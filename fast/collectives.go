package fast

import (
	"github.com/collgen/collgen/fast/internal/exec"
)

// Collectives returns the names of this package's collectives, in alphabetical order: "AllGather", "AllReduce" and so
// on.
func Collectives() []string {
	names := make([]string, len(collectives))
	for i, k := range collectives {
		names[i] = k.Name
	}
	return names
}

// Algorithms returns the names, for WithAlgorithm, of the algorithms of one of Collectives; nil if there is no such
// collective. Not every one serves every number of ranks and every op: a call that it does not serve gets
// ErrInvalidArgument.
func Algorithms(collective string) []string {
	if k := collectiveOf(collective); k != nil {
		return k.Names()
	}
	return nil
}

// collectiveOf returns this package's collective of that name; nil if there is none.
func collectiveOf(name string) *exec.Collective {
	for _, k := range collectives {
		if k.Name == name {
			return k
		}
	}
	return nil
}
