package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/collgen/collgen/internal/scratch"
)

//go:embed measure.h mpi.c gloo.cc
var sources embed.FS

// workshop is a folder with all that was built, and what did not build, with the reason. It is also the temporary
// folder of everything that runs, so that nothing is left behind when it is removed.
type workshop struct {
	dir      string
	close    func()            // removes it
	cores    string            // a list as taskset has it
	programs map[string]string // by peer, and ours
	missing  map[string]error
}

func newWorkshop(cores string) (*workshop, error) {
	dir, remove, err := scratch.Dir("peers")
	return &workshop{dir: dir, close: remove, cores: cores, programs: make(map[string]string), missing: make(map[string]error)}, err
}

// build builds collperf and the programs of some peers. That of a peer which does not build is missing; collperf has
// to.
func (w *workshop) build(ctx context.Context, who []*peer) error {
	if err := os.CopyFS(w.dir, sources); err != nil {
		return err
	}
	w.programs[ours] = filepath.Join(w.dir, "collperf")
	if err := w.compile(ctx, "go", "build", "-o", w.programs[ours], "github.com/collgen/collgen/cmd/collperf"); err != nil {
		return fmt.Errorf("building collperf: %w", err)
	}
	for _, p := range who {
		if ctx.Err() != nil {
			break
		}
		program := filepath.Join(w.dir, strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(p.name)))
		command := append(append([]string{}, p.compile...), "-o", program, filepath.Join(w.dir, p.source))
		err := errors.Join(p.startable(), w.compile(ctx, append(command, p.link...)...))
		switch {
		case err == nil:
			w.programs[p.name] = program
		case ctx.Err() == nil:
			w.missing[p.name] = err
		}
	}
	return context.Cause(ctx)
}

// startable reports whether the launcher is there.
func (p *peer) startable() error {
	if p.launcher == nil {
		return nil
	}
	_, err := exec.LookPath(p.launcher[0])
	return err
}

func (w *workshop) compile(ctx context.Context, command ...string) error {
	if _, err := exec.LookPath(command[0]); err != nil {
		return err
	}
	_, err := run(ctx, command, os.Environ())
	return err
}
