package fast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/spec"
)

// untypedCase is a call by its function, and the same one by Do: the blocks of its buffers, and what it takes besides.
type untypedCase struct {
	dst, src int // blocks; size stands for one of each rank
	call     Call
	typed    func(ctx context.Context, c *Comm, dst, src []int32, even Blocks) error
}

const ofEach = -1

// untypedCases are all collectives.
var untypedCases = []untypedCase{
	{ofEach, 1, Call{Collective: "AllGather"}, func(ctx context.Context, c *Comm, dst, src []int32, _ Blocks) error {
		return AllGatherInto(ctx, c, dst, src)
	}},
	{ofEach, 1, Call{Collective: "AllGatherV"}, func(ctx context.Context, c *Comm, dst, src []int32, even Blocks) error {
		return AllGatherVInto(ctx, c, dst, even, src)
	}},
	{1, 1, Call{Collective: "AllReduce", Op: Max}, func(ctx context.Context, c *Comm, dst, src []int32, _ Blocks) error {
		return AllReduceInto(ctx, c, dst, src, Max)
	}},
	{ofEach, ofEach, Call{Collective: "AllToAll"}, func(ctx context.Context, c *Comm, dst, src []int32, _ Blocks) error {
		return AllToAllInto(ctx, c, dst, src)
	}},
	{ofEach, ofEach, Call{Collective: "AllToAllV"}, func(ctx context.Context, c *Comm, dst, src []int32,
		even Blocks) error {
		return AllToAllV(ctx, c, dst, even, src, even)
	}},
	{0, 0, Call{Collective: "Barrier"}, func(ctx context.Context, c *Comm, _, _ []int32, _ Blocks) error {
		return Barrier(ctx, c)
	}},
	{1, 1, Call{Collective: "Broadcast", Root: 1}, func(ctx context.Context, c *Comm, dst, src []int32, _ Blocks) error {
		return BroadcastInto(ctx, c, dst, src, 1)
	}},
	{1, 1, Call{Collective: "Exscan", Op: Prod}, func(ctx context.Context, c *Comm, dst, src []int32, _ Blocks) error {
		return ExscanInto(ctx, c, dst, src, Prod)
	}},
	{ofEach, 1, Call{Collective: "Gather", Root: 1}, func(ctx context.Context, c *Comm, dst, src []int32,
		_ Blocks) error {
		return GatherInto(ctx, c, dst, src, 1)
	}},
	{ofEach, 1, Call{Collective: "GatherV", Root: 1}, func(ctx context.Context, c *Comm, dst, src []int32,
		even Blocks) error {
		return GatherVInto(ctx, c, dst, even, src, 1)
	}},
	{1, 1, Call{Collective: "Reduce", Op: Sum, Root: 1}, func(ctx context.Context, c *Comm, dst, src []int32,
		_ Blocks) error {
		return ReduceInto(ctx, c, dst, src, Sum, 1)
	}},
	{1, ofEach, Call{Collective: "ReduceScatter", Op: Sum}, func(ctx context.Context, c *Comm, dst, src []int32,
		_ Blocks) error {
		return ReduceScatterInto(ctx, c, dst, src, Sum)
	}},
	{1, ofEach, Call{Collective: "ReduceScatterV", Op: Min}, func(ctx context.Context, c *Comm, dst, src []int32,
		even Blocks) error {
		return ReduceScatterVInto(ctx, c, dst, src, even, Min)
	}},
	{1, 1, Call{Collective: "Scan", Op: BXor}, func(ctx context.Context, c *Comm, dst, src []int32, _ Blocks) error {
		return ScanInto(ctx, c, dst, src, BXor)
	}},
	{1, ofEach, Call{Collective: "Scatter", Root: 1}, func(ctx context.Context, c *Comm, dst, src []int32,
		_ Blocks) error {
		return ScatterInto(ctx, c, dst, src, 1)
	}},
	{1, ofEach, Call{Collective: "ScatterV", Root: 1}, func(ctx context.Context, c *Comm, dst, src []int32,
		even Blocks) error {
		return ScatterVInto(ctx, c, dst, src, even, 1)
	}},
	{1, 1, Call{Collective: "SendRecv", To: ofEach, From: ofEach}, func(ctx context.Context, c *Comm, dst, src []int32,
		_ Blocks) error {
		return SendRecv(ctx, c, src, next(c), dst, previous(c))
	}},
}

