// Command mutate measures how well mistakes are found. It plants them, one at a time, and runs the checks that have to
// find them. There are four kinds of mutants:
//
//   - schedules with one instruction changed, and algorithms with one node or expression changed. Package verify has to
//     refuse them, unless their meaning is the same. Two other stages of make prove are asked about mutated algorithms:
//     the one that compares generated code with schedules, and the one that proves every number of ranks;
//   - bugs of other libraries, planted in our algorithms and sources (verify/bugs);
//   - source code of the packages in subjects.go, which tests have to find (-code);
//   - configurations of tlaplus that remove a guard from a model. They are only counted here: make tla checks them.
//
// It prints a table, or a line for each mutant with what killed it (-list). It fails if a mutant of the first two kinds
// survives, or more than a tenth of the third.
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
	flag.IntVar(&o.code, "code", 0, "`number` of mutants to try of the source code of each package; -1: all")
	flag.Uint64Var(&o.seed, "seed", 1, "seed that selects the mutants of source code")
	flag.DurationVar(&o.time, "for", 12*time.Hour, "start no more mutants of source code after this `time`")
	flag.IntVar(&o.workers, "j", 2, "`number` of mutants of source code to try at once")
	flag.StringVar(&o.journal, "journal", "", "`file` that keeps outcomes of mutants of source code, which are not "+
		"tried again")
	flag.BoolVar(&o.again, "again", false, "try mutants again that survived according to the journal")
	flag.BoolVar(&o.known, "known", false, "try only mutants of source code that the journal has")
	flag.BoolVar(&o.write, "write", false, "write docs/lab/bugs.md, and the results to docs/lab/mutants.md")
	flag.StringVar(&o.only, "only", "", "comma-separated `kinds` of mutants to try: schedules, algorithms, bugs, "+
		"models, code")
	flag.StringVar(&o.packages, "packages", "", "comma-separated `packages` whose source code is mutated")
	flag.BoolVar(&o.list, "list", false, "print every mutant, the stage that killed it, and the text of the failure")
	flag.BoolVar(&o.json, "json", false, "write JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries the mutants that the options select, prints the report, and writes the pages.
func run(ctx context.Context, o options) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	if o.write && o.only+o.packages != "" {
		return errors.New("-write writes pages about all mutants: it excludes -only and -packages")
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

// tryAll returns the report on all kinds of mutants that are selected.
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
		return nil, errors.New("no mutants are selected")
	}
	return r, nil
}
