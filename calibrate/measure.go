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
	"strings"
	"time"
)

// What is measured: over each transport, among so many ranks.
var (
	transports = []string{"shm", "tcp"}
	sizes      = []string{"2", "4", "8"}
)

// run is one run of collperf: what the prices are fitted to, or what predictions are compared with.
type run struct {
	training bool
	args     string
	pair     bool // between two ranks alone
}

// tested and trained differ in the sizes.
const (
	tested  = "-b 8 -e 16M -f 8"
	trained = "-b 32 -e 8M -f 8"
)

var runs = []run{
	{args: tested + " all-reduce broadcast all-gather reduce-scatter all-to-all"},
	{training: true, args: trained + " ping-pong", pair: true},
	{training: true, args: trained + " -algorithm ring all-reduce"},
	{training: true, args: trained + " -algorithm recursive-doubling all-reduce"},
	{training: true, args: trained + " -algorithm two-shot all-reduce"},
}

// measure measures round after round, and returns all measurements.
func (o *options) measure(ctx context.Context, stderr io.Writer) ([]sample, error) {
	if o.rounds < 1 {
		return nil, fmt.Errorf("-rounds %d: want at least 1", o.rounds)
	}
	all, err := readSamples(o.keep)
	if err != nil {
		return nil, err
	}
	from := rounds(all)
	if from >= o.rounds {
		return all, nil
	}
	dir, err := os.MkdirTemp("", "collgen-calibrate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	collperf := filepath.Join(dir, "collperf")
	fmt.Fprintln(stderr, "building collperf")
	build := exec.CommandContext(ctx, "go", "build", "-o", collperf, "github.com/collgen/collgen/cmd/collperf")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building collperf: %w\n%s", err, out)
	}
	for round := from; round < o.rounds; round++ {
		start := time.Now()
		fmt.Fprintf(stderr, "round %d of %d", round+1, o.rounds)
		more, err := measureRound(ctx, collperf, round)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(stderr, ": %d measurements in %v\n", len(more), time.Since(start).Round(time.Second))
		if err := appendSamples(o.keep, more); err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

func measureRound(ctx context.Context, collperf string, round int) (all []sample, err error) {
	for _, size := range sizes {
		for _, transport := range transports {
			for _, r := range runs {
				if r.pair && size != "2" {
					continue
				}
				more, err := r.measure(ctx, collperf, transport, size)
				if err != nil {
					return nil, err
				}
				for i := range more {
					more[i].Round = round
				}
				all = append(all, more...)
			}
		}
	}
	return all, nil
}

// measure has collperf measure, with every rank kept on a core.
func (r *run) measure(ctx context.Context, collperf, transport, size string) ([]sample, error) {
	args := append([]string{"-format", "json", "-pin", "-place", "in", "-c", "0", "-n", "11", "-transport", transport, "-ranks", size},
		strings.Fields(r.args)...)
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
		all[i].Training = r.training
	}
	return all, err
}

// readSamples are those of a file; none if there is no such file, or no name.
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
