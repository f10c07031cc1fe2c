// Package ranks starts the ranks that collperf measures, as processes or goroutines, or joins those of a launcher.
package ranks

import (
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/fast"
)

// Starter starts the ranks of a setting, or joins those that a launcher has started.
type Starter struct {
	Launch *fast.Launch // the place of this process in a launcher's job; nil: there is no launcher
	Pin    *bool        // whether each rank stays on one core; nil: if there are enough cores
	Stderr io.Writer
}

// Run has all ranks of a setting do the work. This process is one of the ranks or, if they are goroutines, all of them.
func (x *Starter) Run(ctx context.Context, s Setting, f Work) error {
	switch {
	case x.Launch != nil:
		opts := fast.FromEnv()
		if s.Transport != "" {
			opts = append(opts, fast.WithTransport(s.Transport))
		}
		return join(ctx, opts, x.pinned(x.Launch.LocalRank, x.Launch.LocalSize, f))
	case s.Transport == InProc:
		return fast.Run(ctx, s.Ranks, f)
	}
	return start(ctx, s, x.Stderr, x.pinned(0, s.Ranks, f))
}

// pinned returns f, kept on a core of its own if that is wanted. This is rank index of so many on this machine; -1: not
// known.
func (x *Starter) pinned(index, ranks int, f Work) Work {
	if !x.pins(ranks) {
		return f
	}
	return func(ctx context.Context, c *fast.Comm) error {
		undo, err := machine.Pin(max(0, index))
		if err != nil {
			return err
		}
		return errors.Join(f(ctx, c), undo())
	}
}

func (x *Starter) pins(ranks int) bool {
	if x.Pin != nil {
		return *x.Pin
	}
	return runtime.GOOS == "linux" && ranks > 0 && ranks <= runtime.NumCPU()
}
