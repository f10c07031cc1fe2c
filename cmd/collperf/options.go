package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/ranks"
	"github.com/collgen/collgen/fast"
)

// options are the command line.
type options struct {
	bench.Config
	starter  ranks.Starter
	settings []ranks.Setting

	// What is done instead of measuring operations.
	limits bool
	tune   bool
	comms  int // the number of communicators; 0: operations are measured

	quick       bool          // -tune measures less
	keep        string        // the file of the table that -tune continues; "": none
	limit       time.Duration // after which -tune measures no further point; 0: no limit
	percentiles bool
	format      string
	plot        string // a file; "": no plot
}

// maxTimes is the largest number of times that one measurement keeps.
const maxTimes = 1 << 24

// parse parses a command line, in which flags may be anywhere. For -h it prints the help and returns flag.ErrHelp.
func parse(args []string, stdout io.Writer) (*options, error) {
	o, g := &options{Config: bench.Config{First: 8, Last: 64 << 20}}, new(lists)
	f := o.flags(g)
	var words []string
	for {
		err := f.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			printHelp(f, stdout)
			return nil, err
		}
		if err != nil {
			return nil, usageError{err}
		}
		if f.NArg() == 0 {
			break
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
	if o.quick {
		words = o.quicken(f, words)
	}
	if err := errors.Join(notEmpty(f), o.findOperations(words), o.findNames(g), o.findRanks(g), o.validate()); err != nil {
		return nil, usageError{err}
	}
	return o, nil
}

// notEmpty returns an error for each flag that has an empty text.
func notEmpty(f *flag.FlagSet) (err error) {
	f.Visit(func(g *flag.Flag) {
		if v, ok := g.Value.(flag.Getter); ok && v.Get() == "" {
			err = errors.Join(err, fmt.Errorf("-%s has no value", g.Name))
		}
	})
	return err
}

// findOperations finds the operations that words name.
func (o *options) findOperations(words []string) error {
	if len(words) == 0 {
		words = []string{bench.Operations[0].Name}
	}
	for _, w := range words {
		op, ok := bench.OperationNamed(w)
		switch {
		case ok:
			o.Operations = append(o.Operations, op)
		case w == "all":
			o.Operations = append(o.Operations, bench.Operations...)
		default:
			return fmt.Errorf("there is no operation %q; there are all, %s", w, strings.Join(operationNames(), ", "))
		}
	}
	return nil
}

// findNames finds the values of the flags that have names.
func (o *options) findNames(g *lists) error {
	var ok bool
	if o.Element, ok = bench.ElementNamed(g.element); !ok {
		return fmt.Errorf("-d %s: there are %s", g.element, strings.Join(elementNames(), ", "))
	}
	if o.Reduction, ok = bench.ReductionNamed(g.op); !ok {
		return fmt.Errorf("-o %s: there are %s", g.op, strings.Join(opNames(), ", "))
	}
	if o.Places, ok = map[string][]bool{"both": {false, true}, "out": {false}, "in": {true}}[g.place]; !ok {
		return fmt.Errorf("-place %s: want in, out or both", g.place)
	}
	if g.quantized != "" {
		i := slices.Index(quantizationNames(), g.quantized)
		if i < 0 {
			return fmt.Errorf("-quantized %s: there are %s", g.quantized, strings.Join(quantizationNames(), ", "))
		}
		o.Quantized = &bench.Quantizations[i]
	}
	if !slices.Contains(formatNames(), o.format) {
		return fmt.Errorf("-format %s: there are %s", o.format, strings.Join(formatNames(), ", "))
	}
	return nil
}

func (o *options) validate() error {
	switch {
	case o.First > o.Last:
		return fmt.Errorf("-b %v is more than -e %v", &o.First, &o.Last)
	case o.Factor < 2:
		return fmt.Errorf("-f %d: want at least 2", o.Factor)
	case o.Iterations < 1 || o.Iterations > maxTimes || o.Cycles < 1:
		return fmt.Errorf("-n: want 1 to %d; -N: want at least 1", maxTimes)
	case (o.keep != "" || o.limit != 0 || o.quick) && !o.tune:
		return errors.New("-keep, -for and -quick are for -tune")
	case o.limit < 0 || o.limit > 0 && o.keep == "":
		return errors.New("-for takes -keep: what is measured has to be somewhere")
	case o.WarmUp < 0 || o.Check < 0 || o.Depth < 0 || o.comms < 0:
		return errors.New("-w, -c, -depth and -comms cannot be negative")
	case o.Reproducible && (o.Reduction.Op != fast.Sum && o.Reduction.Op != fast.Avg || o.Hosts || o.tune):
		return errors.New("-reproducible is for -o sum and -o avg, without -hosts and -tune")
	case !o.Reduction.Op.Takes(o.Element.Type) && slices.ContainsFunc(o.Operations, bench.Operation.Reduces):
		return fmt.Errorf("-o %v is not for %s", o.Reduction.Op, o.Element.Name)
	}
	if err := errors.Join(o.validateHosts(), o.validateQuantized()); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(o.plot)); err != nil {
		return fmt.Errorf("-plot: %w", err)
	}
	for _, s := range o.settings {
		if o.Root < 0 || o.Root >= s.Ranks {
			return fmt.Errorf("-r %d: there are %d ranks", o.Root, s.Ranks)
		}
		for _, op := range o.Operations {
			if s.Ranks < op.MinRanks {
				return fmt.Errorf("%s takes %d ranks", op.Name, op.MinRanks)
			}
		}
		if o.Check > 0 && int64(s.Ranks) > o.Element.Exact {
			return fmt.Errorf("sums of %s over %d ranks are not exact, so that they cannot be checked: want -c 0",
				o.Element.Name, s.Ranks)
		}
	}
	return nil
}

