package fast

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/shm"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// canShare: processes of one host can have memory in common.
const canShare = true

// share attaches this rank to the memory that rank 0 of host makes for all.
func share(ctx context.Context, host *founding) (transport.Transport, error) {
	size := len(host.members)
	if size > shm.MaxSize {
		return nil, Refuse("Init", "%d ranks on one host, want at most %d", size, shm.MaxSize)
	}
	if host.rank > 0 {
		return attach(ctx, host)
	}
	memory, err := shm.Create(size)
	if err != nil {
		return nil, host.excuse(err)
	}
	for _, process := range host.members[1:] {
		host.plane.Send(process, host.topic(kindFound), nil, memory)
	}
	return shm.Attach(0, size, memory)
}

// excuse tells the other ranks of the host why there is no memory, and is err.
func (f *founding) excuse(err error) error {
	for _, process := range f.members[1:] {
		f.plane.Send(process, f.topic(kindFound), []byte(causeOf(f.rank, err).Text))
	}
	return err
}

// attach takes the memory that rank 0 has made.
func attach(ctx context.Context, host *founding) (transport.Transport, error) {
	host.awaits(ctx, host.members[:1])
	m, err := host.plane.ReceiveFiles(ctx, host.topic(kindFound))
	if err != nil {
		return nil, host.unheard(ctx, err, host.members[:1])
	}
	file, err := memoryOf(m, host.members[:1])
	if err != nil {
		return nil, err
	}
	return shm.Attach(host.rank, len(host.members), file)
}

// memoryOf is the file that m brings, which is to come from one of some processes; or why it brings none.
func memoryOf(m wire.Note, processes []int) (file int, err error) {
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
	return -1, fmt.Errorf("process %d gives no shared memory: %s", m.From, legible(string(m.Body)))
}
