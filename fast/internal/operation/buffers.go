package operation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// Buffers is two buffers of a rank, which begin somewhere in memory of Alloc and have a block for each rank.
type Buffers struct {
	wholes [2][]int
	a, b   []int
	count  int
}

// NewBuffers allocates the buffers of a rank, with blocks of count elements.
func NewBuffers(ctx context.Context, c *fast.Comm, count int) (x Buffers, err error) {
	for i := range x.wholes {
		n := count*c.Size() + i*3
		if x.wholes[i], err = fast.Alloc[int](ctx, c, n); err != nil {
			return x, err
		}
		if got := x.wholes[i]; len(got) != n || cap(got) != n ||
			slices.ContainsFunc(got, func(v int) bool { return v != 0 }) {
			return x, fmt.Errorf("%d elements, of %d, or not 0; want %d", len(got), cap(got), n)
		}
	}
	x.a, x.b, x.count = x.wholes[0], x.wholes[1][3:], count
	return x, nil
}

// Free gives the memory back.
func (x *Buffers) Free(c *fast.Comm) error {
	return errors.Join(fast.Free(c, x.wholes[0]), fast.Free(c, x.wholes[1]))
}

// Operate makes calls that read and write the buffers, and checks what comes out.
func (x *Buffers) Operate(ctx context.Context, c *fast.Comm, seed int) error {
	n, rank, size := x.count, c.Rank(), c.Size()
	refill := func() { copy(x.a, fasttest.Input(rank, n*size, seed)) }
	sum := func(i int) int { return fasttest.Total(size, i, seed) }
	for _, name := range fast.Algorithms("AllReduce") {
		if _, err := fast.Explain(c, fast.Query{Collective: "AllReduce", Bytes: n, Op: fast.Sum},
			fast.WithAlgorithm(name)); err != nil {
			continue // it is for other hosts
		}
		refill()
		err := fast.AllReduceInto(ctx, c, x.b, x.a, fast.Sum, fast.WithAlgorithm(name))
		if err = fasttest.Verified(err, x.b, sum); err == nil {
			err = fasttest.Verified(fast.AllReduce(ctx, c, x.a, fast.Sum, fast.WithAlgorithm(name)), x.a, sum)
		}
		if err != nil {
			return fmt.Errorf("AllReduce by %s: %w", name, err)
		}
	}
	root, part := seed%size, x.a[n/2:]
	refill()
	err := fasttest.Verified(fast.Broadcast(ctx, c, part, root), part, func(i int) int {
		return fasttest.Element(root, n/2+i, seed)
	})
	if err != nil {
		return fmt.Errorf("a broadcast: %w", err)
	}
	refill()
	mine := x.b[:n]
	err = fast.ReduceScatterInto(ctx, c, mine, x.a, fast.Sum)
	if err := fasttest.Verified(err, mine, func(i int) int { return sum(rank*n + i) }); err != nil {
		return fmt.Errorf("ReduceScatter: %w", err)
	}
	err = fast.AllGatherInto(ctx, c, x.b, x.a[:n])
	if err := fasttest.Verified(err, x.b, func(i int) int { return fasttest.Element(i/n, i%n, seed) }); err != nil {
		return fmt.Errorf("AllGather: %w", err)
	}
	err = fast.AllToAllInto(ctx, c, x.b, x.a)
	if err := fasttest.Verified(err, x.b, func(i int) int { return fasttest.Element(i/n, rank*n+i%n, seed) }); err != nil {
		return fmt.Errorf("AllToAll: %w", err)
	}
	return nil
}