// validateHosts returns an error if the calls of package hosts cannot be measured as the flags say.
func (o *options) validateHosts() error {
	if !o.Hosts {
		return nil
	}
	if o.Algorithm != "" || o.Depth != 0 || o.Overlap || o.tune {
		return errors.New("-hosts goes with none of -algorithm, -depth, -overlap and -tune")
	}
	for _, op := range o.Operations {
		if !op.InHosts() {
			return fmt.Errorf("-hosts: package fast/hosts has no %s", op.Name)
		}
	}
	return nil
}

// validateQuantized returns an error if quantized all-reduces cannot be measured as the flags say.
func (o *options) validateQuantized() error {
	if o.Quantized == nil {
		return nil
	}
	if !o.Hosts || o.Check > 0 {
		return errors.New("-quantized takes -hosts, and -c 0: its results are not exact")
	}
	if o.Element.Name != "float32" || o.Reduction.Op != fast.Sum && o.Reduction.Op != fast.Avg ||
		len(o.Operations) != 1 || o.Operations[0].Name != "all-reduce" {
		return errors.New("-quantized is for the all-reduce of float32, with -o sum or -o avg")
	}
	return nil
}

// findRanks finds the ranks that will measure.
func (o *options) findRanks(g *lists) error {
	switch l, err := fast.Detect(); {
	case err == nil:
		o.starter.Launch = &l
		return o.useLauncher(g)
	case !errors.Is(err, fast.ErrNoLauncher):
		return err
	}
	if g.ranks == "" {
		g.ranks = strconv.Itoa(runtime.NumCPU())
	}
	if g.transports == "" {
		g.transports = ranks.DefaultTransport()
	}
	for _, t := range strings.Split(g.transports, ",") {
		if !slices.Contains(ranks.Processes, t) && t != ranks.InProc {
			return fmt.Errorf("-transport %s: want shm, rdma, tcp or inproc", t)
		}
		for _, n := range strings.Split(g.ranks, ",") {
			count, err := strconv.Atoi(n)
			if err != nil || count < 1 {
				return fmt.Errorf("-ranks %s: want numbers, at least 1", g.ranks)
			}
			o.settings = append(o.settings, ranks.Setting{Transport: t, Ranks: count})
		}
	}
	return nil
}

// useLauncher takes the ranks from the launcher. Ranks that collperf itself has started have the flags of the process
// that started them, so that these are not checked.
func (o *options) useLauncher(g *lists) error {
	launch := o.starter.Launch
	s := ranks.Setting{Ranks: launch.Size}
	if !ranks.IsRank() {
		s.Transport = g.transports
		switch {
		case g.ranks != "":
			return fmt.Errorf("-ranks is for ranks that collperf starts; this is rank %d of %d already: %s",
				launch.Rank, launch.Size, launch.Reason)
		case s.Transport != "" && !slices.Contains(ranks.Processes, s.Transport):
			return fmt.Errorf("-transport %s: under a launcher, want shm, rdma or tcp", s.Transport)
		}
	}
	o.settings = []ranks.Setting{s}
	return nil
}
