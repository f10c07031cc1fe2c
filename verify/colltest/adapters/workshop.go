package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/internal/scratch"
	"github.com/collgen/collgen/verify/colltest"
	"github.com/collgen/collgen/verify/colltest/remote"
)

//go:embed adapter.h mpi.c gloo.cc
var sources embed.FS

// workshop is a folder with what was built.
type workshop struct {
	dir   string
	built map[string]error // by compiler
	close func()           // removes it
}

func newWorkshop() (*workshop, error) {
	dir, remove, err := scratch.Dir("adapters")
	if err != nil {
		return nil, err
	}
	return &workshop{dir, map[string]error{}, remove}, os.CopyFS(dir, sources)
}

// build returns the adapter of e, built once for all entrants that have the same.
func (w *workshop) build(ctx context.Context, e *entrant) (string, error) {
	name := e.compile[0]
	program := filepath.Join(w.dir, "adapter-"+name)
	if err, done := w.built[name]; done {
		return program, err
	}
	args := slices.Concat(e.compile[1:], []string{"-o", program, filepath.Join(w.dir, e.source)}, e.link)
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	w.built[name] = err
	return program, err
}

// enter builds e and tests it.
func (w *workshop) enter(ctx context.Context, e *entrant, o options) *result {
	r := &result{entrant: e, failures: map[string][]*colltest.Failure{}}
	program, err := w.build(ctx, e)
	if err != nil {
		r.missing = err
		return r
	}
	if r.missing = r.test(ctx, program, o); r.missing != nil {
		r.tested = nil
	}
	return r
}

// test tests the entrant's program.
func (r *result) test(ctx context.Context, program string, o options) error {
	var command []string
	for _, word := range r.entrant.command {
		command = append(command, strings.ReplaceAll(word, "{adapter}", program))
	}
	job, err := remote.NewJob(ctx, command, nil, sizes(o.ranks))
	if err != nil {
		return err
	}
	if job.Can, err = job.Can.Without(r.entrant.without...); err != nil {
		return err
	}
	s := colltest.NewSuite(job)
	s.Patience, s.Cases = 20*time.Second, o.checks
	for _, x := range job.Can.Primitives {
		if name := x.Primitive.Name; chosen(name, r.entrant.primitives) && chosen(name, o.primitives) {
			if found := s.Check(ctx, x); len(found) > 0 {
				r.failures[name] = found
			}
		}
	}
	r.name, r.tested, r.untested = job.Can.Name, s.Tested, s.Untested()
	return s.Close()
}

func chosen(name string, from []string) bool { return len(from) == 0 || slices.Contains(from, name) }

func sizes(most int) (all []int) {
	for n := 1; n <= most; n++ {
		all = append(all, n)
	}
	return all
}
