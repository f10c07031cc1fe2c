package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
)

// listenHere listens at an address if it is this host's. It returns nil and no error if it is another one's.
func listenHere(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return nil, fmt.Errorf("the store's address is %q, want host:port", address)
	}
	own, err := ownAddress(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("the store: %w", err)
	}
	if own == nil {
		return nil, nil
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, "tcp", net.JoinHostPort(*own, port))
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return nil, nil
	}
	return l, err
}

// ownAddress returns where to listen for those who connect to host; nil if that is another host. A host's own name
// often stands for a loopback address on the host itself, which is not what others take it for: then it is every
// address.
func ownAddress(ctx context.Context, host string) (*string, error) {
	found, err := lookUp(ctx, host)
	if err != nil {
		return nil, err
	}
	ours, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	isName := host != "localhost" && !isAddress(host)
	for _, a := range found {
		switch {
		case a.IsLoopback() && isName:
			return new(string), nil
		case a.IsLoopback(), slices.ContainsFunc(ours, func(o net.Addr) bool { return isAt(o, a) }):
			address := a.String()
			return &address, nil
		}
	}
	return nil, nil
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// isAt reports whether an interface has that address.
func isAt(o net.Addr, a netip.Addr) bool {
	n, ok := o.(*net.IPNet)
	return ok && n.IP.Equal(net.IP(a.AsSlice()))
}

// lookUp returns the addresses of a host. This host's name need not be known to anybody.
func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if name, failed := os.Hostname(); err != nil && failed == nil && strings.EqualFold(name, host) {
		return []netip.Addr{netip.IPv6Loopback()}, nil
	}
	for i, a := range found {
		found[i] = a.Unmap()
	}
	return found, err
}
