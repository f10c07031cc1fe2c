package neighbor

import (
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/wire"
)

// layout says where the blocks of the next call lie, in buffers of these lengths. It returns an error if they do not.
type layout func(g *Graph, name string, dst, src int) error

// allToAll is the layout of blocks of one length.
func allToAll(g *Graph, name string, dst, src int) error {
	in, err := g.in.share(name, dst)
	if err != nil {
		return err
	}
	out, err := g.out.share(name, src)
	if err != nil {
		return err
	}
	if in != out && len(g.in.ranks) > 0 && len(g.out.ranks) > 0 {
		return wire.Refuse(name, "the blocks of dst have %d elements, and those of src %d", in, out)
	}
	g.in.equal(in, in)
	g.out.equal(out, out)
	return nil
}

// allGather is the layout of a dst with as many blocks as there are sources, and a src that is a single block.
func allGather(g *Graph, name string, dst, src int) error {
	if n := len(g.in.ranks); dst/max(n, 1) != src && n > 0 || dst%max(n, 1) != 0 || n == 0 && dst != 0 {
		return wire.Refuse(name, "len(dst) is %d and len(src) %d, want %d blocks of len(src)", dst, src, n)
	}
	g.in.equal(src, src)
	g.out.equal(src, 0)
	return nil
}

// uneven returns the layout of these blocks.
func uneven(dstBlocks, srcBlocks fast.Blocks) layout {
	return func(g *Graph, name string, dst, src int) error {
		if err := g.in.uneven(name, dst, dstBlocks); err != nil {
			return err
		}
		if err := g.out.uneven(name, src, srcBlocks); err != nil {
			return err
		}
		return g.in.apart(name, dst)
	}
}
