package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/internal/peerlibs"
	"github.com/collgen/collgen/internal/scratch"
	"github.com/collgen/collgen/verify/colltest"
	"github.com/collgen/collgen/verify/colltest/remote"
)

//go:embed adapter.h mpi.c gloo.cc collgen_conform.py torch_adapter.py mpi4py_adapter.py
var sources embed.FS

// workshop is a folder with what was built.
type workshop struct {
	dir   string
	built map[string]*program // by how it was compiled
	close func()              // removes it
}

// program is an adapter, or why there is none.
type program struct {
	path string
	err  error
}

func newWorkshop() (*workshop, error) {
	dir, remove, err := scratch.Dir("adapters")
	if err != nil {
		return nil, err
	}
	return &workshop{dir, map[string]*program{}, remove}, os.CopyFS(dir, sources)
}

// build returns the adapter of e, built once for all entrants that have the same.
func (w *workshop) build(ctx context.Context, e *entrant) (string, error) {
	source := filepath.Join(w.dir, e.source)
	if e.compile == nil {
		return source, nil
	}
	compile := peerlibs.Placed(e.compile...)
	key := strings.Join(append(compile, e.source), " ")
	if p, done := w.built[key]; done {
		return p.path, p.err
	}
	p := &program{path: filepath.Join(w.dir, fmt.Sprintf("adapter-%d", len(w.built)))}
	args := slices.Concat(compile[1:], []string{"-o", p.path, source}, e.link)
	out, err := exec.CommandContext(ctx, compile[0], args...).CombinedOutput()
	if err != nil {
		p.err = fmt.Errorf("%s: %w\n%s", compile[0], err, out)
	}
	w.built[key] = p
	return p.path, p.err
}

// enter builds e and tests it.
func (w *workshop) enter(ctx context.Context, e *entrant, o options) *result {
	r := &result{entrant: e, failures: map[string][]*colltest.Failure{}, missing: e.absent()}
	if r.missing != nil {
		return r
	}
	adapter, err := w.build(ctx, e)
	if err != nil {
		r.missing = err
		return r
	}
	if r.missing = r.test(ctx, adapter, o); r.missing != nil {
		r.tested = nil
	}
	return r
}

// test tests the entrant's adapter.
func (r *result) test(ctx context.Context, adapter string, o options) error {
	command := peerlibs.Placed(r.entrant.command...)
	for i, word := range command {
		command[i] = strings.ReplaceAll(word, "{adapter}", adapter)
	}
	job, err := remote.NewJob(ctx, command, nil, sizes(o.ranks))
	if err != nil {
		return err
	}
	if job.Can, err = job.Can.Without(r.entrant.without...); err != nil {
		return err
	}
	s := colltest.NewSuite(job)
	s.Patience, s.Shrinking, s.Failures, s.Cases = 20*time.Second, 5*time.Second, 3, o.checks
	for _, x := range job.Can.Primitives {
		if name := x.Primitive.Name; chosen(name, r.entrant.primitives) && chosen(name, o.primitives) {
			found := s.Check(ctx, x)
			more, err := r.entrant.tryKnown(ctx, job, name, found)
			if err != nil {
				return errors.Join(err, s.Close())
			}
			if found = append(found, more...); len(found) > 0 {
				r.failures[name] = found
			}
		}
	}
	all := len(r.entrant.primitives) == 0 && len(o.primitives) == 0
	if all && len(r.entrant.known) == 0 { // what fails alone fails here, too
		if found := s.Check(ctx, job.Can.Primitives...); len(found) > 0 {
			r.failures[colltest.Mixed] = found
		}
	}
	r.name, r.tested, r.untested = job.Can.Name, s.Tested, s.Untested()
	r.version = r.entrant.versionOf(ctx, r.name)
	return s.Close()
}

// number is a version in a text.
var number = regexp.MustCompile(`\d+(\.\d+)+\S*[^\s,]`)

// versionOf returns the library's version, from what the adapter says or from the command that prints it.
func (e *entrant) versionOf(ctx context.Context, name string) string {
	if len(e.version) > 0 {
		out, _ := exec.CommandContext(ctx, e.version[0], e.version[1:]...).Output() // if it fails, there is no version
		name = string(out)
	}
	return number.FindString(name)
}

func chosen(name string, from []string) bool { return len(from) == 0 || slices.Contains(from, name) }

func sizes(most int) (all []int) {
	for n := 1; n <= most; n++ {
		all = append(all, n)
	}
	return all
}
