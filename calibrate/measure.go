package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/internal/scratch"
)

// What is measured: over each transport, among so many ranks.
var (
	transports = []string{"shm", "tcp"}
	sizes      = []string{"2", "4", "8"}
)

// run is one run of collperf: what the prices are fitted to, or what predictions are compared with.
type run struct {
	training    bool
	sizes       string
	algorithm   string // "": what calls get
	collectives string
	pair        bool // between two ranks alone
}

// tested and trained differ in the sizes.
const (
	tested  = "-b 8 -e 16M -f 8"
	trained = "-b 32 -e 8M -f 8"
)

var runs = []run{
	{sizes: tested, collectives: "all-reduce broadcast all-gather reduce-scatter all-to-all"},
	{training: true, sizes: trained, collectives: "ping-pong", pair: true},
	{training: true, sizes: trained, collectives: "broadcast", algorithm: "binomial", pair: true}, // calls in a pipeline
	{training: true, sizes: trained, collectives: "all-reduce", algorithm: "ring"},
	{training: true, sizes: trained, collectives: "all-reduce", algorithm: "recursive-doubling"},
	{training: true, sizes: trained, collectives: "all-reduce", algorithm: "two-shot"},
}

// turn is a run in one round.
type turn struct {
	*run
	round           int
	transport, size string
}

// turns returns all of so many rounds, in their order.
func turns(rounds int) (all []turn) {
	for round := range rounds {
		for _, size := range sizes {
			for _, transport := range transports {
				for i := range runs {
					if !runs[i].pair || size == "2" {
						all = append(all, turn{&runs[i], round, transport, size})
					}
				}
			}
		}
	}
	return all
}

// made reports whether s was measured in t.
func (t *turn) made(s *sample) bool {
	return s.Training == t.training && s.Round == t.round && s.Transport == t.transport && fmt.Sprint(s.Ranks) == t.size &&
		s.Algorithm == t.algorithm && slices.Contains(strings.Fields(t.collectives), s.Collective)
}

// measure measures round after round what is not measured yet, and returns all measurements.
func (o *options) measure(ctx context.Context, stderr io.Writer) ([]sample, error) {
	if o.rounds < 1 || o.time < 0 || o.time > 0 && o.keep == "" {
		return nil, fmt.Errorf("-rounds %d -for %v -keep %q: want at least one round, and a file for what is measured in some time", o.rounds, o.time, o.keep)
	}
	all, err := readSamples(o.keep)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(turns(o.rounds), func(t turn) bool {
		return slices.ContainsFunc(all, func(s sample) bool { return t.made(&s) })
	})
	if len(left) == 0 {
		return all, nil
	}
	dir, remove, err := scratch.Dir("calibrate")
	if err != nil {
		return nil, err
	}
	defer remove()
	collperf := filepath.Join(dir, "collperf")
	fmt.Fprintln(stderr, "building collperf")
	build := exec.CommandContext(ctx, "go", "build", "-o", collperf, "github.com/collgen/collgen/cmd/collperf")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building collperf: %w\n%s", err, out)
	}
	more, err := o.measureTurns(ctx, collperf, left, stderr)
	return append(all, more...), err
}

// measureTurns measures turn after turn, until the time is over.
func (o *options) measureTurns(ctx context.Context, collperf string, left []turn, stderr io.Writer) (all []sample, err error) {
	start := time.Now()
	for i, t := range left {
		if o.time > 0 && time.Since(start) > o.time {
			return nil, fmt.Errorf("the time is over, and %d runs of collperf are left: the same command goes on", len(left)-i)
		}
		if i == 0 || t.round > left[i-1].round {
			fmt.Fprintf(stderr, "round %d of %d\n", t.round+1, o.rounds)
		}
		more, err := t.measure(ctx, collperf)
		if err == nil {
			err = appendSamples(o.keep, more)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// measure has collperf measure, with every rank kept on a core.
func (t *turn) measure(ctx context.Context, collperf string) ([]sample, error) {
	args := append([]string{"-format", "json", "-pin", "-place", "in", "-c", "0", "-n", "11", "-transport", t.transport, "-ranks", t.size,
		"-algorithm", t.algorithm}, strings.Fields(t.sizes+" "+t.collectives)...)
	c := exec.CommandContext(ctx, collperf, args...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("collperf %s: %w\n%s", strings.Join(args, " "), err, problems.Bytes())
	}
	all, err := decodeSamples(&out)
	for i := range all {
		all[i].Training, all[i].Round = t.training, t.round
	}
	return all, err
}

// readSamples returns those of a file; none if there is no such file, or no name.
func readSamples(path string) ([]sample, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := decodeSamples(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}
