package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ended is how a rank that was started by itself ended.
type ended struct {
	rank    int
	printed []byte
	err     error
}

// ranks runs the ranks of a peer that has no launcher, and returns what the first one prints. When one fails, all end.
func (w *workshop) ranks(ctx context.Context, c contest, e *entrant) (printed []byte, err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	store, err := os.MkdirTemp(w.dir, "store-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(store)
	all := make(chan ended)
	for rank := range c.Ranks {
		command := w.rank(c, e, rank, store)
		go func() {
			printed, err := run(ctx, command, w.env(c, e))
			all <- ended{rank, printed, err}
		}()
	}
	for range c.Ranks {
		one := <-all
		if one.err != nil && err == nil {
			err = fmt.Errorf("rank %d: %w", one.rank, one.err)
			fail(err)
		}
		if one.rank == 0 {
			printed = one.printed
		}
	}
	return printed, err
}

// rank returns the command of one of them.
func (w *workshop) rank(c contest, e *entrant, rank int, store string) []string {
	command := w.onCores()
	if cores := strings.Split(w.cores, ","); e.tuning.perCore {
		command[len(command)-1] = cores[rank%len(cores)]
	}
	command = w.program(command, c, e)
	return append(command, "-rank", strconv.Itoa(rank), "-ranks", strconv.Itoa(c.Ranks), "-store", store)
}
