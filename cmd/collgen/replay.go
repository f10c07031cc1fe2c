package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify/replay"
)

// replayCommand is collgen replay.
type replayCommand struct{ *call }

func prepareReplay(c *call) runner {
	c.packageFlags()
	return &replayCommand{c}
}

func (c *replayCommand) run(ctx context.Context) error {
	if len(c.args) != 1 {
		return usageError{errors.New("want the directory that COLL_EVENTS named")}
	}
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	files, err := replay.Read(os.DirFS(c.args[0]))
	if err != nil {
		return fmt.Errorf("%s: %w", c.args[0], err)
	}
	var algorithms []gen.Algorithm
	for _, a := range s.algorithms {
		algorithms = append(algorithms, a.Algorithm)
	}
	report, err := replay.Replay(files, algorithms)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.args[0], err)
	case c.json:
		return writeJSON(c.stdout, report)
	}
	t := newTable(c.stdout)
	t.row("algorithm", "calls of ranks")
	for _, name := range slices.Sorted(maps.Keys(report.Calls)) {
		t.row(name, report.Calls[name])
	}
	t.flush()
	fmt.Fprintf(c.stdout, "\n%d events of %d processes are those of the proved schedules; every message arrived once, "+
		"in order, after it was sent.\n",
		report.Events, report.Processes)
	if report.Failed > 0 || len(report.Died) > 0 {
		fmt.Fprintf(c.stdout, "%d calls of ranks have failed; processes that ended in a call, and were found to be "+
			"gone: %v.\n", report.Failed, report.Died)
	}
	return nil
}
