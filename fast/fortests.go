package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/deadlock"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
)

// forTests is what this package does for tests that are packages of their own.
type forTests struct{}

func init() { access.Fast = forTests{} }

func (forTests) Collectives() []*exec.Collective { return collectives }

func (forTests) CommOver(rank, size int, t transport.Transport) any { return newComm(rank, size, t) }

func (forTests) FirstComm(ctx context.Context, size int, w access.World) (any, error) {
	return (&world{plane: w.Plane, create: w.Create, record: w.Record}).first(ctx, size)
}

func (forTests) ProcessOf(c any, rank int) int { return c.(*Comm).process(rank) }

func (forTests) Goroutine(g *inproc.Plane, size int, opts any) (any, error) {
	p := new(initConfig)
	if err := p.apply("Run", opts.([]InitOption)); err != nil {
		return nil, err
	}
	return p.goroutineWorld(g, size).first(context.Background(), size)
}

func (forTests) Option(change func(p *bootstrap.Config)) any {
	return InitOption(func(p *initConfig) { change(&p.Config) })
}

func (forTests) Times(t deadlock.Limits) any {
	return InitOption(func(p *initConfig) { p.times = t })
}

func (forTests) Asked(c any) uint32 { return c.(*Comm).detector.Asked() }

func (forTests) HasBegun(c any, seq uint64) bool { return c.(*Comm).membership.HasBegun(seq) }
