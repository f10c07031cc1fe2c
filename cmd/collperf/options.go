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

	"github.com/collgen/collgen/fast"
)

// options are the command line.
type options struct {
	operations []operation
	settings   []setting
	launch     *fast.Launch // this process's place in the job of a launcher; nil: there is none

	first, last size
	factor      int
	iterations  int
	warmUp      int
	check       int
	cycles      int

	element element
	folding folding
	root    int
	places  []bool // whether in place, in the order of the columns

	algorithm string
	depth     int

	pin     *bool // nil: if there are enough cores
	heap    bool
	garbage bool
	overlap bool
	limits  bool
	tune    bool
	comms   int
	spread  bool

	format string
	plot   string // a file; "": no plot
}

// setting is ranks that measure together.
type setting struct {
	transport string // "" under a launcher: what it has chosen
	ranks     int    // 0 under a launcher
}

// given are the flags that are lists, as text.
type given struct{ ranks, transports, op, element, place string }

// parse reads a command line, in which flags may stand anywhere. -h is flag.ErrHelp, after the explanation.
func parse(args []string, stdout io.Writer) (*options, error) {
	o, g := &options{first: 8, last: 64 << 20}, new(given)
	f := o.flags(g)
	var words []string
	for {
		err := f.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			explain(f, stdout)
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
	if err := errors.Join(o.choose(words), o.understand(g), o.settle(g), o.validate()); err != nil {
		return nil, usageError{err}
	}
	return o, nil
}

func (o *options) flags(g *given) *flag.FlagSet {
	f := flag.NewFlagSet("collperf", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&g.ranks, "ranks", "", "`numbers` of ranks to start, such as 2 or 2,4 (default: one per core)")
	f.StringVar(&g.transports, "transport", "", "`list` of shm, tcp and inproc, which is goroutines (default: the launcher's, or "+
		defaultTransport()+")")
	f.Var(&o.first, "b", "`size` to begin with, in bytes; K, M and G are 1024, 1024² and 1024³")
	f.Var(&o.last, "e", "`size` to end with")
	f.IntVar(&o.factor, "f", 2, "`factor` between sizes")
	f.IntVar(&o.iterations, "n", 20, "`number` of times to take: of calls, or up to 32K of batches of at least 1 ms (and at least 11)")
	f.IntVar(&o.warmUp, "w", 5, "`number` of calls before, whose times do not count")
	f.IntVar(&o.check, "c", 1, "`number` of calls after, whose results are checked; 0: do not check")
	f.IntVar(&o.cycles, "N", 1, "`number` of times to do all of it")
	f.StringVar(&g.op, "o", "sum", "reduction `operator`: "+strings.Join(names(foldings, opName), ", "))
	f.StringVar(&g.element, "d", "float32", "element `type`: "+strings.Join(names(elements, elementName), ", "))
	f.IntVar(&o.root, "r", 0, "`rank` of the root")
	f.StringVar(&g.place, "place", "both", "`where` results go: in (place), out (of place) or both")
	f.StringVar(&o.algorithm, "algorithm", "", "`name` of the algorithm to use instead of what the table selects")
	f.IntVar(&o.depth, "depth", 0, "`number` of pieces that a pipelined algorithm cuts chunks into; 0: the table's")
	f.BoolFunc("pin", "keep rank i on core i, modulo cores (default: if there are enough cores; never goroutines)", o.setPin)
	f.BoolVar(&o.heap, "heap", false, "take buffers from the Go heap, instead of memory on huge pages")
	f.BoolVar(&o.garbage, "gc", false, "have a goroutine beside that makes garbage to collect")
	f.BoolVar(&o.overlap, "overlap", false, "measure how much of a started call is hidden behind computing")
	f.BoolVar(&o.limits, "limits", false, "measure what this machine can do at best instead: memory, hand-offs between cores, TCP")
	f.BoolVar(&o.tune, "tune", false, "measure every algorithm instead, and write a table for COLL_TUNE and collgen gen -tune")
	f.IntVar(&o.comms, "comms", 0, "measure instead what that `number` of communicators cost, in memory and time")
	f.BoolVar(&o.spread, "percentiles", false, "show percentiles in text, which the other formats always do")
	f.StringVar(&o.plot, "plot", "", "draw bandwidth and time over size, with the machine's limits, to a `file`, as SVG")
	f.StringVar(&o.format, "format", "text", "`how` to print: "+strings.Join(names(formats, formatName), ", "))
	return f
}

func opName(f folding) string          { return f.op.String() }
func elementName(e element) string     { return e.name }
func operationName(o operation) string { return o.name }
func formatName(f format) string       { return f.name }

func (o *options) setPin(text string) error {
	on, err := strconv.ParseBool(text)
	o.pin = &on
	return err
}

// choose finds the operations that words name.
func (o *options) choose(words []string) error {
	if len(words) == 0 {
		words = []string{operations[0].name}
	}
	for _, w := range words {
		op, ok := operationOf(w)
		switch {
		case ok:
			o.operations = append(o.operations, op)
		case w == "all":
			o.operations = append(o.operations, operations...)
		default:
			return fmt.Errorf("there is no operation %q; there are all, %s", w, strings.Join(names(operations, operationName), ", "))
		}
	}
	return nil
}

// understand finds what names stand for.
func (o *options) understand(g *given) error {
	var ok bool
	if o.element, ok = elementNamed(g.element); !ok {
		return fmt.Errorf("-d %s: there are %s", g.element, strings.Join(names(elements, elementName), ", "))
	}
	if o.folding, ok = foldingNamed(g.op); !ok {
		return fmt.Errorf("-o %s: there are %s", g.op, strings.Join(names(foldings, opName), ", "))
	}
	if o.places, ok = map[string][]bool{"both": {false, true}, "out": {false}, "in": {true}}[g.place]; !ok {
		return fmt.Errorf("-place %s: want in, out or both", g.place)
	}
	if !slices.Contains(names(formats, formatName), o.format) {
		return fmt.Errorf("-format %s: there are %s", o.format, strings.Join(names(formats, formatName), ", "))
	}
	return nil
}

// settle says which ranks there will be.
func (o *options) settle(g *given) error {
	if l, err := fast.Detect(); err == nil {
		o.launch = &l
		return o.join(g)
	}
	if g.ranks == "" {
		g.ranks = strconv.Itoa(runtime.NumCPU())
	}
	if g.transports == "" {
		g.transports = defaultTransport()
	}
	for _, t := range strings.Split(g.transports, ",") {
		if t != "shm" && t != "tcp" && t != inproc {
			return fmt.Errorf("-transport %s: want shm, tcp or inproc", t)
		}
		for _, n := range strings.Split(g.ranks, ",") {
			ranks, err := strconv.Atoi(n)
			if err != nil || ranks < 1 {
				return fmt.Errorf("-ranks %s: want numbers, at least 1", g.ranks)
			}
			o.settings = append(o.settings, setting{t, ranks})
		}
	}
	return nil
}

// join takes the ranks as the launcher has made them. Ranks that collperf itself has started get the flags that were
// meant for the one that started them.
func (o *options) join(g *given) error {
	s := setting{ranks: o.launch.Size}
	if !isRank() {
		s.transport = g.transports
		switch {
		case g.ranks != "":
			return fmt.Errorf("-ranks is for ranks that collperf starts; this is rank %d of %d already: %s",
				o.launch.Rank, o.launch.Size, o.launch.Reason)
		case s.transport != "" && s.transport != "shm" && s.transport != "tcp":
			return fmt.Errorf("-transport %s: under a launcher, want shm or tcp", s.transport)
		}
	}
	o.settings = []setting{s}
	return nil
}

func (o *options) validate() error {
	switch {
	case o.first > o.last:
		return fmt.Errorf("-b %v is more than -e %v", &o.first, &o.last)
	case o.factor < 2:
		return fmt.Errorf("-f %d: want at least 2", o.factor)
	case o.iterations < 1 || o.cycles < 1:
		return errors.New("-n and -N: want at least 1")
	case o.warmUp < 0 || o.check < 0 || o.depth < 0 || o.comms < 0:
		return errors.New("-w, -c, -depth and -comms cannot be negative")
	case o.folding.integers && !o.element.integer:
		return fmt.Errorf("-o %v is for integers, not for %s", o.folding.op, o.element.name)
	}
	if _, err := os.Stat(filepath.Dir(o.plot)); err != nil {
		return fmt.Errorf("-plot: %w", err)
	}
	for _, s := range o.settings {
		if o.root < 0 || o.root >= s.ranks {
			return fmt.Errorf("-r %d: there are %d ranks", o.root, s.ranks)
		}
		for _, op := range o.operations {
			if s.ranks < op.least {
				return fmt.Errorf("%s takes %d ranks", op.name, op.least)
			}
		}
		if o.check > 0 && s.ranks > o.element.exact {
			return fmt.Errorf("sums of %s over %d ranks are not exact, so that they cannot be checked: want -c 0", o.element.name, s.ranks)
		}
	}
	return nil
}
