//go:build linux && cgo && !netgo

package verbs

// #include "library.h"
//
// static ssize_t query_gids(struct vb_context *c, struct vb_gid_entry *e, size_t n) {
//	return vb_query_gid_table ? vb_query_gid_table(c, e, n, 0, sizeof *e) : -1;
// }
import "C"

import (
	"net"
	"net/netip"
	"os"
	"slices"
)

// maxGIDs is how many GIDs of a device can be asked for: the kernel's interface counts bytes by 16 bits.
const maxGIDs = (1<<16 - 1) / C.sizeof_struct_vb_gid_entry

// GIDs returns the addresses of a port, in the order of their table.
func (c *Context) GIDs(port int) (gids []GID, err error) {
	err = using(func() (err error) {
		entries := make([]C.struct_vb_gid_entry, maxGIDs) // of all ports, but only those that there are
		if n := C.query_gids(c.handle, &entries[0], C.size_t(len(entries))); n >= 0 {
			gids = ofPort(entries[:n], port)
			return nil
		}
		// Neither every library nor every kernel can do that; reading a thousand files for each port takes long.
		if gids, err = readGIDs(os.DirFS(Kernel), c.Device, port); err != nil {
			return c.failed("read the GIDs of its port", err)
		}
		return nil
	}, &c.lifetime)
	return gids, err
}

func ofPort(entries []C.struct_vb_gid_entry, port int) (gids []GID) {
	types := []GIDType{RoCEv1, RoCEv1, RoCEv2}
	for _, e := range entries {
		var raw [16]byte
		for i, b := range e.gid {
			raw[i] = byte(b)
		}
		address := netip.AddrFrom16(raw).Unmap()
		if int(e.port_num) != port || int(e.gid_type) >= len(types) || address == netip.IPv6Unspecified() {
			continue
		}
		g := GID{Index: int(e.gid_index), Type: types[e.gid_type], Address: address}
		if i, err := net.InterfaceByIndex(int(e.ndev_ifindex)); err == nil {
			g.Interface = i.Name
		}
		gids = append(gids, g)
	}
	slices.SortFunc(gids, func(a, b GID) int { return a.Index - b.Index })
	return gids
}
