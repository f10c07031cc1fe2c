package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDescribeRDMA(t *testing.T) {
	sys := fstest.MapFS{}
	for name, text := range map[string]string{
		"mlx5_0/ports/1/state": "4: ACTIVE", "mlx5_0/ports/1/link_layer": "InfiniBand", "mlx5_0/ports/1/lid": "0x2a",
		"mlx5_0/ports/1/rate": "100 Gb/sec (4X EDR)", "mlx5_0/ports/1/gids/0": "fe80:0000:0000:0000:0002:c903:0000:0001",
		"mlx5_0/ports/1/gid_attrs/types/0": "IB/RoCE v1",
		"mlx5_1/ports/2/state":             "1: DOWN", "mlx5_1/ports/2/link_layer": "Ethernet", "mlx5_1/ports/2/rate": "25 Gb/sec (1X EDR)",
		"mlx5_1/ports/2/gids/0": "0000:0000:0000:0000:0000:0000:0000:0000", "mlx5_1/ports/2/gids/3": "0000:0000:0000:0000:0000:ffff:0a09:0001",
		"mlx5_1/ports/2/gid_attrs/types/3": "RoCE v2", "mlx5_1/ports/2/gid_attrs/ndevs/3": "eth1",
	} {
		sys["infiniband/"+name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	sys["infiniband_verbs/uverbs0/ibdev"] = &fstest.MapFile{Data: []byte("mlx5_0\n")}
	sys["infiniband_verbs/uverbs1/ibdev"] = &fstest.MapFile{Data: []byte("mlx5_1\n")}
	opens := func(string) error { return nil }
	want := map[string]string{
		"rdma":          "1 of 2 ports can be used, by ranks that ask for it (COLL_RDMA=any)",
		"rdma mlx5_0:1": "active, InfiniBand, 100 Gb/sec (4X EDR), LID 0x2a, GID 0 fe80::2:c903:0:1 IB/RoCE v1",
		"rdma mlx5_1:2": "down, Ethernet, 25 Gb/sec (1X EDR), GID 3 10.9.0.1 RoCE v2 eth1",
	}
	found := describeRDMA(sys, opens, true, 8<<20)
	for _, f := range found {
		if f.Text != want[f.Name] {
			t.Errorf("%s: got %q, want %q", f.Name, f.Text, want[f.Name])
		}
	}
	if len(found) != len(want) || !strings.Contains(found[0].Warning, "only 8192 KiB may be locked") {
		t.Errorf("%+v", found)
	}
	if w := describeRDMA(sys, opens, false, 1<<40)[0].Warning; !strings.Contains(w, "no libibverbs.so.1") {
		t.Errorf("without the library: %q", w)
	}
	if w := describeRDMA(sys, opens, true, 1<<40)[0].Warning; w != "" {
		t.Errorf("nothing is missing, but: %q", w)
	}
	if none := describeRDMA(fstest.MapFS{}, opens, false, 0); len(none) != 1 || none[0].Warning != "" || !strings.HasPrefix(none[0].Text, "no device") {
		t.Errorf("without devices: %+v", none)
	}
}

// TestUnopenedRDMA has an active port whose device cannot be opened, and another one's file is missing: neither counts.
func TestUnopenedRDMA(t *testing.T) {
	sys := fstest.MapFS{"infiniband_verbs/uverbs5/ibdev": &fstest.MapFile{Data: []byte("a\n")}}
	for _, device := range []string{"a", "b"} {
		sys["infiniband/"+device+"/ports/1/state"] = &fstest.MapFile{Data: []byte("4: ACTIVE\n")}
	}
	found := describeRDMA(sys, func(name string) error { return fmt.Errorf("open %s: permission denied", name) }, true, 1<<40)
	if len(found) != 3 || found[0].Value != 0 || !strings.Contains(found[1].Warning, "open uverbs5: permission denied") ||
		!strings.Contains(found[2].Warning, "ib_uverbs has none") {
		t.Errorf("%+v", found)
	}
}
