// Command job is one rank of a job, or with -run all of them, whose calls write their events down. It has to be built with
// -tags collgen_events.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/collgen/collgen/fast"
)

func main() {
	ranks := flag.Int("run", 0, "`ranks` are goroutines")
	hosts := flag.Int("hosts", 1, "`number` of hosts that processes are said to be on, in turns")
	what := flag.String("do", "calls", "what to `do`")
	flag.Parse()
	do, ok := deeds[*what]
	if !ok {
		exit(fmt.Errorf("there is nothing called %q", *what))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if *ranks > 0 {
		exit(fast.Run(ctx, *ranks, do, fast.WithEventDir(os.Getenv("COLL_EVENTS"))))
	}
	if rank, err := strconv.Atoi(os.Getenv("COLL_RANK")); err == nil && *hosts > 1 {
		if err := os.Setenv("COLL_HOST", fmt.Sprint("host-", rank%*hosts)); err != nil {
			exit(err)
		}
	}
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		exit(err)
	}
	exit(errors.Join(do(ctx, c), c.Close()))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// deeds are what a job can do.
var deeds = map[string]func(context.Context, *fast.Comm) error{
	"few": few, "calls": calls, "slow": slow, "killed": killed, "cancelled": cancelled, "mismatched": mismatched,
	"ahead": ahead,
}

// few makes a call of each kind: a reduction of what is received, one of what is lent, a signal, calls of two ranks, and
// uneven blocks.
func few(ctx context.Context, c *fast.Comm) error {
	x := make([]float32, 30)
	return errors.Join(fast.AllReduce(ctx, c, x, fast.Avg, fast.WithAlgorithm("ring")),
		fast.AllReduce(ctx, c, x[:1], fast.Sum, fast.WithAlgorithm("one-shot")), fast.Barrier(ctx, c), passOn(ctx, c, 9),
		fast.ReduceScatterV(ctx, c, x, fast.Blocks{Counts: append(make([]int, c.Size()-1), 5), Displs: make([]int, c.Size())}, fast.Max))
}

// ahead has rank 0 send as much as it can without waiting for the others.
func ahead(ctx context.Context, c *fast.Comm) (err error) {
	x := make([]float64, 250)
	for range 20 {
		err = errors.Join(err, fast.Broadcast(ctx, c, x, 0, fast.WithAlgorithm("linear")))
	}
	return err
}

// calls makes calls with all algorithms, in place and not, of blocks that are cut by all transports.
func calls(ctx context.Context, c *fast.Comm) error {
	for _, count := range []int{0, 1, 7, 1009, 40009} {
		if err := errors.Join(reductions(ctx, c, count), moves(ctx, c, count), uneven(ctx, c, count), passOn(ctx, c, count)); err != nil {
			return err
		}
	}
	if err := fast.AllReduce(ctx, c, []int8{1}, fast.Op(99)); !errors.Is(err, fast.ErrInvalidArgument) {
		return fmt.Errorf("an op that there is none of: %v", err)
	}
	return errors.Join(registered(ctx, c), inGroups(ctx, c))
}

// inGroups makes calls on communicators of some ranks.
func inGroups(ctx context.Context, c *fast.Comm) error {
	half, err := c.Split(ctx, c.Rank()%2, -c.Rank())
	if err != nil {
		return err
	}
	return errors.Join(moves(ctx, half, 5), half.Close(), fast.Barrier(ctx, c))
}

// registered makes calls on memory that all ranks of a host have.
func registered(ctx context.Context, c *fast.Comm) error {
	x, err := fast.Alloc[float64](ctx, c, 1<<18)
	if err != nil {
		return err
	}
	return errors.Join(fast.AllReduce(ctx, c, x, fast.Sum), fast.Broadcast(ctx, c, x, c.Size()-1), fast.AllToAll(ctx, c, x[:c.Size()<<14]),
		fast.Free(c, x))
}

// each makes calls with algorithms by name, where these serve so many ranks, and as they are chosen.
func each(names []string, call func(opts ...fast.Option) error) error {
	if err := call(); err != nil {
		return err
	}
	for _, name := range names {
		for depth := 1; depth <= 3; depth += 2 {
			err := call(fast.WithAlgorithm(name), fast.WithDepth(depth))
			if err != nil && !errors.Is(err, fast.ErrInvalidArgument) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func reductions(ctx context.Context, c *fast.Comm, count int) error {
	x, y := make([]float64, count), make([]float64, count)
	blocks, block := make([]int32, count*c.Size()), make([]int32, count)
	return errors.Join(
		each([]string{"ring", "one-shot", "two-shot", "tree", "recursive-doubling", "chunked-ring", "segmented-ring"}, func(opts ...fast.Option) error {
			return errors.Join(fast.AllReduce(ctx, c, x, fast.Avg, opts...), fast.AllReduceInto(ctx, c, y, x, fast.Sum, opts...))
		}),
		each([]string{"linear", "binomial", "chain"}, func(opts ...fast.Option) error {
			return errors.Join(fast.Reduce(ctx, c, x, fast.Max, c.Size()-1, opts...), fast.ReduceInto(ctx, c, y, x, fast.Avg, 0, opts...))
		}),
		each([]string{"ring", "direct"}, func(opts ...fast.Option) error {
			return errors.Join(fast.ReduceScatter(ctx, c, blocks, fast.Sum, opts...), fast.ReduceScatterInto(ctx, c, block, blocks, fast.Avg, opts...))
		}),
	)
}

func moves(ctx context.Context, c *fast.Comm, count int) error {
	block, all, more := make([]float64, count), make([]float64, count*c.Size()), make([]float64, count*c.Size())
	last := c.Size() - 1
	return errors.Join(
		each([]string{"linear", "binomial", "chain", "scatter-allgather"}, func(opts ...fast.Option) error {
			return fast.Broadcast(ctx, c, block, last/2, opts...)
		}),
		each([]string{"linear", "binomial"}, func(opts ...fast.Option) error {
			return errors.Join(fast.GatherInto(ctx, c, all, block, 0, opts...), fast.ScatterInto(ctx, c, block, all, last, opts...),
				fast.Gather(ctx, c, atRoot(c, last, all, block), last, opts...), fast.Scatter(ctx, c, atRoot(c, 0, all, block), 0, opts...))
		}),
		each([]string{"direct", "ring", "recursive-doubling"}, func(opts ...fast.Option) error {
			return errors.Join(fast.AllGatherInto(ctx, c, all, block, opts...), fast.AllGather(ctx, c, all, opts...))
		}),
		each([]string{"direct", "pairwise"}, func(opts ...fast.Option) error { return fast.AllToAllInto(ctx, c, more, all, opts...) }),
		each([]string{"direct", "dissemination"}, func(opts ...fast.Option) error { return fast.Barrier(ctx, c, opts...) }),
	)
}

// uneven moves and reduces blocks of different lengths, one of them empty.
func uneven(ctx context.Context, c *fast.Comm, count int) error {
	n, rank := c.Size(), c.Rank()
	same, to, from := make([]int, n), make([]int, n), make([]int, n)
	total, sent, received := 0, 0, 0
	for r := range n {
		same[r] = count * r / 2
		to[r], from[r] = (count+r+2*rank)%3*count, (count+rank+2*r)%3*count
		total, sent, received = total+same[r], sent+to[r], received+from[r]
	}
	all, block := make([]float64, total), make([]float64, same[rank])
	blocks := fast.Blocks{Counts: same}
	return errors.Join(
		each([]string{"direct", "ring"}, func(opts ...fast.Option) error {
			return errors.Join(fast.AllGatherVInto(ctx, c, all, blocks, block, opts...), fast.AllGatherV(ctx, c, all, blocks, opts...))
		}),
		each([]string{"direct", "ring"}, func(opts ...fast.Option) error {
			return errors.Join(fast.ReduceScatterVInto(ctx, c, block, all, blocks, fast.Sum, opts...),
				fast.ReduceScatterV(ctx, c, all, blocks, fast.Sum, opts...))
		}),
		each([]string{"direct", "pairwise"}, func(opts ...fast.Option) error {
			return fast.AllToAllV(ctx, c, make([]float64, received), fast.Blocks{Counts: from}, make([]float64, sent), fast.Blocks{Counts: to}, opts...)
		}),
		fast.GatherVInto(ctx, c, all, blocks, block, 0), fast.ScatterVInto(ctx, c, block, all, blocks, n-1),
	)
}

// atRoot is all on the root, and block on other ranks.
func atRoot(c *fast.Comm, root int, all, block []float64) []float64 {
	if c.Rank() == root {
		return all
	}
	return block
}

// passOn sends around the ring, in all ways of calls between two ranks.
func passOn(ctx context.Context, c *fast.Comm, count int) error {
	x, y := make([]int64, count), make([]int64, count)
	next, prev := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	err := errors.Join(fast.SendRecv(ctx, c, x, next, y, prev), fast.SendRecvReplace(ctx, c, x, prev, next),
		fast.SendRecv(ctx, c, x, c.Rank(), y, c.Rank()))
	if c.Size() == 1 {
		return err
	}
	first, second := fast.StartSend(ctx, c, x, next), fast.StartSend(ctx, c, x[:count/2], next)
	third, fourth := fast.StartRecv(ctx, c, y, prev), fast.StartRecv(ctx, c, y[:count/2], prev)
	err = errors.Join(err, second.Wait(ctx), fourth.Wait(ctx), first.Wait(ctx), third.Wait(ctx))
	if c.Rank() == 0 {
		return errors.Join(err, fast.Send(ctx, c, x, next))
	} else if c.Rank() == 1 {
		return errors.Join(err, fast.Recv(ctx, c, y, prev))
	}
	return err
}

// slow is few with a rank that comes late, again and again.
func slow(ctx context.Context, c *fast.Comm) error {
	for range 3 {
		if c.Rank() == c.Size()-1 {
			time.Sleep(30 * time.Millisecond)
		}
		if err := few(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
