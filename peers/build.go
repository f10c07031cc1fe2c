package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/collgen/collgen/internal/peerlibs"
)

// build builds collperf and the programs of some peers. A peer whose program does not build is missing; an error is
// only that collperf does not build, or the end of ctx.
func (r *runner) build(ctx context.Context, wanted []*peer) error {
	if err := os.CopyFS(r.dir, sources); err != nil {
		return err
	}
	r.programs[ours] = filepath.Join(r.dir, "collperf")
	if err := r.compile(ctx, "go", "build", "-o", r.programs[ours],
		"github.com/collgen/collgen/cmd/collperf"); err != nil {
		return fmt.Errorf("building collperf: %w", err)
	}
	for _, p := range wanted {
		if ctx.Err() != nil {
			break
		}
		program, err := r.buildPeer(ctx, p)
		switch {
		case err == nil:
			r.programs[p.name] = program
		case ctx.Err() == nil:
			r.missing[p.name] = err
		}
	}
	return context.Cause(ctx)
}

// buildPeer returns the path of a peer's program.
func (r *runner) buildPeer(ctx context.Context, p *peer) (string, error) {
	source := filepath.Join(r.dir, p.source)
	if p.has != nil {
		if err := r.compile(ctx, peerlibs.Placed(p.has...)...); err != nil {
			return "", err
		}
	}
	if p.compile == nil {
		return source, nil
	}
	program := filepath.Join(r.dir, strings.ReplaceAll(strings.ToLower(p.name), " ", "-"))
	command := append(peerlibs.Placed(p.compile...), "-o", program, source)
	return program, errors.Join(p.findLauncher(), r.compile(ctx, append(command, p.link...)...))
}

// findLauncher returns an error if p has a launcher that is not installed.
func (p *peer) findLauncher() error {
	if p.launcher == nil {
		return nil
	}
	_, err := exec.LookPath(peerlibs.Placed(p.launcher...)[0])
	return err
}

func (r *runner) compile(ctx context.Context, command ...string) error {
	if _, err := exec.LookPath(command[0]); err != nil {
		return err
	}
	_, err := run(ctx, command, os.Environ())
	return err
}
