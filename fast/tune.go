package fast

import (
	"io"
	"os"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/selection"
)

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

// tuned is what a Tuning says, by the collective, once it was checked.
type tuned struct {
	name  string // of the table, for people
	rules map[*exec.Collective][]Rule
}

// rulesFor returns the rules for k.
func (t *tuned) rulesFor(k *exec.Collective) []Rule { return t.rules[k] }

// tuningName returns the name of the table that counts before the built-in ones; "": there is none.
func (c *Comm) tuningName() string {
	if c.world == nil {
		return ""
	}
	return c.world.tuned.name
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
