package neighbor

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// AllToAll sends block i of src to destination i of g, and fills block i of dst from source i. All blocks have equally
// many elements, on all ranks. A block of dst without a source stays as it is.
func AllToAll[T fast.Elem](ctx context.Context, g *Graph, dst, src []T) error {
	return call(ctx, g, "neighbor.AllToAll", dst, src, allToAll)
}

// StartAllToAll starts [AllToAll].
func StartAllToAll[T fast.Elem](ctx context.Context, g *Graph, dst, src []T) *fast.Handle {
	return start(ctx, g, "neighbor.AllToAll", dst, src, allToAll)
}

// AllGather sends src to each destination of g, and fills block i of dst from source i. All blocks have len(src)
// elements, on all ranks. A block of dst without a source stays as it is.
func AllGather[T fast.Elem](ctx context.Context, g *Graph, dst, src []T) error {
	return call(ctx, g, "neighbor.AllGather", dst, src, allGather)
}

// StartAllGather starts [AllGather].
func StartAllGather[T fast.Elem](ctx context.Context, g *Graph, dst, src []T) *fast.Handle {
	return start(ctx, g, "neighbor.AllGather", dst, src, allGather)
}

// AllToAllV is AllToAll with blocks of different lengths: those of entry i of dstBlocks and srcBlocks. Two neighbours
// pass the same length for the block between them. Where there is no neighbour, the entry makes no difference, except
// that its Count is space in the buffer if there are no Displs.
func AllToAllV[T fast.Elem](ctx context.Context, g *Graph, dst []T, dstBlocks fast.Blocks, src []T,
	srcBlocks fast.Blocks) error {
	return call(ctx, g, "neighbor.AllToAllV", dst, src, uneven(dstBlocks, srcBlocks))
}

// StartAllToAllV starts [AllToAllV].
func StartAllToAllV[T fast.Elem](ctx context.Context, g *Graph, dst []T, dstBlocks fast.Blocks, src []T,
	srcBlocks fast.Blocks) *fast.Handle {
	return start(ctx, g, "neighbor.AllToAllV", dst, src, uneven(dstBlocks, srcBlocks))
}

// call exchanges the blocks that lay places.
func call[T fast.Elem](ctx context.Context, g *Graph, name string, dst, src []T, lay layout) error {
	if err := place(g, name, dst, src, lay); err != nil {
		return err
	}
	for g.part.Number = range g.in.layers {
		if err := layer(ctx, g, dst, src, g.opts); err != nil {
			return err
		}
	}
	return nil
}

// start is call in the background. Started calls run in order, so the handle of the last layer stands for all.
func start[T fast.Elem](ctx context.Context, g *Graph, name string, dst, src []T, lay layout) *fast.Handle {
	if err := place(g, name, dst, src, lay); err != nil {
		return collective.Start(nil, func([]fast.Option) error { return err })
	}
	last := len(g.in.layers) - 1
	for g.part.Number = range last {
		collective.Start(g.opts, func(opts []fast.Option) error { return layer(ctx, g, dst, src, opts) })
	}
	g.part.Number = last
	return collective.Start(g.opts, func(opts []fast.Option) error { return layer(ctx, g, dst, src, opts) })
}

// layer makes the call of the layer that is next.
func layer[T fast.Elem](ctx context.Context, g *Graph, dst, src []T, opts []fast.Option) error {
	at := g.part.Number
	return fast.AllToAllV(ctx, g.c, dst, g.in.layers[at], src, g.out.layers[at], opts...)
}

// place has lay place the blocks of the next call of that name.
func place[T fast.Elem](g *Graph, name string, dst, src []T, lay layout) error {
	if g == nil || g.c == nil {
		return wire.Refuse(name, "the graph is nil, or was made by neither NewGraph nor NewGrid")
	}
	if err := lay(g, name, len(dst), len(src)); err != nil {
		return err
	}
	if exec.Overlap(exec.Bytes(dst), exec.Bytes(src)) {
		return wire.Refuse(name, "dst and src overlap")
	}
	g.part.Operation = name
	return nil
}
