package fast

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/shm"
)

// pair returns the two ends of a communicator over shared memory, both in this process, which never waits: who calls
// the sender's end first finds the message at the other end.
func pair(b *testing.B) (all [2]*Comm) {
	b.Helper()
	memory, err := shm.Create(2)
	if err != nil {
		b.Fatal(err)
	}
	for rank := range all {
		file, err := unix.Dup(memory)
		if err != nil {
			b.Fatal(err)
		}
		e, err := shm.Attach(rank, 2, file)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = e.Close() })
		c := newComm(rank, 2, e)
		c.exec.Carrier = "shm"
		c.record(flight.New(flight.Config{Rank: rank, Size: 2, Operations: flight.MaxOperations}))
		all[rank] = c
	}
	_ = unix.Close(memory)
	return all
}

// BenchmarkPair is the calls of both ends of a message, one after the other on one core: software alone, without the
// way of a cache line.
func BenchmarkPair(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	x := make([]float32, 2)
	for name, f := range map[string]func(c *Comm) error{
		"broadcast": func(c *Comm) error { return BroadcastInto(ctx, c, x, x, 0) },
		"send": func(c *Comm) error {
			if c.rank == 0 {
				return Send(ctx, c, x, 1)
			}
			return Recv(ctx, c, x, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			all := pair(b)
			b.ReportAllocs()
			for b.Loop() {
				for _, c := range all {
					if err := f(c); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
