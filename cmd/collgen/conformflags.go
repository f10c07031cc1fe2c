package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// conforming is what collgen conform has flags for.
type conforming struct {
	primitives string
	ranks      rankList
	checks     int
	seed       uint64
	patience   time.Duration
	starting   time.Duration
	shrinking  time.Duration
	failures   int
	large      bool
	soak       bool
	huge       bool
	without    string
	onlyCase   string
	matrix     matrix

	tap           bool
	junit, html   string // files
	baseline      string
	writeBaseline string
}

// soakCalls is how many calls each world of collgen conform -soak makes: more than 16 bits can count.
const soakCalls = 70_000

// testFlags registers the flags for what is tested, and how.
func (f *conforming) testFlags(flags *flag.FlagSet) {
	f.ranks = rankList{1, 2, 3, 4, 5, 6, 7, 8}
	flags.StringVar(&f.primitives, "primitives", "", "test these alone: `names`, such as AllReduce,Barrier")
	flags.Var(&f.ranks, "ranks", "`numbers` of ranks, such as 1,2,3 or 1..8")
	flags.IntVar(&f.checks, "checks", 15, "`number` of cases drawn at random for each primitive and number of ranks, "+
		"besides those for each type, op, form and length")
	flags.Uint64Var(&f.seed, "seed", 1, "the `number` that they are drawn from")
	flags.DurationVar(&f.patience, "patience", 20*time.Second, "a case that takes longer hangs, if it then does with "+
		"ten times as much")
	flags.DurationVar(&f.starting, "starting", time.Minute, "how long the command may take to start all ranks")
	flags.DurationVar(&f.shrinking, "shrinking", 30*time.Second, "how long a case that fails is made smaller")
	flags.IntVar(&f.failures, "failures", 5, "`number` of different failures after which the rest of a primitive is "+
		"left out")
	flags.BoolVar(&f.large, "large", false, "blocks of up to 16 MiB, too")
	flags.BoolVar(&f.soak, "soak", false, fmt.Sprintf("%d short calls on each number of ranks, too", soakCalls))
	flags.BoolVar(&f.huge, "huge", false, "calls with more than 2^31 bytes, too, which take 18 GiB of memory")
	flags.StringVar(&f.without, "without", "", "leave out what is `named`: primitives, types, ops, forms such as "+
		"Reduce/in-place, the values overflow, nan, minus-zero, empty blocks, and how calls are made: started, "+
		"batches, persistent, split, tags, wrong-root, wrong-counts")
	flags.StringVar(&f.onlyCase, "case", "", "make these calls alone: the `JSON` of a case that has failed")
	flags.Var(&f.matrix, "env", "test with each value of a variable: `NAME=a,b,c`, where - means unset, and \\ "+
		"goes before a comma, dash or backslash that is meant. Several -env: each combination")
}

// reportFlags registers the flags for what is written, and where.
func (f *conforming) reportFlags(flags *flag.FlagSet) {
	flags.BoolVar(&f.tap, "tap", false, "write TAP version 14 to standard output instead of the table")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML to `file`, anew after each primitive")
	flags.StringVar(&f.html, "html", "", "write a page of HTML to `file`, anew after each primitive")
	flags.StringVar(&f.baseline, "baseline", "", "a `file` of known failures: only others make the exit status 1")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write a `file` for -baseline: what has failed in this run, "+
		"and what -baseline knows besides and is not gone")
}

// check checks the command line.
func (f *conforming) check(c *call) error {
	switch {
	case len(c.command) == 0 || len(c.args) > 0:
		return errors.New("want a command after --, as in: collgen conform -- mpirun -n {n} ./adapter")
	case f.patience <= 0 || f.starting <= 0 || f.checks < 0 || f.failures < 1:
		return errors.New("-patience, -starting and -failures have to be more than 0, and -checks not less")
	case f.tap && c.json:
		return errors.New("-tap and -json exclude each other: both write to standard output")
	case f.onlyCase != "" && f.writeBaseline != "":
		return errors.New("-case and -write-baseline exclude each other: one case tells nothing of other failures")
	}
	return f.checkOutputs()
}

// checkOutputs returns an error if a file cannot be written anew: it is something else, or in no folder.
func (f *conforming) checkOutputs() error {
	written := map[string]bool{}
	for _, path := range []string{f.junit, f.html, f.writeBaseline} {
		if path == "" {
			continue
		}
		if name := filepath.Clean(path); written[name] || name == filepath.Clean(f.baseline) && path != f.writeBaseline {
			return fmt.Errorf("%s is the file of two flags", path)
		} else {
			written[name] = true
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file, which could be written anew", path)
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return nil
}
