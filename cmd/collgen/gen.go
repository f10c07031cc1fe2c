package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/emit/golang"
	"github.com/collgen/collgen/verify"
)

// errDiffers says that check found something.
var errDiffers = errors.New("the generated files are not what collgen gen would write")

// genCommand is collgen gen and collgen check.
type genCommand struct {
	*call
	check bool
	sizes sizeRange
	tune  string // the file of a table of rules; "": none
}

func prepareGen(c *call) runner { return newGenCommand(c, false) }

func prepareCheck(c *call) runner { return newGenCommand(c, true) }

func newGenCommand(c *call, check bool) *genCommand {
	x := &genCommand{call: c, check: check, sizes: sizeRange{1, maxSize}}
	c.tuneFlag(&x.tune)
	c.flags.Var(&x.sizes, "n", "prove for these `numbers` of ranks, from 1 on: calls with more are refused unless "+
		"collgen prove covers them")
	return x
}

// run runs collgen gen or collgen check.
func (c *genCommand) run(ctx context.Context) error {
	if c.check {
		return c.runCheck(ctx)
	}
	j, changes, err := c.changes(ctx)
	if err != nil {
		return err
	}
	for _, x := range changes {
		if err := x.write(); err != nil {
			return err
		}
	}
	c.progress.Clear()
	for _, words := range j.remarks() {
		fmt.Fprintln(c.stderr, words)
	}
	if c.json {
		return writeJSON(c.stdout, changes)
	}
	for _, x := range changes {
		if x.Change != "none" {
			fmt.Fprintf(c.stdout, "%s %s\n", x.Change, relativeName(x.path))
		}
	}
	return nil
}

// runCheck runs collgen check.
func (c *genCommand) runCheck(ctx context.Context) error {
	_, changes, err := c.changes(ctx)
	if err != nil {
		return err
	}
	var differences strings.Builder
	for i := range changes {
		x := &changes[i]
		x.Diff = x.diff()
		if !c.json {
			fmt.Fprint(c.stdout, x.Diff)
		}
		differences.WriteString(x.words())
	}
	if c.json {
		err = writeJSON(c.stdout, changes)
	}
	if err == nil && differences.Len() > 0 {
		err = fmt.Errorf("%w:%s", errDiffers, &differences)
	}
	return err
}

// changes generates a package in memory and compares.
func (c *genCommand) changes(ctx context.Context) (*job, []change, error) {
	if c.sizes.from != 1 {
		return nil, nil, usageError{fmt.Errorf("-n is %v: what is generated is for all numbers of ranks from 1 on", &c.sizes)}
	}
	s, err := open(ctx, c.arg("."))
	if err == nil {
		err = s.tune(c.tune)
	}
	if err != nil {
		return nil, nil, err
	}
	if c.sizes.to != maxSize {
		s.Command += " -n " + c.sizes.String()
	}
	j, err := generate(ctx, s, verify.Options{To: c.sizes.to}, c.progress)
	if err != nil {
		return nil, nil, err
	}
	changes, err := j.changes()
	return j, changes, err
}

// remarks returns a line for each algorithm that not every call gets unasked, since it was proved up to a size alone or
// no generated function calls it, and for each specification of the package that has no examples.
func (j *job) remarks() (lines []string) {
	told := map[string]bool{}
	for _, a := range j.algorithms {
		if p := a.Primitive; len(p.Examples) == 0 && !told[p.Name] && !isCatalogues(p) {
			told[p.Name] = true
			lines = append(lines, fmt.Sprintf("%s: the specification has no Examples, so nothing but itself says what is "+
				"meant; see \"collgen verify -spec\".", p.Name))
		}
		switch {
		case !j.isBuiltIn && !golang.HasFunction(a.Primitive):
			lines = append(lines, fmt.Sprintf("%s: no function is generated for %s, a primitive between two ranks: nothing "+
				"calls this algorithm.",
				a.FullName(), a.Primitive.Name))
		case a.every.Sizes == "" && !proofOf(a).All:
			lines = append(lines, fmt.Sprintf("%s: proved up to %s; calls beyond are refused. \"collgen prove -write\" "+
				"proves all, and "+
				"\"collgen gen -n 1..N\" more ranks.", a.FullName(), proofOf(a).Limits()))
		}
	}
	return lines
}

// changes compares what was generated with what there is.
func (j *job) changes() ([]change, error) {
	existing, err := j.existing()
	if err != nil {
		return nil, err
	}
	names := slices.Concat(slices.Collect(maps.Keys(existing)), slices.Collect(maps.Keys(j.files)))
	slices.Sort(names)
	var changes []change
	for _, name := range slices.Compact(names) {
		x := change{File: name, Change: "write", path: filepath.Join(j.dir, name), old: existing[name], new: j.files[name]}
		switch {
		case !isThere(filepath.Dir(x.path)): // of a copy of the package, with no C library beside it
			continue
		case x.new == nil:
			x.Change = "remove"
		case x.old == nil && isThere(x.path):
			return nil, fmt.Errorf("%s is in the way: collgen did not write it", relativeName(x.path))
		case bytes.Equal(x.old, x.new):
			x.Change = "none"
		}
		changes = append(changes, x)
	}
	return changes, nil
}
