// Command tensorparallel computes a transformer block whose matrices are divided among ranks, in the two ways that
// Megatron-LM made known (Shoeybi et al. 2019, Korthikanti et al. 2022).
//
//	collrun -n 4 tensorparallel
//
// Each rank has some heads of the attention, and some columns of the first matrix of the feed-forward part. With tensor
// parallelism, a block takes two all-reduces. With sequence parallelism, each rank also keeps only its rows between
// these parts: an all-reduce becomes a reduce-scatter and an all-gather, which together move as many bytes.
package main

import (
	"context"
	"fmt"
	"math"
	"os"

	"github.com/collgen/collgen/fast"
)

func main() {
	err := fast.Main(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		off, err := compare(ctx, c)
		if err != nil {
			return err
		}
		fmt.Printf("rank %d: off by %.0e from one rank's block, and %.0e with divided rows\n", c.Rank(), off[0], off[1])
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "tensorparallel:", err)
		os.Exit(1)
	}
}

// compare returns by how much the results of both ways differ at most from those of a block on one rank.
func compare(ctx context.Context, c *fast.Comm) (off [2]float64, err error) {
	x := random(tokens, width, 1)
	want, err := newBlock(0, 1).tensorParallel(ctx, nil, x)
	if err != nil {
		return off, err
	}
	b := newBlock(c.Rank(), c.Size())
	got, err := b.tensorParallel(ctx, c, x)
	if err != nil {
		return off, err
	}
	off[0] = difference(got, want)
	lo, hi := fast.Shard(tokens, c.Rank(), c.Size())
	if got, err = b.sequenceParallel(ctx, c, x.rowsOf(lo, hi)); err != nil {
		return off, err
	}
	off[1] = difference(got, want.rowsOf(lo, hi))
	return off, nil
}

func difference(a, b matrix) (most float64) {
	for i := range a.v {
		most = max(most, math.Abs(a.v[i]-b.v[i]))
	}
	return most
}
