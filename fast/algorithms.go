package fast

import (
	"io"
	"os"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/selection"
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

// Rule is a line of a selection table: the algorithm of calls for which all of its conditions hold. The first rule that
// matches a call and whose algorithm serves it counts.
type Rule = selection.Rule

// Tuning is a table of rules, which were measured or written by hand, that say which algorithm a call gets. They count
// before the built-in ones, which are for the calls that none of them is for. `collperf -tune` makes one, as a file,
// and `collgen gen -tune` builds it in.
type Tuning = selection.Table

// DecodeTuning reads a table of at most 8 MiB, in JSON:
//
//	{
//	  "machine": "2 cores of …", "date": "2026-11-21", "command": "collperf -tune …",
//	  "rules": {
//	    "AllReduce": [
//	      {"transport": "shm", "maxSize": 2, "maxBytes": 16384, "algorithm": "recursive-doubling"},
//	      {"transport": "shm", "algorithm": "ring"}
//	    ]
//	  }
//	}
//
// The first rule counts whose conditions all hold; [Rule] has them. It fails, naming the place, if something is not
// known or has another form, if an algorithm does not serve what its rule is for, and if a rule never counts because of
// those before it.
func DecodeTuning(from io.Reader) (*Tuning, error) {
	t, err := selection.Decode(from)
	if err != nil {
		return nil, err
	}
	return t, checkTuning(t)
}

// checkTuning checks what t says against what is there.
func checkTuning(t *Tuning) error {
	algorithms := make(map[string][]selection.Algorithm)
	for _, k := range collectives {
		algorithms[k.Name] = k.Selectable()
	}
	return t.Check(algorithms)
}

func tunedByFile(path string) (tuned, error) {
	f, err := os.Open(path)
	if err != nil {
		return tuned{}, err
	}
	defer f.Close()
	t, err := selection.Decode(f)
	if err != nil {
		return tuned{}, err
	}
	return tunedBy(t, path)
}

// tunedBy returns a copy of what t says.
func tunedBy(t *Tuning, name string) (tuned, error) {
	if t == nil {
		return tuned{}, nil
	}
	made := tuned{name, make(map[*exec.Collective][]Rule)}
	for _, k := range collectives {
		made.rules[k] = append([]Rule(nil), t.Rules[k.Name]...)
	}
	return made, checkTuning(t)
}
