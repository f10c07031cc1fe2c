package bootstrap

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
)

// Interface is where a process listens for those of other hosts, and why there.
type Interface struct {
	Name      string       `json:"name"` // of the system's interface
	Addresses []netip.Addr `json:"addresses"`
	Why       string       `json:"why"`
}

// ChooseInterface returns the interface on which a process listens, given the network of WithInterface ("" without it)
// and the address of the store. It fails if network is not an interface, network or address of this host.
//
// Without network, it is the address from which the system reaches the store. If the store has no address, or is on
// this host, it is the first interface that is up and has an address which other hosts may reach; bridges of containers
// come last. If there is no such interface, it is the loopback address, which serves no other host.
func ChooseInterface(network, storeAddress string) (Interface, error) {
	all, err := interfaces()
	if err != nil {
		return Interface{}, fmt.Errorf("listing interfaces: %w", err)
	}
	if network != "" {
		return namedInterface(all, network)
	}
	if from, ok := sourceFor(storeAddress); ok {
		if i, err := namedInterface(all, from.String()); err == nil {
			i.Why = "the store " + storeAddress + " is reached from it"
			return i, nil
		}
	}
	for _, i := range all {
		if !i.Addresses[0].IsLoopback() {
			i.Why = "the first interface that other hosts may reach"
			return i, nil
		}
	}
	return Interface{"lo", []netip.Addr{netip.MustParseAddr("127.0.0.1")}, "there is no other; it serves no other host"},
		nil
}

// interfaces returns those that are up and have addresses, the ones that other hosts can hardly reach last.
func interfaces() ([]Interface, error) {
	system, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []Interface
	for _, s := range system {
		if s.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := s.Addrs()
		if err != nil {
			return nil, err
		}
		if i := (Interface{Name: s.Name, Addresses: usable(addrs)}); len(i.Addresses) > 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b Interface) int { return cmp.Compare(a.remoteness(), b.remoteness()) })
	return all, nil
}

// usable returns the addresses of an interface that need no zone, in order: version 4 first.
func usable(addrs []net.Addr) []netip.Addr {
	var all []netip.Addr
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		if addr, ok := netip.AddrFromSlice(n.IP); ok && !addr.IsLinkLocalUnicast() && !addr.IsMulticast() {
			all = append(all, addr.Unmap())
		}
	}
	slices.SortStableFunc(all, netip.Addr.Compare)
	return all
}

// bridges are names that interfaces among the containers of one host begin with.
var bridges = []string{"docker", "br-", "virbr", "cni", "podman", "lxc"}

// remoteness orders interfaces by how unlikely it is that other hosts reach them.
func (i *Interface) remoteness() int {
	switch {
	case i.Addresses[0].IsLoopback():
		return 2
	case slices.ContainsFunc(bridges, func(b string) bool { return strings.HasPrefix(i.Name, b) }):
		return 1
	}
	return 0
}

// namedInterface returns the interface of that name, or those addresses of one that are in that network.
func namedInterface(all []Interface, network string) (Interface, error) {
	within, err := netip.ParsePrefix(network)
	if addr, err := netip.ParseAddr(network); err == nil {
		within = netip.PrefixFrom(addr, addr.BitLen())
	}
	if i, ok := loopback(all, network); ok {
		return i, nil
	}
	for _, i := range all {
		if i.Name == network {
			i.Why = "it was asked for"
			return i, nil
		}
		i.Addresses = slices.DeleteFunc(slices.Clone(i.Addresses), func(a netip.Addr) bool { return !within.Contains(a) })
		if len(i.Addresses) > 0 {
			i.Why = network + " was asked for"
			return i, nil
		}
	}
	if err != nil && !within.IsValid() {
		return Interface{}, fmt.Errorf("there is no interface %q that is up and has an address; there are %s", network,
			names(all))
	}
	return Interface{}, fmt.Errorf("no address of this host is in %s; there are %s", network, names(all))
}

// loopback returns the interface with a loopback address that the system has not listed: on Linux it has all of
// 127.0.0.0/8.
func loopback(all []Interface, address string) (Interface, bool) {
	a, err := netip.ParseAddr(address)
	i := slices.IndexFunc(all, func(i Interface) bool { return i.Addresses[0].IsLoopback() })
	if err != nil || !a.Is4() || !a.IsLoopback() || i < 0 || runtime.GOOS != "linux" {
		return Interface{}, false
	}
	return Interface{all[i].Name, []netip.Addr{a}, address + " was asked for"}, true
}

func names(all []Interface) string {
	var words []string
	for _, i := range all {
		words = append(words, fmt.Sprint(i.Name, " ", i.Addresses))
	}
	return strings.Join(words, ", ")
}

// sourceFor returns the address of this host from which the system would send to a tcp store on another host.
func sourceFor(storeAddress string) (netip.Addr, bool) {
	u, err := url.Parse(storeAddress)
	if err != nil || u.Scheme != "tcp" {
		return netip.Addr{}, false
	}
	c, err := net.Dial("udp", u.Host) // sends nothing
	if err != nil {
		return netip.Addr{}, false
	}
	defer c.Close()
	from, to := c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(),
		c.RemoteAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	return from, from != to && !from.IsLoopback()
}
