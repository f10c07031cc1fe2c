package fast

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast/internal/shm"
)

// canShare: processes of one host can have memory in common.
const canShare = true

// share attaches this rank to the memory that rank 0 of host makes for all.
func share(ctx context.Context, host *founding) (transport, error) {
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
		f.plane.Send(process, f.topic(kindFound), errorText(err))
	}
	return err
}

// attach takes the memory that rank 0 has made.
func attach(ctx context.Context, host *founding) (transport, error) {
	m, err := host.plane.ReceiveFiles(ctx, host.topic(kindFound))
	switch {
	case err != nil:
		return nil, host.unheard(ctx, err, host.members[:1])
	case m.From == host.members[0] && len(m.Files) == 1:
		return shm.Attach(host.rank, len(host.members), m.Files[0])
	}
	m.CloseFiles()
	if m.Lost {
		return nil, fmt.Errorf("the shared memory of process %d cannot be taken: this process has too many files open", m.From)
	}
	if len(m.Body) == 0 {
		m.Body = []byte("it has too many files open to send one")
	}
	return nil, fmt.Errorf("process %d gives no shared memory: %s", m.From, legible(string(m.Body)))
}
