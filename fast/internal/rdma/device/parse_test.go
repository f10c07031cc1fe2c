package device

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/verbs"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Options{
		"":                     {},
		"any":                  {},
		"any:2":                {Port: 2},
		"mlx5_0":               {Device: "mlx5_0"},
		"rxe0:2":               {Device: "rxe0", Port: 2},
		",gid=fe80::1":         {Address: netip.MustParseAddr("fe80::1")},
		":1,mtu=1024":          {Port: 1, MTU: 1024},
		"all":                  {All: true},
		"all:2,mtu=512":        {All: true, Port: 2, MTU: 512},
		"a,tc=104,sl=15":       {Device: "a", Traffic: 104, Service: 15},
		",gid=v1":              {GIDType: verbs.RoCEv1},
		",gid=v2,gid=10.0.0.7": {GIDType: verbs.RoCEv2, Address: netip.MustParseAddr("10.0.0.7")},
		",retry=6,timeout=10s": {Retries: 6, Timeout: 10 * time.Second},
		",pkey=65535":          {Partition: 65535},
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"a:0", "a:x", "a,mtu=1500", "a,mtu=8192", "a,gid=here", "a,tc=256", "a,sl=16",
		"a,colour=red", "a,retry=0",
		"a,retry=7", "a,timeout=0s", "a,timeout=-1s", "a,timeout=11s", "a,timeout=14", "a,pkey=65536", "a,gid=v3", "a,,",
		"a:1:2"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestParseList has rails with settings of their own.
func TestParseList(t *testing.T) {
	for text, want := range map[string][]Options{
		"":          {{}},
		"any":       {{}},
		"rxe0;rxe1": {{Device: "rxe0"}, {Device: "rxe1"}},
		"a:1; b:2,gid=fe80::1,sl=3 ": {{Device: "a", Port: 1}, {Device: "b", Port: 2, Address: netip.MustParseAddr("fe80::1"),
			Service: 3}},
	} {
		if got, err := ParseList(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"a;b:x", "a;b,mtu=1", strings.Repeat("a;", rdma.MostRails) + "a"} {
		if got, err := ParseList(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
