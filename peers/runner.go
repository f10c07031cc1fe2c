package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/collgen/collgen/internal/scratch"
)

//go:embed measure.h mpi.c gloo.cc
var sources embed.FS

// runner builds the programs and runs them. Its folder is also the temporary folder of all that it runs, so that
// removing it leaves nothing behind.
type runner struct {
	dir      string
	close    func()            // removes dir
	cores    string            // a list, as taskset takes it
	programs map[string]string // by peer, and ours
	missing  map[string]error  // why a peer could not be built
}

func newRunner(cores string) (*runner, error) {
	dir, remove, err := scratch.Dir("peers")
	return &runner{dir: dir, close: remove, cores: cores, programs: make(map[string]string),
		missing: make(map[string]error)}, err
}

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
		program := filepath.Join(r.dir, strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(p.name)))
		command := append(append([]string{}, p.compile...), "-o", program, filepath.Join(r.dir, p.source))
		err := errors.Join(p.findLauncher(), r.compile(ctx, append(command, p.link...)...))
		switch {
		case err == nil:
			r.programs[p.name] = program
		case ctx.Err() == nil:
			r.missing[p.name] = err
		}
	}
	return context.Cause(ctx)
}

// findLauncher returns an error if p has a launcher that is not installed.
func (p *peer) findLauncher() error {
	if p.launcher == nil {
		return nil
	}
	_, err := exec.LookPath(p.launcher[0])
	return err
}

func (r *runner) compile(ctx context.Context, command ...string) error {
	if _, err := exec.LookPath(command[0]); err != nil {
		return err
	}
	_, err := run(ctx, command, os.Environ())
	return err
}

// competitor is a program, with its tuning, that runs a benchmark once a round.
type competitor struct {
	name
	peer       *peer // nil: ours
	tuning     *tuning
	registered bool
}

// timeLimit is how long one measurement may take.
const timeLimit = time.Minute

// repetitions returns how many calls of a size every program times, and how many it makes before. Below 32 KiB a timed
// call is a batch of calls.
func repetitions(bytes int) (timed, warmUp int) {
	switch {
	case bytes <= 32*kib:
		return 15, 100
	case bytes <= 64*kib:
		return 300, 50
	case bytes <= mib:
		return 100, 20
	case bytes <= 16*mib:
		return 20, 5
	}
	return 9, 3
}

// arguments returns those that all programs share.
func (b benchmark) arguments() []string {
	timed, warmUp := repetitions(b.Bytes)
	size := strconv.Itoa(max(b.Bytes, 8))
	return []string{b.Collective, "-b", size, "-e", size, "-n", strconv.Itoa(timed), "-w", strconv.Itoa(warmUp),
		"-transport", b.Transport}
}

// measure runs a competitor and returns its time in microseconds.
func (r *runner) measure(ctx context.Context, b benchmark, c *competitor) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errTooLong)
	defer cancel()
	if c.peer == nil {
		return r.measureOurs(ctx, b, c.registered)
	}
	if err := r.missing[c.Who]; err != nil {
		return 0, err
	}
	var output []byte
	var err error
	if c.peer.launcher == nil {
		output, err = r.runRanks(ctx, b, c)
	} else {
		output, err = run(ctx, r.launchCommand(b, c), r.env(b, c))
	}
	if err != nil {
		return 0, err
	}
	return b.parse(output, false)
}

func (r *runner) measureOurs(ctx context.Context, b benchmark, registered bool) (float64, error) {
	place := "in"
	if b.TwoBuffers {
		place = "out"
	}
	command := append(r.onCores(), r.programs[ours])
	command = append(append(command, b.arguments()...), "-ranks", strconv.Itoa(b.Ranks), "-place", place, "-format",
		"json")
	if registered {
		command = append(command, "-registered")
	}
	output, err := run(ctx, command, r.env(b, nil))
	if err != nil {
		return 0, err
	}
	return b.parse(output, registered)
}

// measureLimits returns the limits of this machine, as collperf -limits measures them.
func (r *runner) measureLimits(ctx context.Context) (limits, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errTooLong)
	defer cancel()
	command := append(r.onCores(), r.programs[ours], "-limits", "-format", "json")
	output, err := run(ctx, command, r.env(benchmark{}, nil))
	if err != nil {
		return nil, err
	}
	return parseLimits(output)
}

// onCores returns the beginning of a command that keeps the rest of it on the runner's cores.
func (r *runner) onCores() []string { return []string{"taskset", "-c", r.cores} }

// env returns the environment of a competitor; nil: ours.
func (r *runner) env(b benchmark, c *competitor) []string {
	// Open MPI runs as root only if two variables confirm it.
	env := append(os.Environ(), "TMPDIR="+r.dir, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if c == nil {
		return env
	}
	return append(append(env, c.peer.env[b.Transport]...), c.tuning.env...)
}

// launchCommand returns the command of a peer that has a launcher.
func (r *runner) launchCommand(b benchmark, c *competitor) []string {
	launcher := c.peer.launcher
	if b.Ranks > len(strings.Split(r.cores, ",")) {
		launcher = c.peer.oversubscribed
	}
	command := r.onCores()
	for _, word := range launcher {
		if word == "%d" {
			word = strconv.Itoa(b.Ranks)
		}
		command = append(command, word)
	}
	return r.appendProgram(command, b, c)
}

func (r *runner) appendProgram(command []string, b benchmark, c *competitor) []string {
	command = append(append(command, r.programs[c.Who]), b.arguments()...)
	if b.TwoBuffers {
		command = append(command, "-two-buffers", "yes")
	}
	return append(command, c.tuning.program...)
}

// runRanks runs each rank of a peer that has no launcher, and returns the output of rank 0. When one fails, all end.
func (r *runner) runRanks(ctx context.Context, b benchmark, c *competitor) (output []byte, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	store, err := os.MkdirTemp(r.dir, "store-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(store)
	type exit struct {
		rank   int
		output []byte
		err    error
	}
	exits := make(chan exit)
	for rank := range b.Ranks {
		command := r.rankCommand(b, c, rank, store)
		go func() {
			output, err := run(ctx, command, r.env(b, c))
			exits <- exit{rank, output, err}
		}()
	}
	for range b.Ranks {
		e := <-exits
		if e.err != nil && err == nil {
			err = fmt.Errorf("rank %d: %w", e.rank, e.err)
			fail(err)
		}
		if e.rank == 0 {
			output = e.output
		}
	}
	return output, err
}

func (r *runner) rankCommand(b benchmark, c *competitor, rank int, store string) []string {
	command := r.onCores()
	if cores := strings.Split(r.cores, ","); c.tuning.perCore {
		command[len(command)-1] = cores[rank%len(cores)]
	}
	command = r.appendProgram(command, b, c)
	return append(command, "-rank", strconv.Itoa(rank), "-ranks", strconv.Itoa(b.Ranks), "-store", store)
}
