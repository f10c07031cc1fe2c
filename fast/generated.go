package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// What follows is for generated code: that of this package calls it, and that of others through package collective.

func init() { exec.Runtime = forGenerated{} }

// forGenerated is what this package does for package collective, which takes care that its communicators and handles are
// those of this package.
type forGenerated struct{}

func (forGenerated) Do(ctx context.Context, c any, k *exec.Collective, t spec.Type, args *exec.Args, dst, src []byte, opts []exec.Option) error {
	return c.(*Comm).doGenerated(ctx, k, t, args, dst, src, opts)
}

func (forGenerated) Start(opts []exec.Option, call func(opts []exec.Option) error) any {
	return start(opts, call)
}

// do carries out one call of k on c, as collective.Do does.
func do[T Elem](ctx context.Context, c *Comm, k *exec.Collective, dst, src []T, args *exec.Args, opts []Option) error {
	return c.doGenerated(ctx, k, spec.TypeOf[T](), args, exec.Bytes(dst), exec.Bytes(src), opts)
}

// doGenerated carries out one call of k, and remembers a call that was to be started and is refused.
func (c *Comm) doGenerated(ctx context.Context, k *exec.Collective, t spec.Type, args *exec.Args, dst, src []byte, opts []Option) error {
	switch {
	case k == nil:
		return refuse("Do", "the collective is nil")
	case args == nil:
		return refuse(k.Name, "the arguments are nil")
	}
	err := c.do(ctx, k, t, args, dst, src, opts)
	if err != nil && len(opts) > 0 {
		c.refused(opts)
	}
	return err
}

// start has call start what it calls by passing opts on to do.
func start(opts []Option, call func(opts []Option) error) *Handle {
	h := &Handle{done: make(chan struct{})}
	err := call(append(opts[:len(opts):len(opts)], Option{Kind: exec.StartOption, Handle: h}))
	if err != nil || h.queue == nil {
		h.finish(err)
	}
	return h
}

// refuse returns the error of a call of primitive with a bad argument. It wraps ErrInvalidArgument.
func refuse(primitive, format string, args ...any) error {
	return wire.Refuse(primitive, format, args...)
}
