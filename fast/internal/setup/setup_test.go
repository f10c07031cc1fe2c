package setup

import (
	"errors"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/wire"
)

// toldPlane is a plane on which a test says who is down.
type toldPlane struct {
	control.Plane
	down func(process int, err error)
}

func (p *toldPlane) Watch(f func(process int, err error)) (stop func()) {
	p.down = f
	return func() {}
}

// TestMemberCloses: a rank that is ready waits for what rank 0 decides, although another rank has heard that before,
// and has closed its communicator. A rank that is not ready, and one whose rank 0 has closed, give up.
func TestMemberCloses(t *testing.T) {
	for name, x := range map[string]struct {
		ready  bool
		closes int
		fails  bool
	}{
		"after all are ready":         {true, 1, false},
		"rank 0, without a word":      {true, 0, true},
		"before this one is ready":    {false, 1, true},
		"rank 0, before all is ready": {false, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := inproc.NewJob(3)
			defer job.Close()
			p := &toldPlane{Plane: job.Plane(2)}
			f := &Group{Plane: p, Rank: 2, Members: []int{0, 1, 2}}
			ctx, stop := f.Watched(t.Context())
			defer stop()
			if !x.ready {
				p.down(x.closes, wire.ErrClosed)
				if <-ctx.Done(); f.Unheard(ctx, ctx.Err(), nil) == nil {
					t.Error("no error")
				}
				return
			}
			decided := make(chan error, 1)
			go func() { decided <- f.Decide(ctx, nil) }()
			if _, err := job.Plane(0).Receive(t.Context(), f.Topic(control.KindReady)); err != nil {
				t.Fatal(err)
			}
			p.down(x.closes, wire.ErrClosed)
			if !x.fails {
				time.Sleep(2 * failure.RootCauseWait)
				job.Plane(0).Send(2, f.Topic(control.KindGo), nil)
			}
			if err := <-decided; (err != nil) != x.fails || x.fails && !errors.Is(err, wire.ErrClosed) {
				t.Error(err)
			}
		})
	}
}
