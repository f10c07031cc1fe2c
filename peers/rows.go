package main

import (
	"fmt"
	"slices"
)

// row is a line of the table: one call against the best of some peers.
type row struct {
	call
	name       string
	registered bool // our operands are in registered memory
	peers      []*peer
	sizes      []int
	group      string // of rows that have a common mean; "": none
}

var mpis = []*peer{&openMPI5, &mpich5, &intelMPI, &openMPI4, &mpich4}

// inPlace are the collectives that are compared in place. The others are compared in two buffers, because some peers
// have no other form of them.
var inPlace = []string{"all-reduce", "broadcast", "barrier", "ping-pong"}

// divided are the collectives whose operand or result has a block for each rank, of an element at least.
var divided = []string{"all-gather", "all-to-all", "reduce-scatter"}

// compared are the collectives that are compared everywhere.
var compared = []string{"all-reduce", "broadcast", "all-gather", "all-to-all", "reduce-scatter", "barrier"}

// rows are all lines of the table. Who cannot run one on this machine is left out of it (peer.cannot).
var rows = slices.Concat(
	rowsOf("shm", 2, mpis, compared...),
	[]*row{
		newRow(call{Collective: "all-reduce", Transport: "shm", Ranks: 2}, mpis, "").inRegisteredMemory(),
		newRow(call{Collective: "ping-pong", Transport: "shm", Ranks: 2}, mpis, ""),
		newRow(call{Collective: "all-gather", Transport: "shm", Ranks: 2}, mpis, ""),
		newRow(call{Collective: "all-to-all", Transport: "shm", Ranks: 2}, mpis, ""),
		newRow(call{Collective: "reduce-scatter", Transport: "shm", Ranks: 2}, mpis, ""),
	},
	rowsOf("shm", 4, mpis, compared...),
	rowsOf("tcp", 2, append(slices.Clone(mpis), &gloo), "all-reduce"),
	rowsOf("tcp", 2, mpis, compared[1:]...),
	rowsOf("tcp", 4, append(slices.Clone(mpis), &gloo), "all-reduce"),
	rowsOf("tcp", 4, mpis, compared[1:]...),
	rowsFromPython("tcp", 2, compared...),
	rowsFromPython("tcp", 4, "all-reduce"),
	rowsFromPython("shm", 2, "all-reduce"),
	rowsFromPython("shm", 4, "all-reduce"),
)

// rowsOf returns a row for each of some collectives, with a common mean.
func rowsOf(transport string, ranks int, peers []*peer, collectives ...string) (all []*row) {
	group := "TCP"
	if transport == "shm" {
		group = fmt.Sprintf("shm, %d ranks", ranks)
	}
	for _, c := range collectives {
		all = append(all, newRow(call{c, transport, ranks, !slices.Contains(inPlace, c), false}, peers, group))
	}
	return all
}

// rowsFromPython returns the same of calls of torch.distributed. Gloo has TCP alone: it runs over that in all of them.
func rowsFromPython(transport string, ranks int, collectives ...string) (all []*row) {
	for _, c := range collectives {
		of := call{c, transport, ranks, !slices.Contains(inPlace, c), true}
		all = append(all, newRow(of, []*peer{&torchGloo}, "Gloo from Python"))
	}
	return all
}

func newRow(c call, peers []*peer, group string) *row {
	r := &row{call: c, name: fmt.Sprintf("%s, %d ranks %s", c.Collective, c.Ranks, transportNames[c.Transport]),
		peers: peers, group: group, sizes: columns}
	isDivided := slices.Contains(divided, c.Collective)
	switch {
	case c.Collective == "barrier":
		r.sizes = []int{0}
	case isDivided && c.Ranks > 2:
		r.sizes = columns[1:]
	}
	if isDivided && !c.TwoBuffers {
		r.name += ", in place"
	}
	if c.Python {
		r.name += ", from Python"
	}
	return r
}

var transportNames = map[string]string{"shm": "shm", "tcp": "TCP"}

func (r *row) inRegisteredMemory() *row {
	r.name, r.registered = r.name+", registered", true
	return r
}
