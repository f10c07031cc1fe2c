// Package neighbor has the collectives in which each rank exchanges blocks with few others: its neighbours on a
// Cartesian grid, or in a graph that is given as lists. They are those of MPI: MPI_Neighbor_alltoall and its like.
//
// A call is one or more calls of fast.AllToAllV in which the blocks of ranks that are not neighbours are empty, and are
// not sent: as many as the most edges that there are from one rank to another. What is proved of AllToAllV, for all
// lengths of blocks, holds for each. What an exchange means is stated by package ref of this module; the tests compare
// with that. Traces and errors name AllToAllV. Besides its messages, a call takes some 30 nanoseconds for each rank of
// the communicator.
package neighbor

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// None stands in a list for no neighbour. Its block is not sent, and what it would fill stays as it is.
const None = -1

// Graph says with whom each rank of a communicator exchanges blocks. Like its communicator, it is used by one goroutine
// at a time.
//
// In a layer of a graph there is at most one edge from one rank to another, so that each layer is one AllToAllV. All
// ranks have equally many layers.
type Graph struct {
	c       *fast.Comm
	in, out side
	part    exec.Part // the next call of which a call is made
	opts    []fast.Option
}

// NewGraph returns the graph in which this rank receives from the sources and sends to the destinations, in these
// orders. All ranks of c call it together, each with its own lists: a rank that is a destination of another one has it
// as a source. If two ranks are neighbours more than once, their edges are matched in the orders of both lists. A rank
// may be its own neighbour.
//
// If two ranks disagree about their edges, all ranks get an error. It wraps ErrInvalidArgument, except where another
// rank has given c up because of its own.
func NewGraph(ctx context.Context, c *fast.Comm, sources, destinations []int) (*Graph, error) {
	if c == nil {
		return nil, wire.Refuse("NewGraph", "the communicator is nil")
	}
	for _, list := range [][]int{sources, destinations} {
		for _, r := range list {
			if r < None || r >= c.Size() {
				return nil, wire.Refuse("NewGraph", "neighbour %d, want a rank of %d, or None", r, c.Size())
			}
		}
	}
	in, inLayers := repeated(sources, c.Size())
	out, outLayers := repeated(destinations, c.Size())
	layers, err := agree(ctx, c, in, out, max(1, inLayers, outLayers))
	if err != nil {
		return nil, err
	}
	return newGraph(c, sources, destinations, occurrences(sources), occurrences(destinations), layers), nil
}

// newGraph returns a graph of that many layers. InLayer and outLayer say in which of them each edge is.
func newGraph(c *fast.Comm, sources, destinations, inLayer, outLayer []int, layers int) *Graph {
	g := &Graph{c: c, in: newSide("dst", c.Size(), sources, inLayer, layers),
		out: newSide("src", c.Size(), destinations, outLayer, layers)}
	g.part = exec.Part{Root: -1, Graph: exec.Runtime.Made(c)}
	// All messages of a layer are in flight at once, however many ranks there are.
	g.opts = []fast.Option{fast.WithAlgorithm("direct"), {Kind: exec.PartOption, Part: &g.part}}
	return g
}

// repeated returns how often each rank is in a list, and how often the one that is in it most.
func repeated(list []int, size int) (times []int, most int) {
	times = make([]int, size)
	for _, rank := range list {
		if rank != None {
			times[rank]++
			most = max(most, times[rank])
		}
	}
	return times, most
}

// occurrences returns, for each entry of a list, how many entries before it are the same.
func occurrences(list []int) []int {
	before := make([]int, len(list))
	for i, rank := range list {
		for _, other := range list[:i] {
			if other == rank {
				before[i]++
			}
		}
	}
	return before
}

// mostBlocks is how many blocks all layers of a graph have at most, on one side: those that are empty included.
const mostBlocks = 1 << 22

// agree returns the most layers that a rank has, or an error on all ranks if two of them count the edges between them
// differently. In and out are this rank's numbers of edges from and to each rank.
func agree(ctx context.Context, c *fast.Comm, in, out []int, layers int) (int, error) {
	others := make([]int, c.Size())
	part := exec.Part{Operation: "neighbor.NewGraph", Root: -1}
	opt := fast.Option{Kind: exec.PartOption, Part: &part}
	if err := fast.AllToAllInto(ctx, c, others, out, opt); err != nil {
		return 0, fmt.Errorf("NewGraph: %w", err)
	}
	wrong, finder := 0, None
	for wrong < len(others) && others[wrong] == in[wrong] {
		wrong++
	}
	if wrong < len(others) {
		finder = c.Rank()
	}
	most := []int{layers, finder}
	part.Number = 1
	if err := fast.AllReduce(ctx, c, most, fast.Max, opt); err != nil {
		return 0, fmt.Errorf("NewGraph: %w", err)
	}
	switch {
	case wrong < len(others):
		return 0, wire.Refuse("NewGraph", "rank %d lists rank %d as a destination %d times, and that one lists it as a "+
			"source %d times",
			wrong, c.Rank(), others[wrong], in[wrong])
	case most[0] < 1 || most[0] > mostBlocks/c.Size():
		return 0, wire.Refuse("NewGraph", "two ranks are neighbours %d times, and may be %d times among %d ranks", most[0],
			mostBlocks/c.Size(), c.Size())
	case most[1] != None:
		return 0, wire.Refuse("NewGraph", "rank %d and a rank other than this one disagree about the edges between them",
			most[1])
	}
	return most[0], nil
}

// Sources returns the ranks from which this one receives, in the order of its blocks. The caller must not change it.
func (g *Graph) Sources() []int { return g.in.ranks }

// Destinations returns the ranks to which this one sends, in the order of its blocks. The caller must not change it.
func (g *Graph) Destinations() []int { return g.out.ranks }
