package fast

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/device"
)

// rdmaOpener opens what one communicator has of an RDMA device, for connections to so many ranks.
type rdmaOpener func(ctx context.Context, peers int) (rdma.Domain, error)

// CheckRDMA tells which ports of RDMA devices, as "mlx5_0:1", a process on this host uses that asks for them by [WithRDMADevice], and
// fails with the reasons if there is none. It finds out as Init does: memory is registered, and a queue pair writes to itself. A device
// whose driver hangs is given up after ten seconds for each step.
func CheckRDMA(ctx context.Context, devices string) (ports []string, err error) {
	found, _, err := findPorts(ctx, devices)
	for _, o := range found {
		ports = append(ports, fmt.Sprintf("%s:%d", o.Device, o.Port))
	}
	return ports, err
}

// findPorts finds ports that can be used, and why others cannot. Only an error of what was asked for is ErrInvalidArgument.
func findPorts(ctx context.Context, devices string) (found []device.Options, refused []error, err error) {
	o, err := device.Parse(devices)
	if err != nil {
		return nil, nil, Refuse("Init", "%v", err)
	}
	return device.Find(ctx, o)
}

// findRDMA finds out whether this process has an RDMA device, where RDMA is asked for: nobody else comes to touch devices or their
// library. That there is none is an error where nothing else may be used.
func (p *place) findRDMA(ctx context.Context) error {
	asked := p.transport == "rdma" || p.transport == "" && p.device != ""
	if !asked || p.encrypt {
		return nil
	}
	err := p.lookForRDMA(ctx)
	switch p.hasRDMA = err == nil; {
	case p.hasRDMA:
		return nil
	case errors.Is(err, ErrInvalidArgument):
		return err
	case p.transport == "rdma":
		return fmt.Errorf("this process cannot use RDMA: %w", err)
	}
	p.logger().Warn("RDMA is asked for, but this process has none", "reason", err)
	return nil
}

// lookForRDMA chooses the port that all communicators of this process use, unless tests have devices of their own: those are tried.
func (p *place) lookForRDMA(ctx context.Context) error {
	if p.openRDMA != nil {
		d, err := p.openRDMA(ctx, 1)
		if err != nil {
			return err
		}
		return errors.Join(rdma.Try(ctx, d), d.Close())
	}
	found, refused, err := findPorts(ctx, p.device)
	if err != nil {
		return err
	}
	for _, reason := range refused {
		p.logger().Info("an RDMA port is passed over", "reason", reason)
	}
	p.openRDMA = opener(found[0])
	return nil
}

// opener opens a port of this host's devices.
func opener(o device.Options) rdmaOpener {
	return func(ctx context.Context, peers int) (rdma.Domain, error) {
		o := o
		o.Completions = rdma.Completions(peers)
		return device.Open(ctx, o)
	}
}
