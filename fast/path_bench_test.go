package fast

import (
	"context"
	"testing"

	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// idle is a transport in which everything has happened already.
type idle struct{}

func (idle) Begin(wire.Mark)                                          {}
func (idle) Exchange(context.Context, []wire.Send, []wire.Recv) error { return nil }
func (idle) Waiting() []int                                           { return nil }
func (idle) Fail(error)                                               {}
func (idle) Close() error                                             { return nil }

// BenchmarkPath is what a call costs besides its transport: an all-reduce of 8 bytes among 2 ranks, recorded.
func BenchmarkPath(b *testing.B) {
	c := newComm(0, 2, idle{})
	c.exec.Carrier = "shm" // the algorithm of processes
	c.record(flight.New(flight.Config{Operations: flight.MaxOperations}))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	x := make([]float32, 2)
	b.ReportAllocs()
	for b.Loop() {
		if err := AllReduce(ctx, c, x, Sum); err != nil {
			b.Fatal(err)
		}
	}
}
