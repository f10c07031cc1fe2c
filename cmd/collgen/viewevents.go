package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify/replay"
	"github.com/collgen/collgen/verify/view"
)

// eventData returns the data of a call that the ranks of a real run have made, which is replayed first.
func (c *viewCommand) eventData(ctx context.Context, s *source) (*view.Data, error) {
	files, err := replay.Read(os.DirFS(c.events))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.events, err)
	}
	var algorithms []gen.Algorithm
	for _, a := range s.algorithms {
		algorithms = append(algorithms, a.Algorithm)
	}
	report, err := replay.Replay(files, algorithms)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.events, err)
	}
	calls := replay.Calls(files[0])
	if c.which < 1 || c.which > len(calls) {
		return nil, fmt.Errorf("%s: process %d has made %d %s, and -call is %d", c.events, files[0].Process, len(calls),
			plural(len(calls), "call"), c.which)
	}
	call := calls[c.which-1]
	i := slices.IndexFunc(s.algorithms, func(a *algorithm) bool { return call.Is(&a.Algorithm) })
	if i < 0 {
		return nil, fmt.Errorf("%s: call %d is of %s, which is none of these algorithms", c.events, c.which, call.Algorithm)
	}
	d, err := c.dataOf(ctx, s, s.algorithms[i], call.Params(), call.Shared)
	if err != nil {
		return nil, err
	}
	d.Doc = fmt.Sprintf("Call %d of process %d in a real run: %d elements of %s to a block, over %s.", c.which,
		files[0].Process, call.Count, call.Type, call.Comm.Transport)
	d.Proof = append(d.Proof, fmt.Sprintf("The run was replayed: its %d events of %d processes are those of the "+
		"schedules.", report.Events, report.Processes))
	return d, nil
}
