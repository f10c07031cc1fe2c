package main

import (
	"context"
	"errors"
	"runtime"

	"github.com/collgen/collgen/fast"
)

// pinned runs f on a core of its own, where that is wanted: rank index of so many on this machine, -1 if not known.
func (o *options) pinned(index, ranks int, f work) work {
	if !o.pins(ranks) {
		return f
	}
	return func(ctx context.Context, c *fast.Comm) error {
		undo, err := pin(max(0, index))
		if err != nil {
			return err
		}
		return errors.Join(f(ctx, c), undo())
	}
}

func (o *options) pins(ranks int) bool {
	if o.pin != nil {
		return *o.pin
	}
	return runtime.GOOS == "linux" && ranks > 0 && ranks <= runtime.NumCPU()
}
