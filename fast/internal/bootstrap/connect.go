package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Connect connects this process to the others of its job, and returns when all are connected.
func (c *Config) Connect(ctx context.Context) (*setup.Connector, error) {
	s, cred, err := c.rendezvous(ctx)
	if err != nil {
		return nil, err
	}
	defer c.closeStore(s)
	cards := &cards{Store: s, key: c.keys(), process: c.Rank}
	defer cards.withdraw(ctx)
	fault := c.findRDMA(ctx) // before meshConfig, which uses the result
	cfg := c.meshConfig(cred)
	cfg.Publish, cfg.Fetch, cfg.Fault = cards.publish, cards.fetch, fault
	if r, ok := s.(interface{ Refusals() []string }); ok {
		cfg.Refused = r.Refusals
	}
	m, err := mesh.Join(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := c.checkTransport(m); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return c.connector(m), nil
}

// Join connects this process to those of a running job, by a ticket.
func (c *Config) Join(ctx context.Context, t mesh.Ticket) (*setup.Connector, error) {
	cred, err := c.credentials()
	if err != nil {
		return nil, err
	}
	if cred == nil {
		return nil, wire.Refuse("Join", noSecret)
	}
	if err := c.findRDMA(ctx); err != nil {
		return nil, err
	}
	m, err := mesh.JoinTicket(ctx, c.meshConfig(cred), t)
	if err != nil {
		return nil, err
	}
	return c.connector(m), nil
}

func (c *Config) connector(m *mesh.Mesh) *setup.Connector {
	return &setup.Connector{Mesh: m, NoCMA: c.NoCMA, OpenRDMA: c.OpenRDMA}
}

// checkTransport refuses transport "shm" if a rank shares no memory with this one.
func (c *Config) checkTransport(m *mesh.Mesh) error {
	for process := range c.Size {
		if c.Transport == "shm" && process != c.Rank && !(setup.CanShare && m.SharesMemory(process)) {
			return fmt.Errorf("%w: rank %d cannot be reached by shm: it is on another host (%s)", wire.ErrInvalidArgument,
				process,
				m.Host(process))
		}
	}
	return nil
}

// meshConfig returns the configuration of the control plane.
func (c *Config) meshConfig(cred secure.Credentials) mesh.Config {
	return mesh.Config{
		Identity:    secure.Identity{Job: c.Job, Epoch: c.Epoch, Process: c.Rank, Size: c.Size},
		Credentials: cred,
		Addresses: func() ([]netip.Addr, string, error) {
			i, err := ChooseInterface(c.Network, c.StoreAddress)
			return i.Addresses, i.Why, err
		},
		ForceTCP:         c.Transport == "tcp",
		ForceRDMA:        c.Transport == "rdma",
		HasRDMA:          c.hasRDMA,
		Encrypt:          c.Encrypt,
		Host:             c.Host,
		HeartbeatTimeout: c.HeartbeatTimeout,
		Log:              c.Logger(),
	}
}
