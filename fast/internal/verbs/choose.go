package verbs

import (
	"fmt"
	"net/netip"
	"slices"
)

// ChooseGID returns the GID of this type and this address; "" and the zero address leave the choice. Then it is one of
// RoCE v2 before others, and one that other networks reach before one that a single link knows; IPv4 before IPv6. An
// index says nothing: it differs from host to host, and changes when addresses do.
func ChooseGID(gids []GID, kind GIDType, address netip.Addr) (GID, error) {
	fit := slices.DeleteFunc(slices.Clone(gids), func(g GID) bool {
		return kind != "" && g.Type != kind || address.IsValid() && g.Address != address.Unmap()
	})
	if len(fit) == 0 {
		return GID{}, fmt.Errorf("no GID has%s; there are %v", wanted(kind, address), gids)
	}
	return slices.MinFunc(fit, func(a, b GID) int { return rank(a) - rank(b) }), nil
}

// rank is less for what is rather chosen.
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
