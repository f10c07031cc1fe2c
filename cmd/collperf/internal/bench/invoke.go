package bench

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/hosts"
)

// invocation is a call of an operation on one rank. Package fast ignores buffers that the rank does not pass.
type invocation[T fast.Elem] struct {
	c       *fast.Comm
	hosts   *hosts.Comm // of c, for calls of package hosts
	out, in []T
	op      fast.Op
	root    int
	blocks  fast.Blocks // of uneven ones
}

// invoke makes the call. In place, the two buffers overlap.
type invoke[T fast.Elem] func(ctx context.Context, v *invocation[T], opts []fast.Option) error

// invokeOf returns the function that calls the operation of that name.
func invokeOf[T fast.Elem](name string) invoke[T] {
	return map[string]invoke[T]{
		"all-reduce": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.AllReduceInto(ctx, v.c, v.out, v.in, v.op, opts...)
		},
		"broadcast": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.BroadcastInto(ctx, v.c, v.out, v.in, v.root, opts...)
		},
		"reduce": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ReduceInto(ctx, v.c, v.out, v.in, v.op, v.root, opts...)
		},
		"all-gather": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.AllGatherInto(ctx, v.c, v.out, v.in, opts...)
		},
		"reduce-scatter": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ReduceScatterInto(ctx, v.c, v.out, v.in, v.op, opts...)
		},
		"scan": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ScanInto(ctx, v.c, v.out, v.in, v.op, opts...)
		},
		"exscan": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ExscanInto(ctx, v.c, v.out, v.in, v.op, opts...)
		},
		"all-gather-v": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.AllGatherVInto(ctx, v.c, v.out, v.blocks, v.in, opts...)
		},
		"reduce-scatter-v": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ReduceScatterVInto(ctx, v.c, v.out, v.in, v.blocks, v.op, opts...)
		},
		"gather-v": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.GatherVInto(ctx, v.c, v.out, v.blocks, v.in, v.root, opts...)
		},
		"scatter-v": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ScatterVInto(ctx, v.c, v.out, v.in, v.blocks, v.root, opts...)
		},
		"all-to-all-v": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.AllToAllV(ctx, v.c, v.out, v.blocks, v.in, v.blocks, opts...)
		},
		"all-to-all": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.AllToAllInto(ctx, v.c, v.out, v.in, opts...)
		},
		"gather": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.GatherInto(ctx, v.c, v.out, v.in, v.root, opts...)
		},
		"scatter": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.ScatterInto(ctx, v.c, v.out, v.in, v.root, opts...)
		},
		"barrier": func(ctx context.Context, v *invocation[T], opts []fast.Option) error {
			return fast.Barrier(ctx, v.c, opts...)
		},
		"ping-pong": func(ctx context.Context, v *invocation[T], _ []fast.Option) error { return pingPong(ctx, v) },
	}[name]
}

// pingPong sends a message from rank 0 to rank 1 and one back. The other ranks do nothing.
func pingPong[T fast.Elem](ctx context.Context, v *invocation[T]) error {
	switch v.c.Rank() {
	case 0:
		if err := fast.Send(ctx, v.c, v.in, 1); err != nil {
			return err
		}
		return fast.Recv(ctx, v.c, v.out, 1)
	case 1:
		if err := fast.Recv(ctx, v.c, v.out, 0); err != nil {
			return err
		}
		return fast.Send(ctx, v.c, v.in, 0)
	}
	return nil
}
