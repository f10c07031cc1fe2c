package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/collgen/collgen/fast"
)

func TestDescribeRDMA(t *testing.T) {
	sys := fstest.MapFS{}
	for name, text := range map[string]string{
		"mlx5_0/ports/1/state": "4: ACTIVE", "mlx5_0/ports/1/link_layer": "InfiniBand", "mlx5_0/ports/1/lid": "0x2a",
		"mlx5_0/ports/1/rate": "100 Gb/sec (4X EDR)", "mlx5_0/ports/1/gids/0": "fe80:0000:0000:0000:0002:c903:0000:0001",
		"mlx5_0/ports/1/gid_attrs/types/0": "IB/RoCE v1",
		"mlx5_1/ports/2/state":             "1: DOWN", "mlx5_1/ports/2/link_layer": "Ethernet",
		"mlx5_1/ports/2/rate":              "25 Gb/sec (1X EDR)",
		"mlx5_1/ports/2/gids/0":            "0000:0000:0000:0000:0000:0000:0000:0000",
		"mlx5_1/ports/2/gids/3":            "0000:0000:0000:0000:0000:ffff:0a09:0001",
		"mlx5_1/ports/2/gid_attrs/types/3": "RoCE v2", "mlx5_1/ports/2/gid_attrs/ndevs/3": "eth1",
	} {
		sys[name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	var tried []string
	works := func(port string) ([]string, error) {
		tried = append(tried, port)
		return []string{port + ",gid=fe80::2:c903:0:1,mtu=4096"}, nil
	}
	want := map[string]string{
		"rdma": "1 of 2 ports can be used, by ranks that ask for it (COLL_RDMA=any)",
		"rdma mlx5_0:1": "active, InfiniBand, 100 Gb/sec (4X EDR), LID 0x2a, GID 0 fe80::2:c903:0:1 IB/RoCE v1; used as " +
			"mlx5_0:1,gid=fe80::2:c903:0:1,mtu=4096",
		"rdma mlx5_1:2": "down, Ethernet, 25 Gb/sec (1X EDR), GID 3 10.9.0.1 RoCE v2 eth1",
	}
	found := describeRDMA(sys, works, 8<<20)
	for _, f := range found {
		if f.Text != want[f.Name] {
			t.Errorf("%s: got %q, want %q", f.Name, f.Text, want[f.Name])
		}
	}
	if len(found) != len(want) || !strings.Contains(found[0].Warning, "a process may lock 8192 KiB, its RLIMIT_MEMLOCK") {
		t.Errorf("%+v", found)
	}
	if !slices.Equal(tried, []string{"mlx5_0:1"}) {
		t.Errorf("%v are tried", tried)
	}
	if w := describeRDMA(sys, works, 1<<40)[0].Warning; w != "" {
		t.Errorf("nothing is missing, but: %q", w)
	}
	fails := func(port string) ([]string, error) { return nil, errors.New(port + ": the peer does not answer") }
	if found := describeRDMA(sys, fails, 1<<40); found[0].Value != 0 ||
		found[1].Warning != "mlx5_0:1: the peer does not answer" || found[2].Warning != "" {
		t.Errorf("an active port that cannot be used: %+v", found)
	}
	if none := describeRDMA(fstest.MapFS{}, fails, 0); len(none) != 1 || none[0].Warning != "" ||
		!strings.HasPrefix(none[0].Text, "no device") {
		t.Errorf("without devices: %+v", none)
	}
}

// TestRDMAOfARank has ranks ask for devices in several ways.
func TestRDMAOfARank(t *testing.T) {
	for _, x := range []struct {
		l           fast.Launch
		asks, fatal bool
		transport   string
	}{
		{fast.Launch{LocalSize: 1, Size: 2}, false, false, "tcp to others"},
		{fast.Launch{LocalSize: 1, Size: 2, RDMA: "any"}, true, false, "rdma to others that have it, tcp to others"},
		{fast.Launch{LocalSize: 1, Size: 2, RDMA: "any", Encrypt: true}, false, false, "tcp to others"},
		{fast.Launch{LocalSize: 1, Size: 2, RDMA: "any", Transport: "tcp"}, false, false, "tcp to others"},
		{fast.Launch{LocalSize: 1, Size: 2, Transport: "rdma"}, true, true, "rdma to all"},
	} {
		if got := transportOf(&x.l); got.Text != x.transport || asksRDMA(&x.l) != x.asks {
			t.Errorf("%+v: %q, and it asks: %v", x.l, got.Text, asksRDMA(&x.l))
		}
		f := rdmaOf(&x.l, func(devices string) ([]string, error) { return nil, fmt.Errorf("%q is none", devices) })
		if f.Fatal != x.fatal || f.Warning != fmt.Sprintf("%q is none", x.l.RDMA) {
			t.Errorf("%+v: %+v", x.l, f)
		}
	}
	if f := rdmaOf(&fast.Launch{RDMA: "a"}, func(string) ([]string, error) {
		return []string{"a:1", "a:2"},
			nil
	}); f.Text != "a:1, a:2" || f.Warning != "" {
		t.Errorf("%+v", f)
	}
}
