package colltest_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// An implementation is adapted by two types: what it can do, and ranks that make calls. This is package fast, with some
// of its collectives and types.
func Example() {
	ctx := context.Background()
	suite := colltest.NewSuite(library{})
	for _, s := range suite.Capabilities().Primitives {
		for _, failure := range suite.Check(ctx, s) {
			fmt.Println(failure)
		}
		fmt.Println(s.Primitive.Name, "was called:", suite.Tested[s.Primitive.Name].Calls > 100)
	}
	if err := suite.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// AllGather was called: true
	// AllReduce was called: true
	// Broadcast was called: true
	// Send was called: true
}

// library is the implementation: package fast, whose ranks are goroutines.
type library struct{}

func (library) Capabilities() colltest.Capabilities {
	can := colltest.Everything("fast", 1, 2, 3, 4)
	can.Types = []spec.Type{spec.TypeInt64, spec.TypeFloat32}
	has := map[string]bool{"AllGather": true, "AllReduce": true, "Broadcast": true, "Send": true}
	var some []colltest.Support
	for _, s := range can.Primitives {
		if has[s.Primitive.Name] {
			s.Uneven = false
			some = append(some, s)
		}
	}
	can.Primitives = some
	return can
}

func (library) Start(_ context.Context, size int) (colltest.World, error) {
	w := &ranks{comms: make([]*fast.Comm, size), leave: make(chan struct{}), left: make(chan error)}
	arrived := make(chan struct{})
	go func() {
		w.left <- fast.Run(context.Background(), size, func(_ context.Context, c *fast.Comm) error {
			w.comms[c.Rank()] = c
			arrived <- struct{}{}
			<-w.leave
			return nil
		})
	}()
	for range size {
		select {
		case <-arrived:
		case err := <-w.left:
			return nil, err
		}
	}
	return w, nil
}

// ranks are the ranks of a world. They stay until it is closed.
type ranks struct {
	comms []*fast.Comm // by rank
	leave chan struct{}
	left  chan error
}

func (w *ranks) Close() error {
	close(w.leave)
	return <-w.left
}

func (w *ranks) Call(ctx context.Context, rank int, c *colltest.Call) error {
	if c.Type == spec.TypeInt64 {
		return call[int64](ctx, w.comms[rank], c)
	}
	return call[float32](ctx, w.comms[rank], c)
}

// call makes a rank's call with elements of type T.
func call[T spec.Elem](ctx context.Context, comm *fast.Comm, c *colltest.Call) error {
	in, out, whole := colltest.As[T](c.In()), colltest.As[T](c.Out()), colltest.As[T](c.Whole())
	switch {
	case c.Primitive == "AllGather" && c.InPlace:
		return fast.AllGather(ctx, comm, whole)
	case c.Primitive == "AllGather":
		return fast.AllGatherInto(ctx, comm, out, in)
	case c.Primitive == "AllReduce" && c.InPlace:
		return fast.AllReduce(ctx, comm, whole, c.Op)
	case c.Primitive == "AllReduce":
		return fast.AllReduceInto(ctx, comm, out, in, c.Op)
	case c.Primitive == "Broadcast" && c.InPlace:
		return fast.Broadcast(ctx, comm, whole, c.Root)
	case c.Primitive == "Broadcast":
		return fast.BroadcastInto(ctx, comm, out, in, c.Root)
	case comm.Rank() == c.Root:
		return fast.Send(ctx, comm, in, c.Peer)
	}
	return fast.Recv(ctx, comm, out, c.Root)
}
