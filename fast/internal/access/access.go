// Package access gives tests that are packages of their own access to what package fast does not export.
package access

import (
	"context"

	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
)

// Fast is set by package fast. Communicators are *fast.Comm.
var Fast interface {
	// Collectives returns the collectives of package fast, by name.
	Collectives() []*exec.Collective
	// CommOver returns rank's end of a communicator of size ranks that talk over t, and have no control plane.
	CommOver(rank, size int, t transport.Transport) any
	// FirstComm makes the first communicator of a job of size processes. Its error is that of the creation.
	FirstComm(ctx context.Context, size int, w World) (any, error)
	// ProcessOf returns the number in the job of the process of a rank of c.
	ProcessOf(c any, rank int) int
	// Goroutine makes the first communicator of a job of so many goroutines. Its opts are a []fast.InitOption.
	Goroutine(g *inproc.Plane, size int, opts any) (any, error)
	// Option returns a fast.InitOption.
	Option(change func(p *bootstrap.Config)) any
	// Times returns a fast.InitOption that sets the times of the search for deadlocks.
	Times(t deadlock.Limits) any
	// Asked returns how many questions c has asked about operations that other ranks have not come to.
	Asked(c any) uint32
	// HasBegun reports whether c has begun agreement seq, or never will.
	HasBegun(c any, seq uint64) bool
}

// World is what a process of a job has: its control plane, how it makes a transport when all members of a communicator
// do, and its flight recorder. Members are processes, by rank.
type World struct {
	Plane  control.Plane
	Create func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error)
	Record *flight.Recorder
}
