// Package device has the endpoints of package rdma talk through the RDMA devices of this host, by package verbs.
package device

import (
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
	Retry       *verbs.Retry  // or such that a peer that is gone is known within two seconds
}

// retry takes 67 ms for the first try and, on devices that wait up to four times as long, 1.9 s for all.
var retry = verbs.Retry{Timeout: 14, Count: 6, RNR: 6}
