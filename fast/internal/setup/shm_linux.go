package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/shm"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// CanShare: processes of one host can have memory in common.
const CanShare = true

// share attaches this rank to the memory that rank 0 of host makes for all.
func share(ctx context.Context, host *Group) (transport.Transport, error) {
	size := len(host.Members)
	if size > shm.MaxSize {
		return nil, fmt.Errorf("%w: %d ranks on one host, want at most %d", wire.ErrInvalidArgument, size, shm.MaxSize)
	}
	if host.Rank > 0 {
		return attach(ctx, host)
	}
	memory, err := shm.Create(size)
	if err != nil {
		return nil, host.Excuse(err)
	}
	for _, process := range host.Members[1:] {
		host.Plane.Send(process, host.Topic(control.KindFound), nil, memory)
	}
	return shm.Attach(0, size, memory)
}

// Excuse tells the other ranks of the host why there is no memory, and is err.
func (f *Group) Excuse(err error) error {
	for _, process := range f.Members[1:] {
		f.Plane.Send(process, f.Topic(control.KindFound), []byte(failure.Of(f.Rank, err).Text))
	}
	return err
}

// attach takes the memory that rank 0 has made.
func attach(ctx context.Context, host *Group) (transport.Transport, error) {
	host.Awaits(ctx, host.Members[:1])
	m, err := host.Plane.ReceiveFiles(ctx, host.Topic(control.KindFound))
	if err != nil {
		return nil, host.Unheard(ctx, err, host.Members[:1])
	}
	file, err := MemoryOf(m, host.Members[:1])
	if err != nil {
		return nil, err
	}
	return shm.Attach(host.Rank, len(host.Members), file)
}

// MemoryOf returns the file that m brings, which is to come from one of some processes; or why it brings none.
func MemoryOf(m wire.Note, processes []int) (file int, err error) {
	if slices.Contains(processes, m.From) && len(m.Files) == 1 {
		return m.Files[0], nil
	}
	m.CloseFiles()
	if m.Lost {
		return -1, fmt.Errorf("the shared memory of process %d cannot be taken: this process has too many files open", m.From)
	}
	if len(m.Body) == 0 {
		m.Body = []byte("it has too many files open to send one")
	}
	return -1, fmt.Errorf("process %d gives no shared memory: %s", m.From, failure.Legible(string(m.Body)))
}
