package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collgen/collgen/internal/peerlibs"
	"github.com/collgen/collgen/internal/scratch"
)

//go:embed measure.h mpi.c gloo.cc through_torch.py
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

// coreList returns the cores that the programs run on.
func (r *runner) coreList() []string { return strings.Split(r.cores, ",") }

// competitor is a program, with its tuning, that measures a call at some sizes once a round.
type competitor struct {
	name
	peer       *peer // nil: collperf
	tuning     *tuning
	registered bool
	sizes      []int
}

// timeLimit is how long one run of a program may take.
const timeLimit = time.Minute

// Every program times so many calls of a size, and makes so many before. Up to 32 KiB a timed call is a batch of calls.
const timed, warmUp = 30, 10

// arguments returns those that all programs share.
func (c call) arguments(sizes []int) []string {
	first, last := max(sizes[0], 8), max(sizes[len(sizes)-1], 8)
	arguments := []string{c.Collective, "-transport", c.Transport}
	for _, option := range []struct {
		name  string
		value int
	}{{"-b", first}, {"-e", last}, {"-f", factor}, {"-n", timed}, {"-w", warmUp}} {
		arguments = append(arguments, option.name, strconv.Itoa(option.value))
	}
	return arguments
}

// measure runs a competitor and returns its time of each size, in microseconds.
func (r *runner) measure(ctx context.Context, of call, c *competitor) ([]float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errTooLong)
	defer cancel()
	output, err := r.output(ctx, of, c)
	if err != nil {
		return nil, err
	}
	return of.parse(output, c.sizes, c.registered)
}

// output runs a competitor and returns what it prints.
func (r *runner) output(ctx context.Context, of call, c *competitor) ([]byte, error) {
	switch {
	case c.peer == nil:
		return run(ctx, r.ourCommand(of, c), r.env(of, nil))
	case r.missing[c.peer.name] != nil:
		return nil, r.missing[c.peer.name]
	case c.peer.launcher == nil:
		return r.runRanks(ctx, of, c)
	}
	return run(ctx, r.launchCommand(of, c), r.env(of, c))
}

func (r *runner) ourCommand(of call, c *competitor) []string {
	place := "in"
	if of.TwoBuffers {
		place = "out"
	}
	command := slices.Concat(r.onCores(), []string{r.programs[ours]}, of.arguments(c.sizes),
		[]string{"-ranks", strconv.Itoa(of.Ranks), "-place", place, "-format", "json"})
	if c.registered {
		command = append(command, "-registered")
	}
	return command
}

// measureLimits returns the limits of this machine, as collperf -limits measures them.
func (r *runner) measureLimits(ctx context.Context) (limits, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, errTooLong)
	defer cancel()
	command := append(r.onCores(), r.programs[ours], "-limits", "-format", "json")
	output, err := run(ctx, command, r.env(call{}, nil))
	if err != nil {
		return nil, err
	}
	return parseLimits(output)
}

// onCores returns the beginning of a command that keeps the rest of it on the runner's cores.
func (r *runner) onCores() []string { return []string{"taskset", "-c", r.cores} }

// env returns the environment of a competitor; nil: ours.
func (r *runner) env(of call, c *competitor) []string {
	// Open MPI runs as root only if two variables confirm it.
	env := append(os.Environ(), "TMPDIR="+r.dir, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if c == nil {
		return env
	}
	return slices.Concat(env, peerlibs.Placed(c.peer.env[of.Transport]...), c.tuning.env)
}

// launchCommand returns the command of a peer that has a launcher.
func (r *runner) launchCommand(of call, c *competitor) []string {
	launcher := c.peer.launcher
	if of.Ranks > len(r.coreList()) {
		launcher = c.peer.oversubscribed
	}
	command := r.onCores()
	for _, word := range peerlibs.Placed(launcher...) {
		command = append(command, strings.ReplaceAll(word, "%d", strconv.Itoa(of.Ranks)))
	}
	return r.appendProgram(command, of, c)
}

func (r *runner) appendProgram(command []string, of call, c *competitor) []string {
	command = append(append(command, r.programs[c.peer.name]), of.arguments(c.sizes)...)
	if of.TwoBuffers {
		command = append(command, "-two-buffers", "yes")
	}
	return append(command, c.tuning.program...)
}

// runRanks runs each rank of a peer that has no launcher, and returns the output of rank 0. When one fails, all end.
func (r *runner) runRanks(ctx context.Context, of call, c *competitor) (output []byte, err error) {
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
	for rank := range of.Ranks {
		command := r.rankCommand(of, c, rank, store)
		go func() {
			output, err := run(ctx, command, r.env(of, c))
			exits <- exit{rank, output, err}
		}()
	}
	for range of.Ranks {
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

func (r *runner) rankCommand(of call, c *competitor, rank int, store string) []string {
	command := r.onCores()
	if cores := r.coreList(); c.tuning.perCore {
		command[len(command)-1] = cores[rank%len(cores)]
	}
	command = r.appendProgram(command, of, c)
	return append(command, "-rank", strconv.Itoa(rank), "-ranks", strconv.Itoa(of.Ranks), "-store", store)
}
