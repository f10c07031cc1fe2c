package message

import (
	"context"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// slowPlane is a control plane whose process handles nothing before it may.
type slowPlane struct {
	control.Plane
	may <-chan struct{}
}

func (p slowPlane) Handle(comm uint64, kind uint8, f func(wire.Note)) {
	<-p.may
	p.Plane.Handle(comm, kind, f)
}

// TestSentBeforeClose: a rank that has made its end of a communicator late receives what another one has sent before it
// closed.
func TestSentBeforeClose(t *testing.T) {
	job, may := inproc.NewJob(2), make(chan struct{})
	defer job.Close()
	made := func(process int, over control.Plane) *fast.Comm {
		c, err := access.Fast.FirstComm(t.Context(), 2, access.World{Plane: over,
			Create: func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
				return job.Plane(process).Found(ctx, id, rank, members)
			}})
		if err != nil {
			t.Error(err)
		}
		return c.(*fast.Comm)
	}
	late := make(chan *fast.Comm)
	go func() { late <- made(1, slowPlane{job.Plane(1), may}) }()
	c := made(0, job.Plane(0))
	if err := Send(t.Context(), c, []int{5}, 1, 0); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	close(may)
	n := make([]int, 1)
	if got, err := Recv(t.Context(), <-late, n, AnySource, AnyTag); err != nil || n[0] != 5 {
		t.Error(got, n, err)
	}
}
