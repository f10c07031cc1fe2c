package verbs

import (
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// GIDType says what packets with a GID look like.
type GIDType string

// The types, by the words that Linux has for them. A port on InfiniBand has GIDs of the first type alone, as Linux
// calls both.
const (
	RoCEv1 GIDType = "IB/RoCE v1"
	RoCEv2 GIDType = "RoCE v2"
)

// GID is an address of a port.
type GID struct {
	Index     int // in the table of the port
	Type      GIDType
	Address   netip.Addr // an IPv4 address is one, not one in IPv6
	Interface string     // on Ethernet: the network interface that has the address
}

// Raw returns what stands in packets.
func (g GID) Raw() [16]byte { return g.Address.As16() }

// String returns the index, the address, the type and the interface.
func (g GID) String() string {
	text := fmt.Sprintf("%d: %s %s", g.Index, g.Address, g.Type)
	if g.Interface != "" {
		text += " on " + g.Interface
	}
	return text
}

// readGIDs returns what is written under /sys/class/infiniband about the GIDs of a port: those that are not zero.
func readGIDs(sys fs.FS, device string, port int) (gids []GID, err error) {
	dir := path.Join(device, "ports", strconv.Itoa(port))
	entries, err := fs.ReadDir(sys, path.Join(dir, "gids"))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		g, err := readGID(sys, dir, e.Name())
		if err != nil {
			return nil, err
		}
		if g.Type != "" {
			gids = append(gids, g)
		}
	}
	slices.SortFunc(gids, func(a, b GID) int { return a.Index - b.Index })
	return gids, nil
}

// readGID returns one of them, without a type if there is none. It may go meanwhile: then its files are empty, or
// errors.
func readGID(sys fs.FS, dir, name string) (g GID, err error) {
	if g.Index, err = strconv.Atoi(name); err != nil {
		return g, err
	}
	if g.Address, err = netip.ParseAddr(word(sys, dir, "gids", name)); err != nil || g.Address == netip.IPv6Unspecified() {
		return GID{}, nil
	}
	g.Address = g.Address.Unmap()
	g.Type = GIDType(word(sys, dir, "gid_attrs/types", name))
	g.Interface = word(sys, dir, "gid_attrs/ndevs", name)
	return g, nil
}

// word returns what a file contains, without the end of its line; nothing if it cannot be read.
func word(sys fs.FS, elem ...string) string {
	text, _ := fs.ReadFile(sys, path.Join(elem...))
	return strings.TrimSpace(string(text))
}
