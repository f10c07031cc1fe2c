// Command mutate tells how well mistakes are found: it makes them, one at a time, and has what guards against them
// look. Its mutants are of four kinds:
//
//   - schedules with one instruction changed, and algorithms with one node or expression changed, which package verify has to
//     refuse, unless they mean the same as before; about mutated algorithms the stages are asked as well that compare generated
//     code with schedules, and that prove for every number of ranks;
//   - bugs of other libraries, planted in our algorithms and sources (verify/bugs);
//   - source code of the packages of subjects.go, which tests have to find (-code);
//   - configurations of tlaplus that take a guard out of a model. These are only counted here: make tla checks them.
//
// It prints a table, or a line for each mutant with what killed it (-list), and fails if a mutant of the first two
// kinds, or more than a tenth of the third, is not found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	root     string
	long     bool
	code     int
	seed     uint64
	time     time.Duration
	workers  int
	journal  string
	again    bool
	known    bool
	write    bool
	only     string
	packages string
	list     bool
	json     bool
}

func main() {
	o := options{}
	flag.StringVar(&o.root, "C", ".", "the module's root `directory`")
	flag.BoolVar(&o.long, "long", false, "try every mutant of schedules and algorithms")
	flag.IntVar(&o.code, "code", 0, "try so `many` mutants of the source code of each package; -1: all")
	flag.Uint64Var(&o.seed, "seed", 1, "which mutants of source code these are")
	flag.DurationVar(&o.time, "for", 12*time.Hour, "begin no more mutants of source code after this `time`")
	flag.IntVar(&o.workers, "j", 2, "how `many` mutants of source code are tried at once")
	flag.StringVar(&o.journal, "journal", "", "keep outcomes of mutants of source code in `file`, and do not try again what is there")
	flag.BoolVar(&o.again, "again", false, "try again what survived, according to the journal")
	flag.BoolVar(&o.known, "known", false, "try no mutants of source code but those that the journal has")
	flag.BoolVar(&o.write, "write", false, "write docs/lab/bugs.md, and what was found to docs/lab/mutants.md")
	flag.StringVar(&o.only, "only", "", "only mutants of `these`, with commas between them: schedules, algorithms, bugs, models, code")
	flag.StringVar(&o.packages, "packages", "", "mutants of the source code of `these` packages alone, with commas between them")
	flag.BoolVar(&o.list, "list", false, "print every mutant, the stage that killed it, and the words of the failure")
	flag.BoolVar(&o.json, "json", false, "write JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries what the options say, prints the report, and writes the pages.
func run(ctx context.Context, o options) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	if o.write && o.only+o.packages != "" {
		return errors.New("-write writes pages of all mutants, and -only and -packages leave some out")
	}
	o.root = root
	p := short
	if o.long {
		p = long
	}
	r, err := tryAll(ctx, o, p)
	if err != nil {
		return err
	}
	switch {
	case o.json:
		err = r.encode(os.Stdout, o.list)
	case o.list:
		fmt.Print(r.list())
	default:
		fmt.Print(r.table())
	}
	if o.write {
		err = errors.Join(err, r.write(o.root))
	}
	return errors.Join(err, r.verdict())
}

// tryAll fills a report in, one kind of mutant after the other.
func tryAll(ctx context.Context, o options, p plan) (*report, error) {
	r := &report{command: strings.Join(append([]string{"go run ./verify/mutate"}, os.Args[1:]...), " ")}
	steps := []struct {
		of string
		do func() error
	}{
		{"schedules", func() error { return r.schedules(p.schedules) }},
		{"algorithms", func() error { return r.algorithms(ctx, o, p) }},
		{"bugs", func() error { return r.bugsInAlgorithms(ctx, o) }},
		{"bugs", func() error { return r.bugsInSources(ctx, o.root) }},
		{"models", func() error { return r.models(o.root) }},
		{"code", func() error { return r.code(ctx, o) }},
	}
	for _, step := range steps {
		isAsked := o.only == "" || slices.Contains(strings.Split(o.only, ","), step.of)
		if !isAsked || step.of == "code" && o.code == 0 {
			continue
		}
		if err := step.do(); err != nil {
			return nil, err
		}
	}
	if len(r.rows) == 0 {
		return nil, errors.New("that is nothing")
	}
	return r, nil
}
