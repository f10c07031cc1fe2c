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

// Algorithms returns the names, for WithAlgorithm, of a collective's algorithms; nil if Collectives does not have it.
// Some algorithms are only for certain numbers of ranks or ops: other calls get ErrInvalidArgument.
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

// Rule is a line of a selection table: the algorithm for calls that meet all of its conditions. The first rule that a
// call meets, and whose algorithm can serve it, counts.
type Rule = selection.Rule

// Tuning is a table of rules, measured or written by hand, that say which algorithm a call gets. The built-in rules are
// for calls that meet none of them. `collperf -tune` writes a table to a file, and `collgen gen -tune` builds it in.
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
// [Rule] has the conditions. DecodeTuning returns an error that names the place if a name is unknown or the form is
// wrong, if an algorithm cannot serve the calls of its rule, or if a rule can never count because of those before it.
func DecodeTuning(from io.Reader) (*Tuning, error) {
	t, err := selection.Decode(from)
	if err != nil {
		return nil, err
	}
	return t, checkTuning(t)
}

// checkTuning checks the collectives and algorithms that t names.
func checkTuning(t *Tuning) error {
	algorithms := make(map[string][]selection.Algorithm)
	for _, k := range collectives {
		algorithms[k.Name] = k.Selectable()
	}
	return t.Check(algorithms)
}

// tunedByFile returns the table in a file.
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

// tunedBy returns a copy of t, which errors call name.
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
