package fasttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/rdma/vm"
	"github.com/collgen/collgen/fast/internal/store"
)

// World makes the ranks of communicators, all in this process, that talk in one way.
type World[C any] struct {
	Name  string
	Comms func(t testing.TB, size int) []C
}

// Init is fast.Init, whose options are of type O.
type Init[C, O any] func(ctx context.Context, opts ...O) (C, error)

// Worlds returns all ways in which ranks talk, each with more options.
func Worlds[C, O any](init Init[C, O], more ...O) []World[C] {
	all := []World[C]{{"goroutines", func(t testing.TB, size int) []C { return Goroutines[C](t, size, more...) }}}
	for _, w := range []struct {
		name   string
		change func(p *bootstrap.Config)
	}{
		{"shm", func(p *bootstrap.Config) { p.Transport = "shm" }},
		{"tcp", func(p *bootstrap.Config) { p.Transport = "tcp" }},
		{"tcp, encrypted", func(p *bootstrap.Config) { p.Transport, p.Encrypt = "tcp", true }},
		{"mixed", onTwoHosts},
	} {
		all = append(all, World[C]{w.name, func(t testing.TB, size int) []C {
			return InitAll(t, size, init, append([]O{Option[O](w.change)}, more...)...)
		}})
	}
	// RDMA is tried where there are devices for tests, and over simulated ones when they are asked for.
	if vm.Inside() || os.Getenv("COLLGEN_RDMA") == "all" {
		all = append(all, OverRDMA(init, more...))
	}
	return all
}

// OverRDMA returns the world of ranks that talk over RDMA alone.
func OverRDMA[C, O any](init Init[C, O], more ...O) World[C] {
	return World[C]{"rdma", func(t testing.TB, size int) []C {
		alone := Option[O](func(p *bootstrap.Config) { p.Transport = "rdma" })
		return InitAll(t, size, init, append([]O{alone, WithDevices[O]()}, more...)...)
	}}
}

// Option returns an option of Init.
func Option[O any](change func(p *bootstrap.Config)) O { return access.Fast.Option(change).(O) }

// OddAndEven has ranks believe that there are two hosts.
func OddAndEven[O any]() O { return Option[O](onTwoHosts) }

func onTwoHosts(p *bootstrap.Config) { p.Host = fmt.Sprint("host ", p.Rank%2) }

// WithDevices has ranks talk over simulated devices of one fabric; or, where there are real ones for tests, over those.
func WithDevices[O any]() O {
	f := fabric.New(fabric.Options{Inline: 200})
	return Option[O](func(p *bootstrap.Config) {
		p.RDMADevice = "any"
		if vm.Inside() {
			p.RDMADevice = DeviceOf(p.Rank)
			return
		}
		rank := p.Rank
		p.OpenRDMA = func(context.Context, int) (rails []rdma.Domain, err error) {
			for i := range 1 + rank%3 { // of one to three rails
				rails = append(rails, f.Domain(fmt.Sprintf("sim%d:%d", rank, i+1)))
			}
			return rails, nil
		}
	})
}

// Deviceless has a rank have no device.
func Deviceless[O any](rank int) O {
	return Option[O](func(p *bootstrap.Config) {
		if p.Rank == rank {
			p.OpenRDMA = func(context.Context, int) ([]rdma.Domain, error) {
				return nil, errors.New("this host has no RDMA device")
			}
		}
	})
}

// InitAll returns ranks that Init connects.
func InitAll[C, O any](t testing.TB, size int, init Init[C, O], opts ...O) []C {
	t.Helper()
	meeting := store.NewMemory()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return Begin(t, size, func(rank int) (C, error) {
		self := Option[O](func(p *bootstrap.Config) { p.Rank, p.Size, p.Store = rank, size, meeting })
		return init(ctx, append([]O{self}, opts...)...)
	})
}

// Goroutines returns the ranks of a communicator of goroutines.
func Goroutines[C, O any](t testing.TB, size int, opts ...O) []C {
	job := inproc.NewJob(size)
	return Begin(t, size, func(rank int) (c C, err error) {
		made, err := access.Fast.Goroutine(job.Plane(rank), size, opts)
		c, _ = made.(C)
		return c, err
	})
}
