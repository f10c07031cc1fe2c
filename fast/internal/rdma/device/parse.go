package device

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/verbs"
)

// ParseList reads the options of a process's rails from text: devices separated by semicolons, such as
// "mlx5_0;mlx5_1:1,tc=104", each as Parse reads it.
func ParseList(text string) (list []Options, err error) {
	for each := range strings.SplitSeq(text, ";") {
		o, err := Parse(each)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	if len(list) > rdma.MostRails {
		return nil, fmt.Errorf("%d RDMA devices, want at most %d", len(list), rdma.MostRails)
	}
	return list, nil
}

// Parse reads options from text: a device, its port, and settings, such as "mlx5_0:1,gid=10.0.0.7,mtu=1024,tc=104".
// Each may be left out. The device may be "any", or "all" for every active port. The settings are
//
//	gid      an address of the port, or the version of RoCE, v1 or v2; given twice, both
//	mtu      the most bytes of a packet
//	tc       the traffic class
//	sl       the service level
//	pkey     the index of the partition's key
//	retry    how often a packet that is not answered is repeated
//	timeout  how long each try takes
func Parse(text string) (o Options, err error) {
	name, settings, _ := strings.Cut(strings.TrimSpace(text), ",")
	device, port, ported := strings.Cut(name, ":")
	switch device {
	case "any":
	case "all":
		o.All = true
	default:
		o.Device = device
	}
	if ported {
		o.Port, err = number("port", port, 1, 255)
	}
	for settings != "" && err == nil {
		var setting string
		setting, settings, _ = strings.Cut(settings, ",")
		err = o.set(strings.Cut(setting, "="))
	}
	if err != nil {
		return Options{}, fmt.Errorf("an RDMA device %q: %w", text, err)
	}
	return o, nil
}

// set applies one setting.
func (o *Options) set(name, value string, _ bool) (err error) {
	var n int
	switch name {
	case "gid":
		err = o.setGID(value)
	case "mtu":
		if o.MTU, err = number(name, value, 256, 4096); err == nil && o.MTU&(o.MTU-1) != 0 {
			err = fmt.Errorf("mtu is %d, want a power of two", o.MTU)
		}
	case "tc":
		n, err = number(name, value, 0, 255)
		o.Traffic = uint8(n)
	case "sl":
		n, err = number(name, value, 0, 15)
		o.Service = uint8(n)
	case "pkey":
		n, err = number(name, value, 0, 1<<16-1)
		o.Partition = uint16(n)
	case "retry":
		o.Retries, err = number(name, value, 1, 6)
	case "timeout":
		if o.Timeout, err = time.ParseDuration(value); err == nil && (o.Timeout <= 0 || o.Timeout > maxTimeout) {
			err = fmt.Errorf("timeout is %v, want at most %v", o.Timeout, maxTimeout)
		}
	default:
		err = fmt.Errorf("there is no setting %q, want gid, mtu, tc, sl, pkey, retry or timeout", name)
	}
	return err
}

// maxTimeout keeps the death of a peer from going unnoticed for minutes.
const maxTimeout = 10 * time.Second

// setGID applies the setting gid: a type or an address.
func (o *Options) setGID(value string) (err error) {
	switch value {
	case "v1":
		o.GIDType = verbs.RoCEv1
	case "v2":
		o.GIDType = verbs.RoCEv2
	default:
		o.Address, err = netip.ParseAddr(value)
	}
	return err
}

func number(name, value string, least, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is %q, want a number from %d to %d", name, value, least, most)
	}
	return n, nil
}
