package main

import (
	"context"
	"math"

	"github.com/collgen/collgen/fast"
)

// shard is this rank's part of a layer, as in ZeRO (Rajbhandari et al. 2020) and FSDP. A rank keeps its shards of the
// parameters, and has the optimizer's state of these alone. The shards of a layer differ in length where the ranks do
// not divide it.
type shard struct {
	from, to int         // the parameters of the layer
	shares   fast.Blocks // how many of these each rank has
	lo, hi   int         // those of this rank
	velocity []float32   // of these
	sum      *fast.Handle
}

// of returns this rank's shard of the parameters, or of a gradient.
func (s *shard) of(all []float32) []float32 { return all[s.lo:s.hi] }

// shard divides the layers. Every rank keeps its shards of the parameters.
func (t *trainer) shard() {
	rank, size := t.c.Rank(), t.c.Size()
	t.velocity = nil
	from := 0
	first, second := layers(t.params)
	for _, l := range []layer{first, second} {
		s := shard{from: from, to: from + len(l.weights) + len(l.bias)}
		for r := range size {
			lo, hi := fast.Shard(s.to-s.from, r, size)
			s.shares.Counts = append(s.shares.Counts, hi-lo)
			if r == rank {
				s.lo, s.hi = s.from+lo, s.from+hi
			}
		}
		s.velocity = make([]float32, s.hi-s.lo)
		t.shards = append(t.shards, s)
		from = s.to
	}
	t.forget()
}

// gather gets the shards of the other ranks, if there are any.
func (t *trainer) gather(ctx context.Context) error {
	for _, s := range t.shards {
		if err := fast.AllGatherV(ctx, t.c, t.params[s.from:s.to], s.shares); err != nil {
			return err
		}
	}
	return nil
}

// forget overwrites the shards of the other ranks, whose memory a large model would free: if anything used them before
// the next gather, its result would not be a number.
func (t *trainer) forget() {
	for _, s := range t.shards {
		for i := s.from; i < s.to; i++ {
			if i < s.lo || i >= s.hi {
				t.params[i] = float32(math.NaN())
			}
		}
	}
}

// sumShard starts to sum the gradient of a layer over all ranks: each gets its shard of the sum.
func (t *trainer) sumShard(ctx context.Context, s *shard) {
	s.sum = fast.StartReduceScatterV(ctx, t.c, t.grad[s.from:s.to], s.shares, fast.Sum, t.options...)
}

// waitForShards returns when all sums are there.
func (t *trainer) waitForShards(ctx context.Context) error {
	for i := len(t.shards) - 1; i >= 0; i-- { // in the order in which they were started
		if err := t.shards[i].sum.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