func next(c *Comm) int { return (c.Rank() + 1) % c.Size() }

func previous(c *Comm) int { return (c.Rank() + c.Size() - 1) % c.Size() }

// TestUntyped: every collective by Do and Start leaves what its function leaves, on each rank.
func TestUntyped(t *testing.T) {
	covered := map[string]bool{"Send": true} // SendRecv consists of it; TestUntypedPair has it alone
	for _, x := range untypedCases {
		covered[x.call.Collective] = true
	}
	for _, name := range Collectives() {
		if !covered[name] {
			t.Errorf("%s is not tried", name)
		}
	}
	const size, count = 3, 5
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, size)
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
				for _, x := range untypedCases {
					if err := x.compare(t.Context(), c, count); err != nil {
						return fmt.Errorf("%s: %w", x.call.Collective, err)
					}
				}
				return nil
			}))
		})
	}
}

// compare makes the call by its function, by Do and by Start.
func (x untypedCase) compare(ctx context.Context, c *Comm, count int) error {
	blocks := func(n int) []int32 { return make([]int32, fasttest.Unless(n == ofEach, n, c.Size())*count) }
	src, want := blocks(x.src), blocks(x.dst)
	for i := range src {
		src[i] = int32(fasttest.Element(c.Rank(), i, 1))
	}
	even := Blocks{Counts: make([]int, c.Size())}
	for i := range even.Counts {
		even.Counts[i] = count
	}
	if err := x.typed(ctx, c, want, src, even); err != nil {
		return err
	}
	got := blocks(x.dst)
	call := x.call
	call.Type, call.Dst, call.Src, call.DstBlocks, call.SrcBlocks = spec.TypeInt32, exec.Bytes(got), exec.Bytes(src), even,
		even
	if x.call.To == ofEach {
		call.To, call.From = next(c), previous(c)
	}
	if err := Do(ctx, c, call); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("by Do, %v where %v: %w", got, want, errors.Join(err, ErrAborted))
	}
	clear(got)
	if err := Start(ctx, c, call).Wait(ctx); err != nil || !reflect.DeepEqual(got, want) {
		return fmt.Errorf("by Start, %v where %v: %w", got, want, errors.Join(err, ErrAborted))
	}
	return nil
}

// TestUntypedPair has a Send and a Recv by Do, and SendRecv in place, which a started call copies first.
func TestUntypedPair(t *testing.T) {
	all := comms(t, 2)
	defer leaveAll(all)
	ctx := t.Context()
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *Comm) error {
		mine, other := []byte{byte(c.Rank()), 7}, 1-c.Rank()
		call := Call{Collective: "Send", Type: spec.TypeUint16, Src: mine, To: other}
		if c.Rank() == 1 {
			call = Call{Collective: "Recv", Type: spec.TypeUint16, Dst: mine, From: other}
		}
		if err := Do(ctx, c, call); err != nil || mine[0] != 0 {
			return fmt.Errorf("%v: %w", mine, errors.Join(err, ErrAborted))
		}
		mine[0] = byte(c.Rank())
		both := Call{Collective: "SendRecv", Type: spec.TypeUint16, Dst: mine, Src: mine, To: other, From: other}
		if err := Do(ctx, c, both); err != nil || mine[0] != byte(other) {
			return fmt.Errorf("%v: %w", mine, errors.Join(err, ErrAborted))
		}
		if err := Start(ctx, c, both).Wait(ctx); err != nil || mine[0] != byte(c.Rank()) {
			return fmt.Errorf("started, %v: %w", mine, errors.Join(err, ErrAborted))
		}
		return nil
	}))
}

