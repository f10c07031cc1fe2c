// Command mutate tells how well mistakes are found: it makes them, one at a time, and has what guards against them look. Its
// mutants are of four kinds:
//
//   - schedules with one instruction changed, and algorithms with one node or expression changed, which package verify has to
//     refuse, unless they mean the same as before;
//   - the museum: real bugs of other libraries, planted in our algorithms and sources;
//   - source code of packages spec, gen and verify, which tests have to find (-code);
//   - configurations of tlaplus that take a guard out of a model. These are only counted here: make tla checks them.
//
// It prints a table, and fails if a mutant of the first two kinds, or more than a tenth of the third, is not found.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// options are the flags.
type options struct {
	root    string
	long    bool
	code    int
	seed    uint64
	time    time.Duration
	workers int
	journal string
	again   bool
	write   bool
	json    bool
}

func main() {
	o := options{}
	flag.StringVar(&o.root, "C", ".", "the module's root `directory`")
	flag.BoolVar(&o.long, "long", false, "try every mutant of schedules and algorithms, and plant the museum's bugs in source code, too")
	flag.IntVar(&o.code, "code", 0, "try so `many` mutants of the source code of each package; -1: all")
	flag.Uint64Var(&o.seed, "seed", 1, "which mutants of source code these are")
	flag.DurationVar(&o.time, "for", 12*time.Hour, "begin no more mutants of source code after this `time`")
	flag.IntVar(&o.workers, "j", 2, "how `many` mutants of source code are tried at once")
	flag.StringVar(&o.journal, "journal", "", "keep outcomes of mutants of source code in `file`, and do not try again what is there")
	flag.BoolVar(&o.again, "again", false, "try again what survived, according to the journal")
	flag.BoolVar(&o.write, "write", false, "write docs/museum.md, and what was found to docs/mutants.md")
	flag.BoolVar(&o.json, "json", false, "write JSON")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries what the options say, prints the report, and writes the pages.
func run(o options) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	o.root = root
	p := short
	if o.long {
		p = long
	}
	r, err := tryAll(o, p)
	if err != nil {
		return err
	}
	if o.json {
		err = r.encode(os.Stdout)
	} else {
		fmt.Print(r.table())
	}
	if o.write {
		err = errors.Join(err, r.write(o.root))
	}
	return errors.Join(err, r.verdict())
}

// tryAll fills a report in, one kind of mutant after the other.
func tryAll(o options, p plan) (*report, error) {
	r := &report{}
	steps := []func() error{
		func() error { return r.schedules("schedules", p.schedules, scheduleMutants) },
		func() error { return r.schedules("algorithms", p.algorithms, algorithmMutants) },
		r.museumOfSchedules,
		func() error { return r.models(o.root) },
	}
	if o.long {
		steps = append(steps, func() error { return r.museumOfSources(o.root) })
	}
	if o.code != 0 {
		steps = append(steps, func() error { return r.code(o) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r, nil
}
