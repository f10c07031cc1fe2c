package hosts

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// TestConform: calls do what the specifications say, by the tests that any implementation can be put to: with every
// type and op, and values that sums of floats round.
func TestConform(t *testing.T) { colltest.Run(t, conform{}) }

// conform is this package as colltest takes it: goroutines on hosts.
type conform struct{}

func (conform) Capabilities() colltest.Capabilities {
	can := colltest.Everything("fast/hosts", 1, 2, 3, 5, 8)
	can.Primitives = slices.DeleteFunc(can.Primitives, func(s colltest.Support) bool {
		return forms[int8]()[s.Primitive.Name] == nil
	})
	for i := range can.Primitives {
		can.Primitives[i].Uneven = false
	}
	return can
}

func (conform) Start(ctx context.Context, size int) (colltest.World, error) {
	p := placement{0, 1, 0, 2, 0, 1, 0, 3}[:size]
	w := &conformWorld{make([]*Comm, size)}
	job, made := inproc.NewJob(size), make(chan error)
	for rank := range size {
		go func() {
			c, err := access.Fast.Goroutine(job.Plane(rank), size, []fast.InitOption(nil))
			if err == nil {
				w.all[rank], err = on(ctx, c.(*fast.Comm), p.hosts())
			}
			made <- err
		}()
	}
	var all error
	for range size {
		all = errors.Join(all, <-made)
	}
	return w, all
}

// conformWorld is the ranks, which the suite calls.
type conformWorld struct{ all []*Comm }

// Call makes a rank's part of a call.
func (w *conformWorld) Call(ctx context.Context, rank int, x *colltest.Call) error {
	return byType[x.Type](ctx, w.all[rank], x)
}

// Close ends the ranks.
func (w *conformWorld) Close() (err error) {
	for _, h := range w.all {
		err = errors.Join(err, h.Close(), h.c.Close())
	}
	return err
}

// byType are calls, by the type of their elements.
var byType = map[spec.Type]func(ctx context.Context, h *Comm, x *colltest.Call) error{
	spec.TypeInt8: conforms[int8], spec.TypeInt16: conforms[int16], spec.TypeInt32: conforms[int32],
	spec.TypeInt64: conforms[int64], spec.TypeUint8: conforms[uint8], spec.TypeUint16: conforms[uint16],
	spec.TypeUint32: conforms[uint32], spec.TypeUint64: conforms[uint64], spec.TypeFloat16: conforms[fast.Float16],
	spec.TypeBFloat16: conforms[fast.BFloat16], spec.TypeFloat32: conforms[float32], spec.TypeFloat64: conforms[float64],
	spec.TypeComplex64: conforms[complex64], spec.TypeComplex128: conforms[complex128], spec.TypeBool: conforms[bool],
	spec.TypeFloat8E4M3: conforms[fast.Float8E4M3], spec.TypeFloat8E5M2: conforms[fast.Float8E5M2],
}

// conforms makes a rank's part of a call of elements of T.
func conforms[T fast.Elem](ctx context.Context, h *Comm, x *colltest.Call) error {
	return forms[T]()[x.Primitive](ctx, h, x, colltest.As[T](x.Out()), colltest.As[T](x.In()))
}

// forms are the calls, by their names. In place, dst and src share memory.
func forms[T fast.Elem]() map[string]func(ctx context.Context, h *Comm, x *colltest.Call, dst, src []T) error {
	return map[string]func(ctx context.Context, h *Comm, x *colltest.Call, dst, src []T) error{
		"AllReduce": func(ctx context.Context, h *Comm, x *colltest.Call, dst, src []T) error {
			return AllReduceInto(ctx, h, dst, src, x.Op)
		},
		"Broadcast": func(ctx context.Context, h *Comm, x *colltest.Call, dst, src []T) error {
			return BroadcastInto(ctx, h, dst, src, x.Root)
		},
		"Reduce": func(ctx context.Context, h *Comm, x *colltest.Call, dst, src []T) error {
			return ReduceInto(ctx, h, dst, src, x.Op, x.Root)
		},
		"AllGather": func(ctx context.Context, h *Comm, _ *colltest.Call, dst, src []T) error {
			return AllGatherInto(ctx, h, dst, src)
		},
		"ReduceScatter": func(ctx context.Context, h *Comm, x *colltest.Call, dst, src []T) error {
			return ReduceScatterInto(ctx, h, dst, src, x.Op)
		},
		"AllToAll": func(ctx context.Context, h *Comm, _ *colltest.Call, dst, src []T) error {
			return AllToAllInto(ctx, h, dst, src)
		},
		"Barrier": func(ctx context.Context, h *Comm, _ *colltest.Call, _, _ []T) error { return Barrier(ctx, h) },
	}
}
