package bootstrap

import (
	"net/netip"
	"runtime"
	"strings"
	"testing"
)

// TestNamedInterface picks by name, address and network, and says what there is when nothing fits.
func TestNamedInterface(t *testing.T) {
	addr := netip.MustParseAddr
	all := []Interface{
		{Name: "eth0", Addresses: []netip.Addr{addr("10.1.2.3"), addr("fd00::3")}},
		{Name: "ib0", Addresses: []netip.Addr{addr("192.168.0.7")}},
	}
	for network, want := range map[string]string{
		"ib0":            "ib0 [192.168.0.7]",
		"eth0":           "eth0 [10.1.2.3 fd00::3]",
		"10.0.0.0/8":     "eth0 [10.1.2.3]",
		"fd00::/16":      "eth0 [fd00::3]",
		"192.168.0.7":    "ib0 [192.168.0.7]",
		"192.168.0.8":    "no address of this host is in 192.168.0.8; there are eth0 [10.1.2.3 fd00::3], ib0 [192.168.0.7]",
		"172.16.0.0/12":  "no address of this host is in 172.16.0.0/12; there are eth0",
		"eth1":           `there is no interface "eth1" that is up and has an address; there are eth0`,
		"300.1.1.1/nine": `there is no interface "300.1.1.1/nine"`,
	} {
		i, err := namedInterface(all, network)
		got := names([]Interface{i})
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", network, got, want)
		}
		if err == nil && i.Why == "" {
			t.Errorf("%s: for no reason", network)
		}
	}
}

// TestChooseInterface always finds one, and never the loopback if there is another.
func TestChooseInterface(t *testing.T) {
	all, err := interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{"", "local", "tcp://127.0.0.1:7000", "tcp://192.0.2.1:7000", "tcp://nonsense"} {
		i, err := ChooseInterface("", store)
		if err != nil || len(i.Addresses) == 0 || i.Why == "" {
			t.Fatal(store, i, err)
		}
		if i.Addresses[0].IsLoopback() && len(all) > 0 && !all[0].Addresses[0].IsLoopback() {
			t.Errorf("%s: %+v is chosen of %s", store, i, names(all))
		}
	}
	if i, err := ChooseInterface("127.0.0.2", ""); runtime.GOOS == "linux" &&
		(err != nil || i.Addresses[0].String() != "127.0.0.2") {
		t.Errorf("%+v, %v", i, err) // every Linux has it, named or not
	}
	if _, err := ChooseInterface("nosuch0", ""); err == nil {
		t.Error("an interface is found that is not there")
	}
}
