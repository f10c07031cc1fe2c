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

// Setting is ranks that measure together.
type Setting struct {
	Transport string // "" under a launcher: its choice
	Ranks     int    // 0 under a launcher
}

// Starter starts the ranks of a setting, or joins those that a launcher has started.
type Starter struct {
	Launch *fast.Launch // the place of this process in a launcher's job; nil: there is no launcher
	Pin    *bool        // whether each rank stays on one core; nil: if there are enough cores
	Stderr io.Writer
}

// Work is what every rank does.
type Work func(ctx context.Context, c *fast.Comm) error

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

// join does the work as one rank of a job of processes.
func join(ctx context.Context, opts []fast.InitOption, f Work) error {
	c, err := fast.Init(ctx, opts...)
	if err != nil {
		return err
	}
	if err = f(ctx, c); err != nil {
		c.Abort()
	}
	return errors.Join(err, c.Close())
}

// IsConsequence reports whether err only says that another rank has failed or left. That rank reports the cause.
func IsConsequence(err error) bool {
	return IsRank() && (errors.Is(err, fast.ErrAborted) || errors.Is(err, fast.ErrClosed) || errors.Is(err, fast.ErrDied))
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

// TransportOf returns the transport between a rank and the others, in the words of selection tables.
func TransportOf(c *fast.Comm) string {
	name := ""
	for _, link := range c.Topology().Links {
		switch {
		case link == "self" || link == name:
		case name == "":
			name = link
		default:
			name = "mixed"
		}
	}
	switch name {
	case "":
		return "none"
	case "memory":
		return InProc
	}
	return name
}

// Processes are the transports of ranks that are processes.
var Processes = []string{"shm", "rdma", "tcp"}

// InProc is the transport of goroutines.
const InProc = "inproc"

// DefaultTransport returns the best transport between processes of one machine.
func DefaultTransport() string {
	if runtime.GOOS == "linux" {
		return "shm"
	}
	return "tcp"
}
