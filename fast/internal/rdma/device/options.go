// Package device has the endpoints of package rdma talk through the RDMA devices of this host, by package verbs.
package device

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/verbs"
)

// Options say which port of which device is used, and how. The zero values of all but Completions leave the choice.
type Options struct {
	Device      string        // its name; or the first one with a port that is active
	All         bool          // every port that is active, of all devices: each is a rail
	Port        int           // from 1 on; or the first one that is active
	GIDType     verbs.GIDType // on Ethernet; or RoCE v2 before v1
	Address     netip.Addr    // the GID's; or one that other networks reach before others
	MTU         int           // at most so many bytes in a packet, 256 to 4096; or what the port can
	Completions int           // as many as may be in flight: those of all pairs together
	Beside      int           // so many other rails are looked at in turn with this one: then each look is the shorter
	Traffic     uint8         // the traffic class: the priority of packets in networks that route
	Service     uint8         // the service level: that in InfiniBand subnets, and on Ethernet's priorities
	Limit       time.Duration // how long a driver may take to open the port, and to have it tried; or 10 s
	Retries     int           // of a packet that is not answered, after the first try: 1 to 6; or 5
	Timeout     time.Duration // of each try, rounded up to what devices have; or 67 ms
	Partition   uint16        // the index of the partition's key in the port's table
	Settings    string        // filled in by Find, for people: the port and all that was chosen, as Parse reads it
}

// usual takes 67 ms for each try. Devices may wait up to four times as long: 1.6 s for all tries, so that a peer that
// is gone is known within two seconds also to a rank that only waits, and begins with a probe (rdma.ProbeInterval).
var usual = verbs.Retry{Timeout: 14, Count: 5, RNR: 6}

// retry returns how long a queue pair tries.
func (o *Options) retry() verbs.Retry {
	r := usual
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

// settings returns those of a port on which a GID and an MTU were chosen.
func (o *Options) settings(port verbs.Port, gid verbs.GID) string {
	kind := "v1"
	if gid.Type == verbs.RoCEv2 {
		kind = "v2"
	}
	r := o.retry()
	return fmt.Sprintf("%s:%d,gid=%v,gid=%s,mtu=%d,tc=%d,sl=%d,pkey=%d,retry=%d,timeout=%v", o.Device, port.Number, gid.Address, kind,
		port.MTU.Bytes(), o.Traffic, o.Service, o.Partition, r.Count, r.Try())
}
