package verbs

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
)

// table returns a port's GIDs as the kernel shows them: an empty entry, one that goes while it is read, and others.
func table() fstest.MapFS {
	sys := fstest.MapFS{}
	add := func(i int, gid, kind string) {
		dir := "mlx5_0/ports/1/"
		sys[fmt.Sprintf("%sgids/%d", dir, i)] = &fstest.MapFile{Data: []byte(gid + "\n")}
		if kind != "" {
			sys[fmt.Sprintf("%sgid_attrs/types/%d", dir, i)] = &fstest.MapFile{Data: []byte(kind + "\n")}
			sys[fmt.Sprintf("%sgid_attrs/ndevs/%d", dir, i)] = &fstest.MapFile{Data: []byte("eth0\n")}
		}
	}
	add(10, "fd00:0000:0000:0000:0000:0000:0000:0001", "RoCE v2")
	add(0, "fe80:0000:0000:0000:7058:3cff:fe57:5ef0", "IB/RoCE v1")
	add(1, "fe80:0000:0000:0000:7058:3cff:fe57:5ef0", "RoCE v2")
	add(2, "0000:0000:0000:0000:0000:ffff:0a09:0001", "IB/RoCE v1")
	add(3, "0000:0000:0000:0000:0000:ffff:0a09:0001", "RoCE v2")
	add(4, "0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2")
	add(5, "", "RoCE v2")
	add(6, "fd00:0000:0000:0000:0000:0000:0000:0002", "")
	return sys
}

func TestReadGIDs(t *testing.T) {
	gids, err := readGIDs(table(), "mlx5_0", 1)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range gids {
		got = append(got, g.String())
	}
	want := "0: fe80::7058:3cff:fe57:5ef0 IB/RoCE v1 on eth0; 1: fe80::7058:3cff:fe57:5ef0 RoCE v2 on eth0; " +
		"2: 10.9.0.1 IB/RoCE v1 on eth0; 3: 10.9.0.1 RoCE v2 on eth0; 10: fd00::1 RoCE v2 on eth0"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if raw := fmt.Sprintf("%x", gids[3].Raw()); raw != "00000000000000000000ffff0a090001" {
		t.Errorf("in packets stands %s", raw)
	}
	if _, err := readGIDs(table(), "mlx5_0", 2); err == nil {
		t.Error("a port that there is not has GIDs")
	}
}

func TestChooseGID(t *testing.T) {
	gids, err := readGIDs(table(), "mlx5_0", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind    GIDType
		address string
		want    int
	}{
		{"", "", 3}, {RoCEv2, "", 3}, {RoCEv1, "", 2}, {"", "10.9.0.1", 3}, {"", "::ffff:10.9.0.1", 3}, {"", "fd00::1", 10},
		{RoCEv1, "fe80::7058:3cff:fe57:5ef0", 0}, {RoCEv1, "fd00::1", -1}, {"", "10.9.0.2", -1}, {"RoCE v3", "", -1},
	} {
		var address netip.Addr
		if c.address != "" {
			address = netip.MustParseAddr(c.address)
		}
		g, err := ChooseGID(gids, c.kind, address)
		if c.want < 0 {
			if err == nil || !strings.Contains(err.Error(), "there are [0: fe80") {
				t.Errorf("%q %q: got %v, %v", c.kind, c.address, g, err)
			}
		} else if err != nil || g.Index != c.want {
			t.Errorf("%q %q: got %v, %v, want %d", c.kind, c.address, g, err, c.want)
		}
	}
	if _, err := ChooseGID(nil, "", netip.Addr{}); err == nil {
		t.Error("there is a GID in none")
	}
}
