// Package device connects the endpoints of package rdma to the RDMA devices of this host, through package verbs.
package device

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/verbs"
)

// Options say which port of which device to use, and how. The zero value of each but Completions leaves the choice.
type Options struct {
	Device      string        // its name; default: the first one with an active port
	All         bool          // use every active port of all devices, each as a rail
	Port        int           // from 1 on; default: the first active one
	GIDType     verbs.GIDType // on Ethernet; default: RoCE v2, or else v1
	Address     netip.Addr    // of the GID; default: preferably one that other networks reach
	MTU         int           // the most bytes of a packet, 256 to 4096; default: the port's
	Completions int           // how many may be in flight, of all pairs together
	OtherRails  int           // how many other rails are polled in turn with this one: each poll is then shorter
	Traffic     uint8         // the traffic class: the priority of packets in routed networks
	Service     uint8         // the service level: the priority in InfiniBand subnets and on Ethernet
	Limit       time.Duration // how long a driver may take to open or try the port; default: 10 s
	Retries     int           // of a packet that is not answered, after the first try: 1 to 6; default: 5
	Timeout     time.Duration // of each try, rounded up to what devices support; default: 67 ms
	Partition   uint16        // the index of the partition's key in the port's table
	Settings    string        // filled in by Find, for people: the port and all that was chosen, as Parse reads it
}

// defaultRetry takes 67 ms for each try. Devices may wait up to four times as long: 1.6 s for all tries. So even a rank
// that only waits, and begins with a probe (rdma.ProbeInterval), learns within two seconds that a peer is gone.
var defaultRetry = verbs.Retry{Timeout: 14, Count: 5, RNR: 6}

// retry returns how long a queue pair tries.
func (o *Options) retry() verbs.Retry {
	r := defaultRetry
	if o.Retries > 0 {
		r.Count = uint8(o.Retries)
	}
	if o.Timeout > 0 {
		for r.Timeout = 1; r.Try() < o.Timeout && r.Timeout < 31; {
			r.Timeout++
		}
	}
	return r
}

// settings returns the settings of a port, with the GID and MTU that were chosen.
func (o *Options) settings(port verbs.Port, gid verbs.GID) string {
	kind := "v1"
	if gid.Type == verbs.RoCEv2 {
		kind = "v2"
	}
	r := o.retry()
	return fmt.Sprintf("%s:%d,gid=%v,gid=%s,mtu=%d,tc=%d,sl=%d,pkey=%d,retry=%d,timeout=%v",
		o.Device, port.Number, gid.Address, kind, port.MTU.Bytes(), o.Traffic, o.Service, o.Partition, r.Count, r.Try())
}

// bounded returns the smaller one of m and an MTU of that many bytes. 0 is no bound.
func bounded(m verbs.MTU, bytes int) (verbs.MTU, error) {
	if bytes == 0 {
		return m, nil
	}
	for other := verbs.MTU(1); other <= 5; other++ {
		if other.Bytes() == bytes {
			return min(m, other), nil
		}
	}
	return 0, fmt.Errorf("no packet of RDMA carries %d bytes, but 256, 512, 1024, 2048 or 4096", bytes)
}
