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

// GIDType is the packet format that goes with a GID.
type GIDType string

// The types, as Linux calls them. It uses the first one for InfiniBand too, and a port on InfiniBand has no other.
const (
	RoCEv1 GIDType = "IB/RoCE v1"
	RoCEv2 GIDType = "RoCE v2"
)

// GID is an address of a port.
type GID struct {
	Index     int // in the port's table
	Type      GIDType
	Address   netip.Addr // an IPv4 address is not mapped to IPv6
	Interface string     // on Ethernet: the network interface that has the address
}

// Raw returns the GID as it is in packets.
func (g GID) Raw() [16]byte { return g.Address.As16() }

// String returns the index, the address, the type and the interface.
func (g GID) String() string {
	text := fmt.Sprintf("%d: %s %s", g.Index, g.Address, g.Type)
	if g.Interface != "" {
		text += " on " + g.Interface
	}
	return text
}

// readGIDs returns the GIDs of a port that are not zero, read from the folder /sys/class/infiniband, which is sys.
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

// readGID reads one GID. It returns one without a type if there is none: a GID may vanish meanwhile, and then reading
// its files fails or returns nothing.
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

// word returns the contents of a file without the newline, or "" if it cannot be read.
func word(sys fs.FS, elem ...string) string {
	text, _ := fs.ReadFile(sys, path.Join(elem...))
	return strings.TrimSpace(string(text))
}

// ChooseGID returns the GID of the given type and address. "" and the zero address leave the choice: RoCE v2 is
// preferred, then an address that other networks reach over a link-local one, then IPv4 over IPv6. It never goes by the
// index, which differs from host to host and changes when addresses do.
func ChooseGID(gids []GID, kind GIDType, address netip.Addr) (GID, error) {
	fit := slices.DeleteFunc(slices.Clone(gids), func(g GID) bool {
		return kind != "" && g.Type != kind || address.IsValid() && g.Address != address.Unmap()
	})
	if len(fit) == 0 {
		return GID{}, fmt.Errorf("no GID has%s; there are %v", wanted(kind, address), gids)
	}
	return slices.MinFunc(fit, func(a, b GID) int { return rank(a) - rank(b) }), nil
}

// rank returns the preference for g: the lowest is chosen.
func rank(g GID) (n int) {
	for _, worse := range []bool{g.Type != RoCEv2, g.Address.IsLinkLocalUnicast(), !g.Address.Is4()} {
		if n *= 2; worse {
			n++
		}
	}
	return n
}

func wanted(kind GIDType, address netip.Addr) (text string) {
	if kind != "" {
		text += " the type " + string(kind)
	}
	if address.IsValid() {
		text += " the address " + address.String()
	}
	if text == "" {
		return " an address at all"
	}
	return text
}
