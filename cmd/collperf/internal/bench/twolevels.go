package bench

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/hosts"
	"github.com/collgen/collgen/fast/quantized"
)

// inHosts returns the function that calls the operation of that name in package hosts, or nil if there is none.
func inHosts[T fast.Elem](name string) invoke[T] {
	return map[string]invoke[T]{
		"all-reduce": func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
			return hosts.AllReduceInto(ctx, v.hosts, v.out, v.in, v.op)
		},
		"broadcast": func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
			return hosts.BroadcastInto(ctx, v.hosts, v.out, v.in, v.root)
		},
		"reduce": func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
			return hosts.ReduceInto(ctx, v.hosts, v.out, v.in, v.op, v.root)
		},
		"all-gather": func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
			return hosts.AllGatherInto(ctx, v.hosts, v.out, v.in)
		},
		"reduce-scatter": func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
			return hosts.ReduceScatterInto(ctx, v.hosts, v.out, v.in, v.op)
		},
		"all-to-all": func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
			return hosts.AllToAllInto(ctx, v.hosts, v.out, v.in)
		},
		"barrier": func(ctx context.Context, v *invocation[T], _ []fast.Option) error { return hosts.Barrier(ctx, v.hosts) },
	}[name]
}

// Quantizations are the ways in which an all-reduce can be quantized between hosts.
var Quantizations = []quantized.Options{{Format: quantized.Int8}, {Format: quantized.Float8E4M3},
	{Format: quantized.Float8E5M2}}

// FormatOf returns the name of the format of numbers.
func FormatOf(o quantized.Options) string { return o.Format.String() }

// quantizing returns the function that makes an all-reduce, of float32, which is quantized between hosts.
func quantizing[T fast.Elem](o quantized.Options) invoke[T] {
	return func(ctx context.Context, v *invocation[T], _ []fast.Option) error {
		return hosts.AllReduceQuantizedInto(ctx, v.hosts, any(v.out).([]float32), any(v.in).([]float32), v.op, o)
	}
}

// InHosts reports whether package hosts has o.
func (o *Operation) InHosts() bool { return inHosts[float32](o.Name) != nil }

// byHosts has s measure the calls of package hosts until done.
func (s *Session) byHosts(ctx context.Context) (done func() error, err error) {
	if !s.Hosts {
		return func() error { return nil }, nil
	}
	h, err := hosts.New(ctx, s.Comm)
	if err != nil {
		return nil, err
	}
	s.hosts = h
	return h.Close, nil
}
