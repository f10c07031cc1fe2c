package main

import (
	"context"
	"math"

	"github.com/collgen/collgen/fast"
)

// The sizes of the block: tokens are rows of width numbers.
const (
	tokens = 22
	width  = 32
	heads  = 8
	head   = width / heads
	hidden = 4 * width
)

// block is one rank's part of a transformer block.
type block struct {
	query, key, value matrix // columns of its heads
	out               matrix // the rows that belong to them
	up, down          matrix // columns, and the rows that belong to them
}

// newBlock draws the same matrices on all ranks, and keeps this rank's part of each. Ranks without a head add nothing.
func newBlock(rank, size int) *block {
	lo, hi := fast.Shard(heads, rank, size)
	lo, hi = lo*head, hi*head
	b := &block{
		query: random(width, width, 2).columnsOf(lo, hi),
		key:   random(width, width, 3).columnsOf(lo, hi),
		value: random(width, width, 4).columnsOf(lo, hi),
		out:   random(width, width, 5).rowsOf(lo, hi),
	}
	lo, hi = fast.Shard(hidden, rank, size)
	b.up, b.down = random(width, hidden, 6).columnsOf(lo, hi), random(hidden, width, 7).rowsOf(lo, hi)
	return b
}

// attention returns this rank's summand of the attention.
func (b *block) attention(x matrix) matrix {
	q, k, v := x.times(b.query), x.times(b.key), x.times(b.value)
	all := newMatrix(x.rows, q.columns)
	for at := 0; at < q.columns; at += head {
		weights := q.columnsOf(at, at+head).times(k.columnsOf(at, at+head).transposed())
		weights.softmax(1 / math.Sqrt(head))
		all.setColumns(at, weights.times(v.columnsOf(at, at+head)))
	}
	return all.times(b.out)
}

// feedForward returns this rank's summand of the part after the attention.
func (b *block) feedForward(x matrix) matrix {
	y := x.times(b.up)
	for i := range y.v {
		y.v[i] = max(y.v[i], 0)
	}
	return y.times(b.down)
}

// tensorParallel returns the block's output. All ranks have all of x and of the output. A nil c is one rank.
func (b *block) tensorParallel(ctx context.Context, c *fast.Comm, x matrix) (matrix, error) {
	for _, part := range []func(matrix) matrix{b.attention, b.feedForward} {
		y := part(x.normalized())
		if c != nil {
			if err := fast.AllReduce(ctx, c, y.v, fast.Sum); err != nil {
				return y, err
			}
		}
		x = x.plus(y)
	}
	return x, nil
}

// sequenceParallel returns this rank's rows of the output. It has only these rows of x, which are those of fast.Shard.
func (b *block) sequenceParallel(ctx context.Context, c *fast.Comm, mine matrix) (matrix, error) {
	var rows fast.Blocks
	for rank := range c.Size() {
		lo, hi := fast.Shard(tokens, rank, c.Size())
		rows.Counts = append(rows.Counts, (hi-lo)*width)
	}
	for _, part := range []func(matrix) matrix{b.attention, b.feedForward} {
		all, sum := newMatrix(tokens, width), newMatrix(mine.rows, width)
		if err := fast.AllGatherVInto(ctx, c, all.v, rows, mine.normalized().v); err != nil {
			return mine, err
		}
		if err := fast.ReduceScatterVInto(ctx, c, sum.v, part(all).v, rows, fast.Sum); err != nil {
			return mine, err
		}
		mine = mine.plus(sum)
	}
	return mine, nil
}