// TestUntypedTypes: a call has the elements of its type, of which two reductions tell all types apart that are equally
// long.
func TestUntypedTypes(t *testing.T) {
	ctx, c := t.Context(), comms(t, 1)[0]
	defer leaveAll([]*Comm{c})
	for _, typ := range spec.Types() {
		src := make([]byte, 3*typ.Bytes())
		src[0] = 1
		dst := make([]byte, len(src))
		call := Call{Collective: "AllReduce", Type: typ, Op: Sum, Dst: dst, Src: src}
		if typ == spec.TypeBool {
			call.Op = LOr
		}
		if err := Do(ctx, c, call); err != nil || !bytes.Equal(dst, src) {
			t.Errorf("%v: %v: %v", typ, dst, err)
		}
		if c.exec.Call.Elem != typ || c.exec.Call.Count != 3 {
			t.Errorf("%v: the call has %d elements of %v", typ, c.exec.Call.Count, c.exec.Call.Elem)
		}
	}
}

// TestUntypedRefused: what no function of this package could be passed is refused, and a call that is refused does no
// harm.
func TestUntypedRefused(t *testing.T) {
	ctx, c := t.Context(), comms(t, 1)[0]
	defer leaveAll([]*Comm{c})
	x := exec.Bytes(make([]int64, 3))
	for _, test := range []struct {
		call Call
		want string
	}{
		{Call{Collective: "AllReduc", Type: spec.TypeInt8}, `no collective "AllReduc"`},
		{Call{Type: spec.TypeInt8}, `no collective ""`},
		{Call{Collective: "AllReduce", Op: Sum, Dst: x, Src: x}, "the type of its elements is type(0)"},
		{Call{Collective: "Recv", Type: 200}, "the type of its elements is type(200)"},
		{Call{Collective: "AllReduce", Type: spec.TypeInt64, Op: Sum, Dst: x, Src: x[:15]}, "of 15 bytes"},
		{Call{Collective: "AllReduce", Type: spec.TypeInt32, Op: Sum, Dst: x[:8], Src: x[9:17]}, "not aligned to 4"},
		{Call{Collective: "AllReduce", Type: spec.TypeComplex64, Op: Sum, Dst: x[:8], Src: x[10:18]}, "not aligned to 4"},
		{Call{Collective: "AllReduce", Type: spec.TypeInt64, Op: Sum, Dst: x, Src: x[:16]}, "len(dst) is 3, want 2"},
		{Call{Collective: "AllReduce", Type: spec.TypeInt64, Dst: x, Src: x}, "none of the ops"},
		{Call{Collective: "AllGatherV", Type: spec.TypeInt64, Dst: x, Src: x}, "blocks has 0 Counts"},
		{Call{Collective: "Send", Type: spec.TypeInt64, Src: x}, "with itself"},
	} {
		for _, err := range []error{Do(ctx, c, test.call), Start(ctx, c, test.call).Wait(ctx)} {
			if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q is not in: %v", test.want, err)
			}
		}
	}
	odd := Call{Collective: "AllReduce", Type: spec.TypeFloat8E5M2, Op: Sum, Dst: x[1:2], Src: x[3:4]}
	if err := Do(ctx, c, odd); err != nil {
		t.Error(err)
	}
	checkHealthy(t, []*Comm{c})
}

// TestUntypedAllocations: a call by Do allocates nothing.
func TestUntypedAllocations(t *testing.T) {
	ctx, c := t.Context(), comms(t, 1)[0]
	defer leaveAll([]*Comm{c})
	x := exec.Bytes(make([]float32, 4))
	calls := []Call{
		{Collective: "AllReduce", Type: spec.TypeFloat32, Op: Sum, Dst: x, Src: x},
		{Collective: "AllToAllV", Type: spec.TypeFloat32, Dst: x[:8], Src: x[8:], DstBlocks: Blocks{Counts: []int{2}},
			SrcBlocks: Blocks{Counts: []int{2}}},
	}
	if n := testing.AllocsPerRun(100, func() {
		for _, call := range calls {
			if err := Do(ctx, c, call); err != nil {
				t.Error(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
