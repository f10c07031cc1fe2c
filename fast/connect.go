package fast

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/setup"

	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// connect joins this process to the others of its job. It returns when all are connected.
func connect(ctx context.Context, p *initConfig) (*world, error) {
	s, cred, err := p.meet(ctx)
	if err != nil {
		return nil, err
	}
	defer p.closeStore(s)
	cards := &cards{Store: s, key: p.keys(), process: p.rank}
	defer cards.withdraw(ctx)
	fault := p.findRDMA(ctx) // which the configuration tells the result of
	cfg := p.config(cards, cred)
	cfg.Fault = fault
	if r, ok := s.(interface{ Refusals() []string }); ok {
		cfg.Refused = r.Refusals
	}
	m, err := mesh.Join(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := p.checkTransport(m); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return p.worldOf(m), nil
}

// checkTransport refuses shared memory that cannot be shared.
func (p *initConfig) checkTransport(m *mesh.Mesh) error {
	for process := range p.size {
		if p.transport == "shm" && process != p.rank && !(setup.CanShare && m.SharesMemory(process)) {
			return fmt.Errorf("%w: rank %d cannot be reached by shm: it is on another host (%s)", ErrInvalidArgument, process,
				m.Host(process))
		}
	}
	return nil
}

// worldOf returns the world of a process that m connects with the others.
func (p *initConfig) worldOf(m *mesh.Mesh) *world {
	all := &setup.Connector{Mesh: m, NoCMA: p.noCMA, OpenRDMA: p.openRDMA}
	m.Handle(0, control.KindGrow, func(n wire.Note) { p.announced(m, n) })
	return &world{plane: m, create: all.Create, locate: all.Locate, memory: all.Memory, rdma: all.Reaches, conditions: m.Conditions, tuned: p.tuned,
		record: newRecorder(p.recording(p.rank, p.size, recorded)), sealed: p.sealed(), events: p.eventFile(p.size)}
}

// recording returns what a recorder of so many operations is made with.
func (p *initConfig) recording(rank, size, operations int) recording {
	return recording{rank: rank, size: size, job: p.job, operations: operations, dir: p.traceDir, log: p.logger(), slow: p.slow,
		times: p.times.over(p.heartbeatTimeout)}
}

// config returns what the control plane has to know.
func (p *initConfig) config(c *cards, cred secure.Credentials) mesh.Config {
	return mesh.Config{
		Identity:    secure.Identity{Job: p.job, Epoch: p.epoch, Process: p.rank, Size: p.size},
		Credentials: cred,
		Publish:     c.publish,
		Fetch:       c.fetch,
		Addresses: func() ([]netip.Addr, string, error) {
			i, err := ChooseInterface(p.network, p.storeAddress)
			return i.Addresses, i.Why, err
		},
		ForceTCP:         p.transport == "tcp",
		ForceRDMA:        p.transport == "rdma",
		HasRDMA:          p.hasRDMA,
		Encrypt:          p.encrypt,
		Host:             p.host,
		HeartbeatTimeout: p.heartbeatTimeout,
		Log:              p.logger(),
	}
}

func (p *initConfig) logger() *slog.Logger {
	if p.logs {
		return p.log
	}
	return slog.Default()
}

// cards are what processes say of themselves in a store.
type cards struct {
	Store
	key       func(round string, process int) string
	process   int // this one
	published []string
}

func (c *cards) publish(ctx context.Context, round string, card []byte) error {
	key := c.key(round, c.process)
	c.published = append(c.published, key)
	return c.Set(ctx, key, card)
}

func (c *cards) fetch(ctx context.Context, round string, process int) ([]byte, error) {
	return c.Get(ctx, c.key(round, process))
}

// withdrawTime bounds the removal of cards.
const withdrawTime = time.Second

// withdraw removes this process's cards, which nobody needs any more, as far as the store lets it. It does so too when
// ctx has ended: the next attempt would find a process that is gone.
func (c *cards) withdraw(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	for _, key := range c.published {
		_ = c.Delete(ctx, key)
	}
}
