package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/device"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// CheckRDMA returns which ports of RDMA devices a process on this host uses that asks for them by [WithRDMADevice],
// with all settings, in the form of that option:
// "mlx5_0:1,gid=10.0.0.7,gid=v2,mtu=4096,tc=0,sl=0,pkey=0,retry=5,timeout=67.108864ms". It fails with the reasons if
// there is none. It finds out as Init does: memory is registered, and a queue pair writes to itself. A device whose
// driver hangs is given up after ten seconds for each step.
func CheckRDMA(ctx context.Context, devices string) (ports []string, err error) {
	found, _, err := findPorts(ctx, devices)
	for _, o := range found {
		ports = append(ports, o.Settings)
	}
	return ports, err
}

// findPorts finds ports that can be used, and why others cannot. Of several devices that were asked for each has to
// have one, because ranks use theirs in this order. Only an error of what was asked for is ErrInvalidArgument.
func findPorts(ctx context.Context, devices string) (found []device.Options, refused []error, err error) {
	list, err := device.ParseList(devices)
	if err != nil {
		return nil, nil, wire.Refuse("Init", "%v", err)
	}
	for _, o := range list {
		more, why, err := device.Find(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range more {
			if slices.ContainsFunc(found, func(f device.Options) bool { return f.Device == o.Device && f.Port == o.Port }) {
				return nil, nil, wire.Refuse("Init", "the RDMA devices %q are port %d of %s twice", devices, o.Port, o.Device)
			}
			found = append(found, o)
		}
		refused = append(refused, why...)
	}
	return found[:min(len(found), rdma.MostRails)], refused, nil
}

// findRDMA finds out whether this process has an RDMA device, where RDMA is asked for: nobody else comes to touch
// devices or their library. That there is none is an error where nothing else may be used.
func (p *initConfig) findRDMA(ctx context.Context) error {
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

// lookForRDMA chooses the ports that all communicators of this process use, unless tests have devices of their own:
// those are tried.
func (p *initConfig) lookForRDMA(ctx context.Context) error {
	if p.openRDMA != nil {
		domains, err := p.openRDMA(ctx, 1)
		for _, d := range domains {
			err = errors.Join(err, rdma.Try(ctx, d), d.Close())
		}
		return err
	}
	found, refused, err := findPorts(ctx, p.device)
	if err != nil {
		return err
	}
	for _, reason := range refused {
		p.logger().Info("an RDMA port is passed over", "reason", reason)
	}
	p.openRDMA = opener(found)
	return nil
}

// opener opens ports of this host's devices.
func opener(ports []device.Options) setup.RDMAOpener {
	return func(ctx context.Context, peers int) ([]rdma.Domain, error) {
		var domains []rdma.Domain
		for _, o := range ports {
			o.Completions, o.Beside = rdma.Completions(peers), len(ports)-1
			d, err := device.Open(ctx, o)
			if err != nil {
				for _, d := range domains {
					err = errors.Join(err, d.Close())
				}
				return nil, err
			}
			domains = append(domains, d)
		}
		return domains, nil
	}
}
