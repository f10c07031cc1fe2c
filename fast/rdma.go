package fast

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/device"
)

// rdmaOpener opens what one communicator has of an RDMA device, for connections to so many ranks.
type rdmaOpener func(peers int) (rdma.Domain, error)

// findRDMA finds out whether this process has an RDMA device, where RDMA is asked for: nobody else comes to touch devices or their
// library. That there is none is an error where nothing else may be used.
func (p *place) findRDMA() error {
	asked := p.transport == "rdma" || p.transport == "" && p.device != ""
	if !asked || p.encrypt {
		return nil
	}
	if p.openRDMA == nil {
		o, err := device.Parse(p.device)
		if err != nil {
			return Refuse("Init", "%v", err)
		}
		p.openRDMA = opener(o)
	}
	d, err := p.openRDMA(1)
	if err == nil {
		err = d.Close()
	}
	if p.hasRDMA = err == nil; !p.hasRDMA && p.transport == "rdma" {
		return fmt.Errorf("this process cannot use RDMA: %w", err)
	}
	if err != nil {
		p.logger().Warn("RDMA is asked for, but this process has none", "reason", err)
	}
	return nil
}

// opener opens devices of this host.
func opener(o device.Options) rdmaOpener {
	return func(peers int) (rdma.Domain, error) {
		o := o
		o.Completions = rdma.Completions(peers)
		return device.Open(o)
	}
}
