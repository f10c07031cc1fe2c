package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

// entrant is somebody who runs in a contest, once a round.
type entrant struct {
	name
	peer       *peer // nil: ours
	tuning     *tuning
	registered bool
}

// longest is how long one measurement may take.
const longest = time.Minute

// effort returns how often calls of a size are timed, and made before, by all entrants alike; of short ones, it is
// batches.
func effort(bytes int) (iterations, warmUp int) {
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
func (c contest) arguments() []string {
	n, w := effort(c.Bytes)
	size := strconv.Itoa(max(c.Bytes, 8))
	return []string{c.Collective, "-b", size, "-e", size, "-n", strconv.Itoa(n), "-w", strconv.Itoa(w), "-transport", c.Transport}
}

// measure runs an entrant and returns its time in microseconds.
func (w *workshop) measure(ctx context.Context, c contest, e *entrant) (float64, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	if e.peer == nil {
		return w.measureOurs(ctx, c, e.registered)
	}
	if err := w.missing[e.Who]; err != nil {
		return 0, err
	}
	var printed []byte
	var err error
	if e.peer.launcher == nil {
		printed, err = w.ranks(ctx, c, e)
	} else {
		printed, err = run(ctx, w.launched(c, e), w.env(c, e))
	}
	if err != nil {
		return 0, err
	}
	return c.median(printed, false)
}

func (w *workshop) measureOurs(ctx context.Context, c contest, registered bool) (float64, error) {
	place := "in"
	if c.TwoBuffers {
		place = "out"
	}
	command := append(w.onCores(), w.programs[ours])
	command = append(append(command, c.arguments()...), "-ranks", strconv.Itoa(c.Ranks), "-place", place, "-format", "json")
	if registered {
		command = append(command, "-registered")
	}
	printed, err := run(ctx, command, w.env(c, nil))
	if err != nil {
		return 0, err
	}
	return c.median(printed, registered)
}

// onCores returns the beginning of a command that keeps the rest of it on the cores of all.
func (w *workshop) onCores() []string { return []string{"taskset", "-c", w.cores} }

func (w *workshop) env(c contest, e *entrant) []string {
	// Open MPI asks whoever is root to say that this is meant.
	env := append(os.Environ(), "TMPDIR="+w.dir, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if e == nil {
		return env
	}
	return append(append(env, e.peer.env[c.Transport]...), e.tuning.env...)
}

// launched returns the command of a peer that has a launcher.
func (w *workshop) launched(c contest, e *entrant) []string {
	launcher := e.peer.launcher
	if c.Ranks > len(strings.Split(w.cores, ",")) {
		launcher = e.peer.crowded
	}
	command := w.onCores()
	for _, word := range launcher {
		if word == "%d" {
			word = strconv.Itoa(c.Ranks)
		}
		command = append(command, word)
	}
	return w.program(command, c, e)
}

func (w *workshop) program(command []string, c contest, e *entrant) []string {
	command = append(append(command, w.programs[e.Who]), c.arguments()...)
	if c.TwoBuffers {
		command = append(command, "-two-buffers", "yes")
	}
	return append(command, e.tuning.program...)
}
