package verify_test

import (
	"context"
	"reflect"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/message"
	"github.com/collgen/collgen/fast/neighbor"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// forms are the functions that users call for one primitive.
type forms struct{ into, inPlace, startInto, startInPlace any }

// functionsOf returns the forms of the collective that the primitive of that name is. What a function takes follows
// from the primitive.
func functionsOf[T spec.Elem](name string) forms {
	switch name {
	case "AllGather":
		return forms{fast.AllGatherInto[T], fast.AllGather[T], fast.StartAllGatherInto[T], fast.StartAllGather[T]}
	case "AllReduce":
		return forms{fast.AllReduceInto[T], fast.AllReduce[T], fast.StartAllReduceInto[T], fast.StartAllReduce[T]}
	case "AllToAll":
		return forms{fast.AllToAllInto[T], fast.AllToAll[T], fast.StartAllToAllInto[T], fast.StartAllToAll[T]}
	case "Barrier":
		return forms{into: fast.Barrier, startInto: fast.StartBarrier}
	case "Broadcast":
		return forms{fast.BroadcastInto[T], fast.Broadcast[T], fast.StartBroadcastInto[T], fast.StartBroadcast[T]}
	case "Exscan":
		return forms{fast.ExscanInto[T], fast.Exscan[T], fast.StartExscanInto[T], fast.StartExscan[T]}
	case "Gather":
		return forms{fast.GatherInto[T], fast.Gather[T], fast.StartGatherInto[T], fast.StartGather[T]}
	case "Reduce":
		return forms{fast.ReduceInto[T], fast.Reduce[T], fast.StartReduceInto[T], fast.StartReduce[T]}
	case "ReduceScatter":
		return forms{fast.ReduceScatterInto[T], fast.ReduceScatter[T],
			fast.StartReduceScatterInto[T], fast.StartReduceScatter[T]}
	case "AllGatherV":
		return forms{fast.AllGatherVInto[T], fast.AllGatherV[T], fast.StartAllGatherVInto[T], fast.StartAllGatherV[T]}
	case "AllToAllV":
		return forms{into: fast.AllToAllV[T], startInto: fast.StartAllToAllV[T]}
	case "GatherV":
		return forms{fast.GatherVInto[T], fast.GatherV[T], fast.StartGatherVInto[T], fast.StartGatherV[T]}
	case "ReduceScatterV":
		return forms{fast.ReduceScatterVInto[T], fast.ReduceScatterV[T],
			fast.StartReduceScatterVInto[T], fast.StartReduceScatterV[T]}
	case "ScatterV":
		return forms{fast.ScatterVInto[T], fast.ScatterV[T], fast.StartScatterVInto[T], fast.StartScatterV[T]}
	case "Scan":
		return forms{fast.ScanInto[T], fast.Scan[T], fast.StartScanInto[T], fast.StartScan[T]}
	case "Scatter":
		return forms{fast.ScatterInto[T], fast.Scatter[T], fast.StartScatterInto[T], fast.StartScatter[T]}
	}
	panic("there is no " + name)
}

func (f forms) pick(inPlace, start bool) any {
	switch {
	case inPlace && start:
		return f.startInPlace
	case inPlace:
		return f.inPlace
	case start:
		return f.startInto
	}
	return f.into
}

// invoke calls the function that b's call is, or starts it. With the receive of a SendRecv, b is its send.
func (b *buffers[T]) invoke(ctx context.Context, start bool, receive rankBuffers) (*fast.Handle, error) {
	x := b.x
	switch {
	case receive != nil:
		r := receive.(*buffers[T])
		return invoke(either(start, fast.StartSendRecv[T], fast.SendRecv[T]), ctx, b.c, b.in, x.Peer, r.out, r.x.Root)
	case x.Primitive == spec.Send.Name && b.c.Rank() == x.Root:
		return invoke(either(start, fast.StartSend[T], fast.Send[T]), append([]any{ctx, b.c, b.in, x.Peer}, x.each()...)...)
	case x.Primitive == spec.Send.Name:
		return invoke(either(start, fast.StartRecv[T], fast.Recv[T]), append([]any{ctx, b.c, b.out, x.Root}, x.each()...)...)
	}
	args := append([]any{ctx, b.c}, b.arguments()...)
	return invoke(functionsOf[T](x.Primitive).pick(x.InPlace, start), args...)
}

// message sends or receives the message with the call's tag, or starts to.
func (b *buffers[T]) message(ctx context.Context, start bool) (handle, error) {
	x := b.x
	switch sends := b.c.Rank() == x.Root; {
	case sends && start:
		return message.StartSend(ctx, b.c, b.in, x.Peer, x.Tag), nil
	case sends:
		return nil, message.Send(ctx, b.c, b.in, x.Peer, x.Tag)
	case start:
		return message.StartRecv(ctx, b.c, b.out, x.Root, x.Tag), nil
	}
	_, err := message.Recv(ctx, b.c, b.out, x.Root, x.Tag)
	return nil, err
}

// exchange makes the call among the neighbours in g, or starts it.
func (b *buffers[T]) exchange(ctx context.Context, g *neighbor.Graph, start bool) (handle, error) {
	x := b.x
	switch uneven := x.Uneven; {
	case x.Primitive == colltest.NeighborAllGather.Name && start:
		return neighbor.StartAllGather(ctx, g, b.out, b.in), nil
	case x.Primitive == colltest.NeighborAllGather.Name:
		return nil, neighbor.AllGather(ctx, g, b.out, b.in)
	case uneven && start:
		return neighbor.StartAllToAllV(ctx, g, b.out, x.outBlocks(1), b.in, x.inBlocks(1)), nil
	case uneven:
		return nil, neighbor.AllToAllV(ctx, g, b.out, x.outBlocks(1), b.in, x.inBlocks(1))
	case start:
		return neighbor.StartAllToAll(ctx, g, b.out, b.in), nil
	}
	return nil, neighbor.AllToAll(ctx, g, b.out, b.in)
}

func either(which bool, yes, no any) any {
	if which {
		return yes
	}
	return no
}

// arguments returns those of a collective, from the buffers on.
func (b *buffers[T]) arguments() []any {
	p, x := primitive(b.x.Primitive), b.x
	var args []any
	switch {
	case x.InPlace:
		args = append(args, b.whole)
		if p.IsUneven() {
			args = append(args, longer(x.inBlocks(x.InAt), x.outBlocks(x.InAt)))
		}
	case p.IsUneven():
		args = append(args, b.out)
		if isForEach(p.Out) {
			args = append(args, x.outBlocks(x.InAt))
		}
		args = append(args, b.in)
		if isForEach(p.In) {
			args = append(args, x.inBlocks(x.OutAt))
		}
	case !p.In.Blocks.IsAbsent():
		args = append(args, b.out, b.in)
	}
	for _, param := range p.Params {
		switch param {
		case spec.ParamOp:
			args = append(args, x.Op)
		case spec.ParamRoot:
			args = append(args, x.Root)
		}
	}
	if x.Algorithm != "" {
		args = append(args, fast.WithAlgorithm(x.Algorithm), fast.WithDepth(x.Depth))
	}
	return append(args, x.each()...)
}

// isForEach reports whether a buffer has a block for each rank.
func isForEach(b spec.Buffer) bool { return b.Blocks.String() == spec.Size.String() }

func longer(x, y fast.Blocks) fast.Blocks {
	if len(x.Counts) > len(y.Counts) {
		return x
	}
	return y
}

func (x *rankCall) inBlocks(choice int) fast.Blocks { return blocksOf(x.InCounts, x.InStarts, choice) }
func (x *rankCall) outBlocks(choice int) fast.Blocks {
	return blocksOf(x.OutCounts, x.OutStarts, choice)
}

// blocksOf returns blocks that lie where they are to. If they lie one after the other, it says so, or leaves it to the
// default.
func blocksOf(counts, starts []int, choice int) fast.Blocks {
	b := fast.Blocks{Counts: counts, Displs: starts}
	for at, i := 0, 0; starts == nil && choice%3 == 0 && i < len(counts); i++ {
		b.Displs = append(b.Displs, at)
		at += counts[i]
	}
	return b
}

// primitives are those of package spec: each call looks one up.
var primitives = spec.Primitives()

func primitive(name string) spec.Primitive {
	if i := slices.IndexFunc(primitives, func(p spec.Primitive) bool { return p.Name == name }); i >= 0 {
		return primitives[i]
	}
	panic("there is no " + name)
}

// invoke calls f, which returns an error or a handle.
func invoke(f any, args ...any) (*fast.Handle, error) {
	values := make([]reflect.Value, len(args))
	for i, a := range args {
		values[i] = reflect.ValueOf(a)
	}
	switch x := reflect.ValueOf(f).Call(values)[0].Interface().(type) {
	case *fast.Handle:
		return x, nil
	case error:
		return nil, x
	}
	return nil, nil
}
