package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/figures"
)

// options are the command line.
type options struct {
	operations []operation
	settings   []setting
	launch     *fast.Launch // this process's place in the job of a launcher; nil: there is none

	first, last figures.Size
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
	home    home
	garbage bool
	overlap bool
	idle    bool
	limits  bool
	tune    bool
	keep    string        // the file of a table that -tune goes on with; "": none
	limit   time.Duration // after which -tune begins nothing more; 0: it measures to the end
	comms   int
	spread  bool

	format string
	plot   string // a file; "": no plot
}

// maxTimes is how many times are kept of one measurement.
const maxTimes = 1 << 24

// setting is ranks that measure together.
type setting struct {
	transport string // "" under a launcher: what it has chosen
	ranks     int    // 0 under a launcher
}

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
	if err := errors.Join(notEmpty(f), o.choose(words), o.understand(g), o.settle(g), o.validate()); err != nil {
		return nil, usageError{err}
	}
	return o, nil
}

// notEmpty refuses texts that are given and are empty.
func notEmpty(f *flag.FlagSet) (err error) {
	f.Visit(func(g *flag.Flag) {
		if v, ok := g.Value.(flag.Getter); ok && v.Get() == "" {
			err = errors.Join(err, fmt.Errorf("-%s has no value", g.Name))
		}
	})
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

func (o *options) validate() error {
	switch {
	case o.first > o.last:
		return fmt.Errorf("-b %v is more than -e %v", &o.first, &o.last)
	case o.factor < 2:
		return fmt.Errorf("-f %d: want at least 2", o.factor)
	case o.iterations < 1 || o.iterations > maxTimes || o.cycles < 1:
		return fmt.Errorf("-n: want 1 to %d; -N: want at least 1", maxTimes)
	case (o.keep != "" || o.limit != 0) && !o.tune:
		return errors.New("-keep and -for are for -tune")
	case o.limit < 0 || o.limit > 0 && o.keep == "":
		return errors.New("-for takes -keep: what is measured has to be somewhere")
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
		if o.check > 0 && int64(s.ranks) > o.element.exact {
			return fmt.Errorf("sums of %s over %d ranks are not exact, so that they cannot be checked: want -c 0", o.element.name, s.ranks)
		}
	}
	return nil
}
