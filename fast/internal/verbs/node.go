package verbs

import "fmt"

// Device is an RDMA device.
type Device struct {
	Name string
	Node NodeType
}

// String returns the name.
func (d Device) String() string { return d.Name }

// Kernel is the kernel's folder of RDMA devices; tests have another one.
var Kernel = "/sys/class/infiniband"

// NodeType says what kind of device it is.
type NodeType int32

// The kinds of devices. This package is made for the first one.
const (
	ChannelAdapter NodeType = 1
	Switch         NodeType = 2
	Router         NodeType = 3
	RNIC           NodeType = 4
	USNIC          NodeType = 5
	USNICUDP       NodeType = 6
	Unspecified    NodeType = 7
)

var nodeWords = map[NodeType]string{
	ChannelAdapter: "an adapter of InfiniBand or RoCE",
	Switch:         "a switch",
	Router:         "a router",
	RNIC:           "an adapter of iWARP",
	USNIC:          "an adapter of usNIC",
	USNICUDP:       "an adapter of usNIC",
	Unspecified:    "an adapter of its vendor's own kind, as Amazon's EFA",
}

// String returns the kind in words.
func (t NodeType) String() string {
	if words, ok := nodeWords[t]; ok {
		return words
	}
	return fmt.Sprintf("a device of unknown type %d", int32(t))
}
