package fast

import (
	"context"
)

// simulatedCall is a call that all ranks make.
type simulatedCall struct {
	name        string
	count, root int // elements in a block
	options     []Option
}

var simulatedCalls = []string{"AllReduce", "AllReduce", "Reduce", "ReduceScatter", "Broadcast", "AllGather", "Gather", "Scatter", "AllToAll",
	"Barrier", "SendRecvReplace"}

func (s *simulatedCall) do(ctx context.Context, c *Comm, buf []int64) error {
	switch s.name {
	case "AllReduce":
		return AllReduce(ctx, c, buf, Sum, s.options...)
	case "Reduce":
		return Reduce(ctx, c, buf, Sum, s.root, s.options...)
	case "ReduceScatter":
		return ReduceScatter(ctx, c, buf, Sum, s.options...)
	case "Broadcast":
		return Broadcast(ctx, c, buf, s.root, s.options...)
	case "AllGather":
		return AllGather(ctx, c, buf, s.options...)
	case "Gather":
		return Gather(ctx, c, buf, s.root, s.options...)
	case "Scatter":
		return Scatter(ctx, c, buf, s.root, s.options...)
	case "AllToAll":
		return AllToAll(ctx, c, buf, s.options...)
	case "SendRecvReplace": // around a ring
		return SendRecvReplace(ctx, c, buf, next(c), previous(c))
	case "Pass":
		return passAlong(ctx, c, buf)
	case "panic": // which no seed draws, nor the next
		panic("planted")
	case "hang":
		select {}
	}
	return Barrier(ctx, c, s.options...)
}

// passAlong passes what rank 0 has around the ring: all others receive until it has come to them, and rank 0 until it
// is back.
func passAlong(ctx context.Context, c *Comm, buf []int64) error {
	send := func() error { return Send(ctx, c, buf, next(c)) }
	if c.Rank() == 0 {
		if err := send(); err != nil {
			return err
		}
	}
	if err := Recv(ctx, c, buf, previous(c)); err != nil || c.Rank() == 0 {
		return err
	}
	return send()
}

// operands returns a rank's buffer before the kth call, and after it.
func (s *simulatedCall) operands(k, rank, size int) (buf, want []int64) {
	for block := range s.blocks(rank, size) {
		for i := range s.count {
			before, after := s.element(rank, size, block, func(from, to int) int64 {
				return int64(((k+1)*size+from)*size+to)*1_000_003 + int64(i)
			})
			buf, want = append(buf, before), append(want, after)
		}
	}
	return buf, want
}

// blocks returns how many blocks a rank's buffer has.
func (s *simulatedCall) blocks(rank, size int) int {
	switch s.name {
	case "Barrier":
		return 0
	case "AllGather", "AllToAll", "ReduceScatter":
		return size
	case "Gather", "Scatter":
		if rank == s.root {
			return size
		}
	}
	return 1
}

// element returns one of a block, before and after the call; value is that which one rank has for another, or for all,
// who are 0.
func (s *simulatedCall) element(rank, size, block int, value func(from, to int) int64) (before, after int64) {
	sum := func(to int) (all int64) {
		for from := range size {
			all += value(from, to)
		}
		return all
	}
	own := value(rank, 0)
	switch s.name {
	case "AllReduce":
		return own, sum(0)
	case "Reduce":
		if rank == s.root {
			return own, sum(0)
		}
	case "ReduceScatter":
		if block == rank {
			return value(rank, block), sum(block)
		}
		return value(rank, block), value(rank, block)
	case "Broadcast":
		return own, value(s.root, 0)
	case "AllGather", "Gather":
		if s.name == "Gather" && rank != s.root || block == rank {
			return own, own
		}
		return -1, value(block, 0)
	case "Scatter":
		if rank == s.root {
			return value(rank, block), value(rank, block)
		}
		return own, value(s.root, rank)
	case "AllToAll":
		return value(rank, block), value(block, rank)
	case "Pass":
		return own, value(0, 0)
	case "SendRecvReplace":
		return own, value((rank+size-1)%size, 0)
	}
	return own, own
}
