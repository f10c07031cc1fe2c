package bootstrap

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

// CheckRDMA returns the settings of the ports that a process uses which asks for devices.
func CheckRDMA(ctx context.Context, devices string) (ports []string, err error) {
	found, _, err := findPorts(ctx, devices)
	for _, o := range found {
		ports = append(ports, o.Settings)
	}
	return ports, err
}

// findPorts returns the ports that can be used, and why others cannot. Each of the devices asked for has to have one,
// because ranks pair theirs in this order. Only an error in what was asked for is ErrInvalidArgument.
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

// findRDMA looks for RDMA devices if the options ask for RDMA: other processes do not touch devices or their library.
// Having none is an error only if nothing else may be used.
func (c *Config) findRDMA(ctx context.Context) error {
	asked := c.Transport == "rdma" || c.Transport == "" && c.RDMADevice != ""
	if !asked || c.Encrypt {
		return nil
	}
	err := c.chooseRDMA(ctx)
	switch c.hasRDMA = err == nil; {
	case c.hasRDMA:
		return nil
	case errors.Is(err, wire.ErrInvalidArgument):
		return err
	case c.Transport == "rdma":
		return fmt.Errorf("this process cannot use RDMA: %w", err)
	}
	c.Logger().Warn("RDMA is asked for, but this process has none", "reason", err)
	return nil
}

// chooseRDMA chooses the ports that all communicators of this process use. Devices that a test has set are tried
// instead.
func (c *Config) chooseRDMA(ctx context.Context) error {
	if c.OpenRDMA != nil {
		domains, err := c.OpenRDMA(ctx, 1)
		for _, d := range domains {
			err = errors.Join(err, rdma.Try(ctx, d), d.Close())
		}
		return err
	}
	found, refused, err := findPorts(ctx, c.RDMADevice)
	if err != nil {
		return err
	}
	for _, reason := range refused {
		c.Logger().Info("an RDMA port is passed over", "reason", reason)
	}
	c.OpenRDMA = opener(found)
	return nil
}

// opener returns a function that opens ports of this host's devices.
func opener(ports []device.Options) setup.RDMAOpener {
	return func(ctx context.Context, peers int) ([]rdma.Domain, error) {
		var domains []rdma.Domain
		for _, o := range ports {
			o.Completions, o.OtherRails = rdma.Completions(peers), len(ports)-1
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
